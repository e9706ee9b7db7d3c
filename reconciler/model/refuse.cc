#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/rejection.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

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
// this order. `key` is the set's. Whether anything was to be written.
bool Record(const std::string& key, const GpuClaimSet& memory,
            const std::vector<Row>& members, const RejectedNode& entry,
            Plan& plan) {
  const size_t before = plan.effects().size();
  auto write = [&](Kind kind, const ObjectMeta& meta,
                   const std::vector<RejectedNode>& there) {
    if (HasRejectionOf(there, entry.pod_uid)) return;
    v1::Effect effect = EffectOn(kind, meta);
    *effect.mutable_record_rejection() = RejectionWrite(there, entry, plan);
    effect.set_set_key(key);
    plan.AddAlone(std::move(effect));
  };
  write(Kind::kGpuClaimSet, memory.meta, memory.rejected_nodes);
  for (const Row row : members) {
    write(Kind::kGpuClaim, plan.claim(row).meta,
          plan.claim(row).rejected_nodes);
  }
  return plan.effects().size() > before;
}

// What the set's memory says of the pod already: a pod is judged once.
const RejectedNode* FindEntry(const GpuClaimSet& memory,
                              absl::string_view pod_uid) {
  for (const RejectedNode& entry : memory.rejected_nodes) {
    if (entry.pod_uid == pod_uid) return &entry;
  }
  return nullptr;
}

// What brings the VM back (R4). `pod` is the one its scheduler refused; null
// after a refusal by the kubelet, when the VMI has failed already.
enum class Call { kNone, kPending, kSent };

Call AddCall(const std::string& key, const VirtualMachineInstance& vmi,
             const Pod* pod, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  if (vmi.meta.deleting.has_value()) return Call::kPending;
  const std::optional<Row> owner = OwningVm(vmi, snapshot);
  const VirtualMachine* vm =
      owner.has_value() ? &snapshot.vms()[*owner] : nullptr;
  // A replica set or a pool makes it again; a VM that has gone does not.
  const bool is_remade =
      std::any_of(vmi.meta.owners.begin(), vmi.meta.owners.end(),
                  [](const OwnerReference& owner) {
                    return owner.controller && owner.kind != "VirtualMachine";
                  });
  const std::string strategy = vm == nullptr ? "" : vm->run_strategy;
  const bool by_pod = strategy == "Always" || strategy == "RerunOnFailure" ||
                      (vm == nullptr && is_remade);
  v1::Effect effect;
  if (by_pod && pod != nullptr) {
    effect = EffectOn(Kind::kPod, pod->meta);
    effect.mutable_delete_pod()->set_reason(v1::REJECTED_BY_NODE);
  } else if (strategy == "Once") {
    effect = EffectOn(Kind::kVirtualMachineInstance, vmi.meta);
    effect.mutable_delete_vmi()->set_reason(v1::REJECTED_BY_NODE);
  } else if (strategy == "Manual") {
    if (IsRestarting(*vm, vmi.meta.uid)) return Call::kPending;
    effect = EffectOn(Kind::kVirtualMachine, vm->meta);
    effect.mutable_restart_vm()->set_reason(v1::REJECTED_BY_NODE);
    effect.mutable_restart_vm()->set_vmi_uid(vmi.meta.uid);
  } else {
    return Call::kNone;
  }
  effect.set_set_key(key);
  plan.AddAlone(std::move(effect));
  return Call::kSent;
}

// Of a pod that we pinned, so that it has terms.
bool HasEmptyTerm(const Pod& pod) {
  return std::any_of(pod.required->terms.begin(), pod.required->terms.end(),
                     [](const SelectorTerm& term) { return term.empty(); });
}

// What the scheduler says of a pinned pod that stays where it is: quoted.
void QuoteScheduler(size_t index, const Pod& pod, absl::string_view remark,
                    Plan& plan) {
  for (const Condition& condition : pod.conditions) {
    if (condition.type != "PodScheduled" || condition.status != "False" ||
        condition.reason != "Unschedulable") {
      continue;
    }
    v1::ReasonDetail detail;
    detail.set_reason(v1::NOT_SCHEDULED);
    absl::string_view said = condition.message;
    said = absl::StripSuffix(said.substr(0, said.find(". ")), ".");
    detail.set_text(absl::StrCat(said, remark));
    plan.state(index).verdict =
        Verdict{.reason = v1::NOT_SCHEDULED, .details = {std::move(detail)}};
  }
}

// The state of the node under which a scheduler's "no" is its refusal (R1):
// it is Ready, not cordoned and serves the set.
bool ServesSet(const std::string& name, const ClaimSet& set, const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr || !IsReady(*node) || IsCordoned(*node) ||
      !IsKubeVirtReady(*node, snapshot) || node->meta.deleting.has_value()) {
    return false;
  }
  std::vector<v1::ReasonDetail> reasons;
  const Demand demand = MakeDemand(set, snapshot, plan.now());
  for (const GpuClass* found : demand.classes) {
    JudgeClass(*node, *found, reasons);
  }
  const NameId id = *snapshot.names.Find(name);
  return reasons.empty() &&
         std::all_of(demand.needs.begin(), demand.needs.end(),
                     [&](const Demand::Need& need) {
                       return plan.books().Use(id, need.resource).served;
                     });
}

// The refusal of a pod that stands long enough, or nothing: then what the
// scheduler says is quoted, or its time awaited.
std::optional<RejectedNode> JudgePinned(size_t index, const Pod& pod,
                                        const GpuClaimSet& memory, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (const RejectedNode* entry = FindEntry(memory, pod.meta.uid)) {
    return *entry;
  }
  // Whether the node serves what cannot be read is not known.
  if (!set.problems.empty()) return std::nullopt;
  if (WaitsOutCordon(set, plan)) return std::nullopt;
  auto since = plan.snapshot().refused_since.find(pod.meta.uid);
  if (since == plan.snapshot().refused_since.end() || HasEmptyTerm(pod) ||
      !ServesSet(set.launcher.node, set, plan)) {
    QuoteScheduler(index, pod, "", plan);
    return std::nullopt;
  }
  const absl::Time stands = since->second + plan.config().refusal_grace;
  if (plan.now() < stands) {
    plan.WakeAt(stands);
    return std::nullopt;
  }
  std::vector<std::string> resources;
  for (const auto& [name, units] : ExtendedRequests(pod).units) {
    resources.push_back(name);
  }
  return Entry(set.launcher.node, pod.meta.uid, std::move(resources),
               "Unschedulable", plan);
}

void SettleScheduler(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.vmi.has_value() || !set.launcher.pinned_by_us) return;
  const Snapshot& snapshot = plan.snapshot();
  const Pod& pod = snapshot.pods()[*set.launcher.pod];
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  if (!pod.node_name.empty() || pod.meta.deleting.has_value() ||
      vmi.meta.deleting.has_value()) {
    return;
  }
  const GpuClaimSet* memory = plan.Memory(set);
  if (memory == nullptr || memory->meta.deleting.has_value()) return;
  const std::optional<RejectedNode> entry =
      JudgePinned(index, pod, *memory, plan);
  if (!entry.has_value()) return;
  // The entry is the intention: while the pod is there the call is repeated.
  if (Planted(Bug::kDeleteBeforeRejection)) {
    AddCall(set.key(), vmi, &pod, plan);
  }
  const bool wrote = Record(set.key(), *memory, set.members, *entry, plan);
  const Call call = AddCall(set.key(), vmi, &pod, plan);
  if (call == Call::kNone) {
    QuoteScheduler(index, pod,
                   "; nothing would start the VM again, so its pod waits",
                   plan);
  }
  plan.state(index).acted = wrote || call == Call::kSent;
}

// The claims attached to or owned by the VMI of that uid, ended or not.
std::vector<Row> MembersOf(const KubeletRefusal& refusal, const Plan& plan) {
  std::vector<Row> members;
  plan.snapshot().claims().ForEachIn(refusal.name_space, [&](Row row) {
    const GpuClaim& claim = plan.claim(row);
    const std::string* owner = TemplateOwner(claim);
    const bool belongs = owner != nullptr
                             ? *owner == refusal.vmi_uid
                             : claim.attached_to.has_value() &&
                                   claim.attached_to->uid == refusal.vmi_uid;
    if (belongs && !claim.meta.deleting.has_value() &&
        !plan.IsWritten(claim.meta.uid)) {
      members.push_back(row);
    }
  });
  return members;
}

// A refusal by the kubelet, kept by the fold until it is written and answered
// for (R2). The pod is gone by now, and perhaps its VMI; then the memory
// alone is told.
void SettleKubelet(const KubeletRefusal& refusal, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const GpuClaimSet* memory =
      snapshot.claim_sets().Find(refusal.name_space, refusal.vmi_name);
  if (memory == nullptr || memory->meta.deleting.has_value() ||
      plan.IsWritten(memory->meta.uid)) {
    return;
  }
  const std::string key = KeyOfVmSet(refusal.name_space, refusal.vmi_name);
  std::optional<size_t> set;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan.set(i).key() == key) set = i;
  }
  if (set.has_value() && !plan.IsOpen(*set)) return;
  // Another owner's: kept until the set has taken it over.
  if (set.has_value() && plan.Memory(plan.set(*set)) == nullptr) return;
  const RejectedNode* there = FindEntry(*memory, refusal.pod_uid);
  // A pod is judged once: an entry that has lapsed is not written anew, nor to
  // a member that it has not reached before.
  const bool lapsed =
      there == nullptr ? refusal.recorded : there->until <= plan.now();
  const bool wrote =
      !lapsed &&
      Record(key, *memory, MembersOf(refusal, plan),
             there != nullptr ? *there
                              : Entry(refusal.node_name, refusal.pod_uid,
                                      refusal.resources, refusal.reason, plan),
             plan);
  const std::optional<Row> vmi = snapshot.vmis().FindUid(refusal.vmi_uid);
  const Call call = vmi.has_value()
                        ? AddCall(key, snapshot.vmis()[*vmi], nullptr, plan)
                        : Call::kNone;
  // The next VMI's launcher is not placed before the rejection was seen.
  if (set.has_value()) {
    plan.state(*set).acted = wrote || call == Call::kSent;
  }
}

}  // namespace

void SettleRefusals(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan.IsOpen(i)) SettleScheduler(i, plan);
  }
  for (const auto& [uid, refusal] : plan.snapshot().kubelet_refusals) {
    SettleKubelet(refusal, plan);
  }
}

}  // namespace gpubinder
