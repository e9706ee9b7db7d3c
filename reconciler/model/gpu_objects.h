// The kinds of our own API group, and the claims annotation that VMs carry.

#ifndef RECONCILER_MODEL_GPU_OBJECTS_H_
#define RECONCILER_MODEL_GPU_OBJECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

struct GpuClass {
  ObjectMeta meta;
  std::string resource_name;
  std::string type = "Passthrough";  // or VGPU
  int64_t max_count = 8;
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  std::string on_cordon = "Move";  // or Stay
  std::vector<Condition> conditions;
  bool operator==(const GpuClass&) const = default;
};

struct RejectedNode {
  std::string node_name, node_uid, pod_uid;
  std::vector<std::string> resources;
  std::string reason, fingerprint;
  absl::Time rejected_at = absl::UnixEpoch(), until = absl::UnixEpoch();
  bool operator==(const RejectedNode&) const = default;
};

struct Attachment {
  std::string name, uid;  // of the VMI; the webhook leaves uid empty
  absl::Time since = absl::UnixEpoch();
  bool operator==(const Attachment&) const = default;
};

struct GpuClaim {
  ObjectMeta meta;
  std::string class_name;
  int64_t units = 1;  // spec.count
  std::string phase;  // empty reads as Pending
  std::string node_name, resource_name;
  std::optional<absl::Time> bound_at;
  std::vector<RejectedNode> rejected_nodes;
  std::optional<Attachment> attached_to;
  std::vector<Condition> conditions;
  std::optional<DecisionKey> decision;
  bool operator==(const GpuClaim&) const = default;
};

struct SetSummaryLine {
  std::string reason, example, resource, key;
  int64_t nodes = 0;
  bool operator==(const SetSummaryLine&) const = default;
};

struct GpuClaimSet {
  ObjectMeta meta;
  std::vector<std::string> claims;
  std::string node_name, vmi_uid, pod_uid;
  std::string reason, message, ended_vmi;
  absl::Time since = absl::UnixEpoch();
  int64_t transitions = 0;
  std::vector<RejectedNode> rejected_nodes;
  std::vector<SetSummaryLine> summary;
  std::optional<DecisionKey> decision;
  bool operator==(const GpuClaimSet&) const = default;
};

// One entry of the claims annotation: a claim by name, or a template.
struct ClaimEntry {
  std::string claim_name;  // empty for a template
  std::string class_name;  // of a template
  int64_t units = 1;
  bool operator==(const ClaimEntry&) const = default;
};
// The annotation, parsed by the codec. `error` names the entry and says what
// is wrong; entries are then empty.
struct ClaimsAnnotation {
  bool present = false;
  std::vector<ClaimEntry> entries;
  std::string error;
  bool operator==(const ClaimsAnnotation&) const = default;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_GPU_OBJECTS_H_
