#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "k8s/object_decoders.h"
#include "proto/utf8.h"
#include "reconciler/model/pod_request.h"

namespace gpubinder {

namespace {

constexpr int64_t kMostUnits = 64;

void ReadRejections(const FieldReader& status, std::vector<RejectedNode>* out) {
  status.ReadEach("rejectedNodes", out,
                  [&](const FieldReader& item, RejectedNode& rejected) {
                    item.Read("nodeName", &rejected.node_name);
                    item.Read("nodeUID", &rejected.node_uid);
                    item.Read("podUID", &rejected.pod_uid);
                    item.Read("resources", &rejected.resources);
                    item.Read("reason", &rejected.reason);
                    item.Read("fingerprint", &rejected.fingerprint);
                    item.Read("rejectedAt", &rejected.rejected_at);
                    item.Read("until", &rejected.until);
                  });
}

void ReadDecision(const FieldReader& status, std::optional<DecisionKey>* out) {
  const FieldReader from = status.Object("decision");
  if (!from.present()) return;
  DecisionKey key;
  from.Read("journal", &key.journal);
  from.Read("epoch", &key.epoch);
  from.Read("sequence", &key.sequence);
  *out = std::move(key);
}

}  // namespace

void ReadFields(const FieldReader& root, GpuClass* gpu_class) {
  const FieldReader spec = root.Object("spec");
  spec.Read("resourceName", &gpu_class->resource_name);
  if (!IsExtendedResource(gpu_class->resource_name)) {
    spec.AddProblem(
        "resourceName",
        absl::StrCat("found \"", Utf8Within(gpu_class->resource_name, 64),
                     "\", want the name of an extended resource, "
                     "as in nvidia.com/H100"));
  }
  spec.ReadChoice("type", {"Passthrough", "VGPU"}, &gpu_class->type);
  spec.ReadWithin("maxCount", 1, kMostUnits, &gpu_class->max_count);
  spec.Read("nodeSelector", &gpu_class->node_selector);
  ReadTolerations(spec, &gpu_class->tolerations);
  spec.ReadChoice("onCordon", {"Move", "Stay"}, &gpu_class->on_cordon);
  ReadConditions(root.Object("status"), &gpu_class->conditions);
}

void ReadFields(const FieldReader& root, GpuClaim* claim) {
  const FieldReader spec = root.Object("spec");
  spec.Read("className", &claim->class_name);
  if (claim->class_name.empty()) {
    spec.AddProblem("className", "found no name, want that of a GPUClass");
  }
  spec.ReadWithin("count", 1, kMostUnits, &claim->units);
  const FieldReader status = root.Object("status");
  status.ReadChoice("phase", {"Pending", "Bound", "Lost"}, &claim->phase);
  status.Read("nodeName", &claim->node_name);
  status.Read("resourceName", &claim->resource_name);
  status.Read("boundAt", &claim->bound_at);
  ReadRejections(status, &claim->rejected_nodes);
  const FieldReader attached = status.Object("attachedTo");
  if (attached.present()) {
    Attachment attachment;
    attached.Read("name", &attachment.name);
    attached.Read("uid", &attachment.uid);
    attached.Read("since", &attachment.since);
    claim->attached_to = std::move(attachment);
  }
  ReadConditions(status, &claim->conditions);
  ReadDecision(status, &claim->decision);
}

void ReadFields(const FieldReader& root, GpuClaimSet* set) {
  const FieldReader spec = root.Object("spec");
  spec.Read("claims", &set->claims);
  const FieldReader status = root.Object("status");
  status.Read("nodeName", &set->node_name);
  status.Read("vmiUID", &set->vmi_uid);
  status.Read("podUID", &set->pod_uid);
  status.Read("reason", &set->reason);
  status.Read("message", &set->message);
  status.Read("endedVMI", &set->ended_vmi);
  status.Read("since", &set->since);
  status.Read("transitions", &set->transitions);
  ReadRejections(status, &set->rejected_nodes);
  status.ReadEach("summary", &set->summary,
                  [&](const FieldReader& item, SetSummaryLine& line) {
                    item.Read("reason", &line.reason);
                    item.Read("nodes", &line.nodes);
                    item.Read("example", &line.example);
                    item.Read("resource", &line.resource);
                    item.Read("key", &line.key);
                  });
  ReadDecision(status, &set->decision);
}

}  // namespace gpubinder
