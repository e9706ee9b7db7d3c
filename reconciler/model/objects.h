// The fields of Kubernetes objects that the binder reads, as plain structs.
//
// A struct holds what the object says, not what it means: quantities stay
// text, labels stay labels. The codec (k8s/object_codec.h) fills them from
// JSON. A field of a wrong type is left at its default and named in
// `problems`, which makes the object malformed: it keeps what it holds and is
// given nothing new.

#ifndef RECONCILER_MODEL_OBJECTS_H_
#define RECONCILER_MODEL_OBJECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList allocatable;
  std::vector<Condition> conditions;
};

struct GpuClass {
  ObjectMeta meta;
  std::string resource_name;
  std::string type = "Passthrough";  // or VGPU
  int64_t max_count = 8;
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  std::string on_cordon = "Move";  // or Stay
  std::vector<Condition> conditions;
};

struct RejectedNode {
  std::string node_name, node_uid, pod_uid;
  std::vector<std::string> resources;
  std::string reason, fingerprint;
  absl::Time rejected_at = absl::UnixEpoch(), until = absl::UnixEpoch();
};

struct Attachment {
  std::string name, uid;  // of the VMI; the webhook leaves uid empty
  absl::Time since = absl::UnixEpoch();
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
};

struct SetSummaryLine {
  std::string reason, example, resource, key;
  int64_t nodes = 0;
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
};

// One entry of the claims annotation: a claim by name, or a template.
struct ClaimEntry {
  std::string claim_name;  // empty for a template
  std::string class_name;  // of a template
  int64_t units = 1;
};
// The annotation, parsed by the codec. `error` names the entry and says what
// is wrong; entries are then empty.
struct ClaimsAnnotation {
  bool present = false;
  std::vector<ClaimEntry> entries;
  std::string error;
};

struct VirtualMachine {
  ObjectMeta meta;
  ClaimsAnnotation claims;   // of spec.template.metadata
  std::string run_strategy;  // `running` is translated; empty: Halted
  std::vector<std::string> volume_claims;  // PVC and DataVolume names
  // status.stateChangeRequests, for RestartVM's intention.
  std::vector<std::pair<std::string, std::string>> state_changes;
};

struct VirtualMachineInstance {
  ObjectMeta meta;
  ClaimsAnnotation claims;
  std::string phase, node_name;
  absl::btree_map<std::string, std::string> active_pods;  // pod uid to node
  std::vector<std::string> volume_claims;   // PVC and DataVolume names
  std::vector<std::string> hotplug_claims;  // those of them hotplugged
  std::vector<Condition> conditions;
  // What the VMI webhook looks at.
  struct Device {
    std::string name, device_name;
  };
  std::vector<Device> gpus, host_devices;
  ResourceList resource_requests, resource_limits;  // domain.resources
};

struct Container {
  std::string name;
  ResourceList requests;
  bool restart_always = false;  // an init container that is a sidecar
};

struct Pod {
  ObjectMeta meta;
  std::string node_name;  // spec
  std::vector<std::string> gates;
  StringMap node_selector;
  bool has_affinity = false, has_node_affinity = false;
  std::optional<NodeSelector> required;  // node affinity
  std::vector<Toleration> tolerations;
  std::vector<Container> containers, init_containers;
  ResourceList overhead, pod_requests;  // spec.overhead, spec.resources
  std::vector<std::string> volume_claims;
  std::string phase, reason, nominated_node;  // status
  std::vector<Condition> conditions;
};

struct Namespace {
  ObjectMeta meta;
  bool terminating = false;
};

struct ResourceQuota {
  ObjectMeta meta;
  ResourceList hard;
};

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::string volume_name;
  bool bind_completed = false;
};

struct PersistentVolume {
  ObjectMeta meta;
  std::optional<NodeSelector> required;  // nodeAffinity
  std::string claim_namespace, claim_name, claim_uid;
};

struct SchedulingClass {
  ObjectMeta meta;
  StringMap node_selector;
  std::optional<NodeSelector> required;
};

// All modelled kinds, in the order of Kind.
using Object =
    std::variant<Node, GpuClass, GpuClaim, GpuClaimSet, VirtualMachine,
                 VirtualMachineInstance, Pod, Namespace, ResourceQuota,
                 PersistentVolumeClaim, PersistentVolume, SchedulingClass>;
static_assert(std::variant_size_v<Object> == kKinds);

inline Kind KindOf(const Object& object) {
  return static_cast<Kind>(object.index());
}
inline const ObjectMeta& MetaOf(const Object& object) {
  return std::visit([](const auto& o) -> const ObjectMeta& { return o.meta; },
                    object);
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_OBJECTS_H_
