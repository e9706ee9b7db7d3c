#include "reconciler/model/ending.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "reconciler/model/effect.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

// By run strategy: a VM that starts its VMI again by itself, and one that is
// halted or none, lose it; the others are told to restart. Whether a call was
// sent.
bool Call(size_t index, const VirtualMachineInstance& vmi, v1::Reason reason,
          Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const VirtualMachine* vm =
      set.vm.has_value() ? &plan.snapshot().vms()[*set.vm] : nullptr;
  const bool restarts =
      vm != nullptr &&
      (vm->run_strategy == "RerunOnFailure" || vm->run_strategy == "Manual");
  v1::Effect effect;
  if (restarts) {
    if (vm->meta.deleting.has_value() || IsRestarting(*vm, vmi.meta.uid)) {
      return false;
    }
    effect = EffectOn(Kind::kVirtualMachine, vm->meta);
    effect.mutable_restart_vm()->set_reason(reason);
    effect.mutable_restart_vm()->set_vmi_uid(vmi.meta.uid);
  } else {
    effect = EffectOn(Kind::kVirtualMachineInstance, vmi.meta);
    effect.mutable_delete_vmi()->set_reason(reason);
  }
  plan.Add(index, std::move(effect));
  return true;
}

}  // namespace

void EndingValve::Count() {
  counted_ = true;
  const Snapshot& snapshot = plan_.snapshot();
  for (const auto& [key, row] : snapshot.vmis().by_name()) {
    const VirtualMachineInstance& vmi = snapshot.vmis()[row];
    if (vmi.meta.deleting.has_value() && !HasEnded(vmi)) {
      ending_[vmi.node_name].insert(vmi.meta.uid);
    }
  }
  for (size_t i = 0; i < plan_.size(); ++i) {
    const ClaimSet& set = plan_.set(i);
    if (!set.vmi.has_value()) continue;
    const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
    if (vmi.meta.deleting.has_value() || WasAskedToEnd(set, plan_)) {
      ending_[set.launcher.node].insert(vmi.meta.uid);
    }
  }
  for (const auto& [vmi, at] : snapshot.endings) {
    if (at <= plan_.now() - kEndingWindow) continue;
    recent_.insert(vmi);
    next_ = std::min(next_, at + kEndingWindow);
  }
}

bool EndingValve::Take(const std::string& node, const std::string& vmi_uid) {
  if (!counted_ && !Planted(Bug::kValveOfOnePass)) Count();
  // One whose memory was not written, or was taken over, counts already.
  if (!recent_.contains(vmi_uid) &&
      static_cast<int64_t>(recent_.size()) >= plan_.config().max_endings) {
    plan_.WakeAt(next_);
    return false;
  }
  absl::btree_set<std::string>& there = ending_[node];
  if (static_cast<int64_t>(there.size()) >=
      plan_.config().max_endings_per_node) {
    return false;
  }
  there.insert(vmi_uid);
  recent_.insert(vmi_uid);
  return true;
}

bool IsRestarting(const VirtualMachine& vm, const std::string& vmi_uid) {
  return std::any_of(vm.state_changes.begin(), vm.state_changes.end(),
                     [&](const auto& change) {
                       return change.first == "Stop" &&
                              change.second == vmi_uid;
                     });
}

bool WasAskedToEnd(const ClaimSet& set, const Plan& plan) {
  if (!set.vmi.has_value()) return false;
  const GpuClaimSet* memory = plan.Memory(set);
  return memory != nullptr &&
         memory->ended_vmi == plan.snapshot().vmis()[*set.vmi].meta.uid;
}

bool AwaitsEnd(const ClaimSet& set, const Plan& plan) {
  return !set.waits_at_gate() && WasAskedToEnd(set, plan);
}

void EndVmi(size_t index, const v1::ReasonDetail& why, EndingValve& valve,
            Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const VirtualMachineInstance& vmi = plan.snapshot().vmis()[*set.vmi];
  if (why.reason() != v1::REASON_UNSPECIFIED) {
    plan.state(index).verdict = Verdict{.reason = why.reason()};
  }
  const GpuClaimSet* memory = plan.Memory(set);
  if (vmi.meta.deleting.has_value() || plan.mass_loss() || memory == nullptr ||
      memory->meta.deleting.has_value() || memory->vmi_uid != vmi.meta.uid) {
    return;
  }
  if (!WasAskedToEnd(set, plan)) {
    if (!valve.Take(set.launcher.node, vmi.meta.uid)) return;
    v1::Effect effect = EffectOn(Kind::kGpuClaimSet, memory->meta);
    effect.mutable_write_claim_set()->set_ended_vmi(vmi.meta.uid);
    plan.Add(index, std::move(effect));
    plan.state(index).acted = true;
  }
  if (Call(index, vmi, why.reason(), plan)) plan.state(index).acted = true;
  if (Planted(Bug::kCallBeforeIntention)) SwapLastTwo(plan.effects());
}

}  // namespace gpubinder
