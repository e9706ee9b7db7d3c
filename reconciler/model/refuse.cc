#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/rejection.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

RejectedNode Entry(const std::string& node_name, const std::string& pod_uid,
                   std::vector<std::string> resources, std::string reason,
                   const Plan& plan) {
  RejectedNode entry{.node_name = node_name,
                     .pod_uid = pod_uid,
                     .resources = std::move(resources),
                     .reason = std::move(reason),
                     .rejected_at = plan.now(),
                     .until = plan.now() + plan.config().rejection_ttl};
  const Node* node = plan.snapshot().nodes().Find("", node_name);
  if (node != nullptr) {
    entry.node_uid = node->meta.uid;
    entry.fingerprint = NodeFingerprint(*node, entry.resources);
  }
  return entry;
}

v1::RecordRejection RejectionWrite(const std::vector<RejectedNode>& there,
                                   const RejectedNode& entry,
                                   const Plan& plan) {
  v1::RecordRejection write;
  *write.mutable_entry() = RejectionProto(entry);
  for (const RejectedNode& listed :
       WithRejection(there, entry, plan.snapshot(), plan.now())) {
    *write.add_list() = RejectionProto(listed);
  }
  return write;
}

// The rejection to the set's memory and to every member that lacks it, in
// this order.
void Record(size_t index, const GpuClaimSet& memory, const RejectedNode& entry,
            Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!HasRejectionOf(memory.rejected_nodes, entry.pod_uid)) {
    v1::Effect effect = EffectOn(Kind::kGpuClaimSet, memory.meta);
    *effect.mutable_record_rejection() =
        RejectionWrite(memory.rejected_nodes, entry, plan);
    plan.Add(index, std::move(effect));
  }
  for (const Row row : set.members) {
    const GpuClaim& claim = plan.claim(row);
    if (HasRejectionOf(claim.rejected_nodes, entry.pod_uid)) continue;
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    *effect.mutable_record_rejection() =
        RejectionWrite(claim.rejected_nodes, entry, plan);
    plan.Add(index, std::move(effect));
  }
}

// What brings the VM back (R4), after a refusal by the scheduler or by the
// kubelet: after the latter the VMI has failed already.
enum class RefusedBy { kScheduler, kKubelet };

void AddCall(size_t index, RefusedBy by, v1::Reason reason, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const Snapshot& snapshot = plan.snapshot();
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  if (vmi.meta.deleting.has_value()) return;
  const bool has_controller =
      std::any_of(vmi.meta.owners.begin(), vmi.meta.owners.end(),
                  [](const OwnerReference& owner) { return owner.controller; });
  const std::string strategy =
      set.vm.has_value() ? snapshot.vms()[*set.vm].run_strategy : "";
  const bool by_pod = strategy == "Always" || strategy == "RerunOnFailure" ||
                      (!set.vm.has_value() && has_controller);
  if (by_pod && by == RefusedBy::kScheduler) {
    v1::Effect effect =
        EffectOn(Kind::kPod, snapshot.pods()[*set.launcher.pod].meta);
    effect.mutable_delete_pod()->set_reason(reason);
    plan.Add(index, std::move(effect));
  } else if (strategy == "Once") {
    v1::Effect effect = EffectOn(Kind::kVirtualMachineInstance, vmi.meta);
    effect.mutable_delete_vmi()->set_reason(reason);
    plan.Add(index, std::move(effect));
  } else if (strategy == "Manual") {
    const VirtualMachine& vm = snapshot.vms()[*set.vm];
    v1::Effect effect = EffectOn(Kind::kVirtualMachine, vm.meta);
    effect.mutable_restart_vm()->set_reason(reason);
    effect.mutable_restart_vm()->set_vmi_uid(vmi.meta.uid);
    plan.Add(index, std::move(effect));
  }
}

bool HasEmptyTerm(const Pod& pod) {
  return pod.required.has_value() &&
         std::any_of(pod.required->terms.begin(), pod.required->terms.end(),
                     [](const SelectorTerm& term) { return term.empty(); });
}

// What the scheduler says of a pinned pod that no refusal is: quoted.
void QuoteScheduler(size_t index, const Pod& pod, Plan& plan) {
  for (const Condition& condition : pod.conditions) {
    if (condition.type != "PodScheduled" || condition.status != "False" ||
        condition.reason != "Unschedulable") {
      continue;
    }
    v1::ReasonDetail detail;
    detail.set_reason(v1::NOT_SCHEDULED);
    detail.set_text(condition.message.substr(0, condition.message.find(". ")));
    plan.state(index).verdict =
        Verdict{.reason = v1::NOT_SCHEDULED, .details = {std::move(detail)}};
  }
}

// The state of the node under which a scheduler's "no" is its refusal (R1).
bool NodeStandsByIts(const std::string& name, const ClaimSet& set,
                     const Plan& plan) {
  const Node* node = plan.snapshot().nodes().Find("", name);
  if (node == nullptr || !IsReady(*node) || IsCordoned(*node) ||
      node->meta.deleting.has_value()) {
    return false;
  }
  std::vector<v1::ReasonDetail> reasons;
  const Demand demand =
      MakeDemand(set, plan.snapshot(), plan.books(), plan.now());
  for (const GpuClass* found : demand.classes) {
    JudgeClass(*node, *found, reasons);
  }
  return reasons.empty();
}

void SettleScheduler(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.vmi.has_value() || !set.launcher.pinned_by_us) return;
  const Snapshot& snapshot = plan.snapshot();
  const Pod& pod = snapshot.pods()[*set.launcher.pod];
  if (!pod.node_name.empty() || pod.meta.deleting.has_value() ||
      snapshot.vmis()[*set.vmi].meta.deleting.has_value()) {
    return;
  }
  const GpuClaimSet* memory = plan.Memory(set);
  if (memory == nullptr || memory->meta.deleting.has_value()) return;
  RejectedNode entry;
  for (const RejectedNode& listed : memory->rejected_nodes) {
    if (listed.pod_uid == pod.meta.uid) entry = listed;
  }
  if (entry.pod_uid.empty()) {
    auto since = snapshot.refused_since.find(pod.meta.uid);
    const bool refused = since != snapshot.refused_since.end() &&
                         !HasEmptyTerm(pod) &&
                         memory->reason != "PlacedOnCordonedNode" &&
                         NodeStandsByIts(set.launcher.node, set, plan);
    if (!refused) return QuoteScheduler(index, pod, plan);
    const absl::Time stands = since->second + plan.config().refusal_grace;
    if (plan.now() < stands) return plan.WakeAt(stands);
    std::vector<std::string> resources;
    for (const auto& [name, units] : ExtendedRequests(pod).units) {
      resources.push_back(name);
    }
    entry = Entry(set.launcher.node, pod.meta.uid, std::move(resources),
                  "Unschedulable", plan);
  }
  // The entry is the intention: while the pod is there the call is repeated.
  Record(index, *memory, entry, plan);
  AddCall(index, RefusedBy::kScheduler, v1::REJECTED_BY_NODE, plan);
  plan.state(index).acted = true;
}

// A refusal by the kubelet, kept by the fold until it is written (R2). The
// pod is gone by now, and perhaps its VMI; then the memory alone is told.
void SettleKubelet(const KubeletRefusal& refusal, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const GpuClaimSet* memory =
      snapshot.claim_sets().Find(refusal.name_space, refusal.vmi_name);
  if (!refusal.listed || memory == nullptr ||
      memory->meta.deleting.has_value()) {
    return;
  }
  const RejectedNode entry = Entry(refusal.node_name, refusal.pod_uid,
                                   refusal.resources, refusal.reason, plan);
  for (size_t i = 0; i < plan.sets().size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!set.of_vm || set.name_space != refusal.name_space ||
        set.name != refusal.vmi_name) {
      continue;
    }
    if (!plan.IsOpen(i)) return;
    Record(i, *memory, entry, plan);
    if (set.vmi.has_value() &&
        snapshot.vmis()[*set.vmi].meta.uid == refusal.vmi_uid) {
      AddCall(i, RefusedBy::kKubelet, v1::REJECTED_BY_NODE, plan);
    }
    plan.state(i).acted = true;
    return;
  }
  if (HasRejectionOf(memory->rejected_nodes, refusal.pod_uid)) return;
  v1::Effect effect = EffectOn(Kind::kGpuClaimSet, memory->meta);
  *effect.mutable_record_rejection() =
      RejectionWrite(memory->rejected_nodes, entry, plan);
  effect.set_set_key(KeyOfVmSet(refusal.name_space, refusal.vmi_name));
  plan.AddAlone(std::move(effect));
}

}  // namespace

void SettleRefusals(Plan& plan) {
  for (size_t i = 0; i < plan.sets().size(); ++i) {
    if (plan.IsOpen(i)) SettleScheduler(i, plan);
  }
  for (const auto& [uid, refusal] : plan.snapshot().kubelet_refusals) {
    SettleKubelet(refusal, plan);
  }
}

}  // namespace gpubinder
