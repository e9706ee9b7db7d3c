#include "reconciler/model/memory.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/effect.h"
#include "reconciler/model/names.h"
#include "reconciler/model/own_memory.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

// By whom the memory is owned: the VM, or the VMI where no VM is.
v1::OwnerReference OwnerOf(const ClaimSet& set, const Snapshot& snapshot) {
  const ObjectMeta& meta = set.vm.has_value() ? snapshot.vms()[*set.vm].meta
                                              : snapshot.vmis()[*set.vmi].meta;
  v1::OwnerReference owner;
  owner.set_api_version("kubevirt.io/v1");
  owner.set_kind(set.vm.has_value() ? "VirtualMachine"
                                    : "VirtualMachineInstance");
  owner.set_name(meta.name);
  owner.set_uid(meta.uid);
  return owner;
}

// A set of a VM has a VM that names claims, or a VMI.
bool NamesClaims(const ClaimSet& set, const Snapshot& snapshot) {
  return (set.vm.has_value() && snapshot.vms()[*set.vm].claims.present) ||
         snapshot.vmis()[*set.vmi].claims.present;
}

std::vector<std::string> MemberNames(const ClaimSet& set, const Plan& plan) {
  std::vector<std::string> names;
  for (const Row row : set.members) names.push_back(plan.claim(row).meta.name);
  for (const MissingTemplate& missing : set.missing) {
    names.push_back(missing.name);
  }
  return names;
}

bool MeansTheSame(const std::vector<SetSummaryLine>& there,
                  const std::vector<v1::SummaryLine>& wanted) {
  return std::equal(there.begin(), there.end(), wanted.begin(), wanted.end(),
                    [](const SetSummaryLine& a, const v1::SummaryLine& b) {
                      return a.reason == ReasonName(b.reason()) &&
                             a.resource == b.resource() && a.key == b.key();
                    });
}

// One Warning per change to a reason other than success; the transition's
// number is in its name, so a repeat after a crash is AlreadyExists.
void Warn(size_t index, const Verdict& verdict, int64_t transition,
          Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.vmi.has_value() || verdict.reason == v1::PLACED) return;
  const ObjectMeta& vmi = plan.snapshot().vmis()[*set.vmi].meta;
  v1::Effect effect = EffectOn(Kind::kVirtualMachineInstance, vmi);
  v1::EmitWarning& warning = *effect.mutable_emit_warning();
  warning.set_name(WarningName(vmi.uid, transition, verdict.reason));
  warning.set_reason(verdict.reason);
  warning.set_note(MessageOf(verdict));
  warning.set_time_unix_seconds(absl::ToUnixSeconds(plan.now()));
  plan.Add(index, std::move(effect));
}

// The part of the write that says where the set stands and why.
class MemoryWrite {
 public:
  MemoryWrite(const GpuClaimSet& there, size_t index, const Verdict& verdict,
              Plan& plan)
      : there_(there), index_(index), verdict_(verdict), plan_(plan) {}

  // Whether anything is to be written.
  bool Fill(v1::WriteClaimSet& write) {
    FillMembers(write);
    FillPlace(write);
    FillVerdict(write);
    return differs_;
  }

 private:
  const ClaimSet& set() const { return plan_.set(index_); }
  const std::string& VmiUid() const {
    return plan_.snapshot().vmis()[*set().vmi].meta.uid;
  }

  void FillMembers(v1::WriteClaimSet& write) {
    // Once the launcher is pinned the annotation is not read again, and what
    // was written for this VMI stays.
    if (set().launcher.state == LauncherState::kPinned &&
        there_.vmi_uid == VmiUid()) {
      return;
    }
    const std::vector<std::string> names = MemberNames(set(), plan_);
    if (names == there_.claims) return;
    write.set_set_claims(true);
    for (const std::string& name : names) write.add_claims(name);
    differs_ = true;
  }

  void FillPlace(v1::WriteClaimSet& write) {
    const std::optional<NameId> node = StandsWhole(set(), plan_);
    const std::string name =
        node.has_value() ? plan_.snapshot().names.Text(*node) : "";
    if (name != there_.node_name) {
      write.set_node_name(name);
      differs_ = true;
    }
    if (!set().vmi.has_value()) return;
    if (VmiUid() != there_.vmi_uid) {
      write.set_vmi_uid(VmiUid());
      differs_ = true;
    }
    if (!set().launcher.pod.has_value()) return;
    const std::string& pod =
        plan_.snapshot().pods()[*set().launcher.pod].meta.uid;
    if (pod != there_.pod_uid) {
      write.set_pod_uid(pod);
      differs_ = true;
    }
  }

  void FillVerdict(v1::WriteClaimSet& write) {
    const bool new_vmi = write.has_vmi_uid();
    const bool changed = there_.reason != ReasonName(verdict_.reason) ||
                         (new_vmi && verdict_.reason != v1::PLACED);
    const std::vector<v1::SummaryLine> summary = Summarize(verdict_);
    // A set that was placed elsewhere since says where, for the same reason.
    const bool moved =
        write.has_node_name() && verdict_.node != there_.node_name;
    const bool same = !changed && MeansTheSame(there_.summary, summary);
    if (same && Planted(Bug::kWarningEachPass)) {
      Warn(index_, verdict_, there_.transitions, plan_);
    }
    if (same && !moved) return;
    differs_ = true;
    write.set_message(MessageOf(verdict_));
    if (same) return;
    write.set_set_summary(true);
    for (const v1::SummaryLine& line : summary) *write.add_summary() = line;
    if (!changed) return;
    Warn(index_, verdict_, there_.transitions + 1, plan_);
    if (Planted(Bug::kWarningTwice)) {
      Warn(index_, verdict_, there_.transitions + 2, plan_);
    }
    write.set_reason(verdict_.reason);
    write.set_transitions(there_.transitions + 1);
    write.set_since_unix_seconds(absl::ToUnixSeconds(plan_.now()));
  }

  const GpuClaimSet& there_;
  const size_t index_;
  const Verdict& verdict_;
  Plan& plan_;
  bool differs_ = false;
};

}  // namespace

void RememberVerdict(size_t index, const Verdict& verdict, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const Snapshot& snapshot = plan.snapshot();
  if (!set.of_vm || !NamesClaims(set, snapshot)) return;
  const GpuClaimSet* memory =
      snapshot.claim_sets().Find(set.name_space, set.name);
  // A write to it names the set, which is frozen meanwhile.
  if (memory != nullptr && memory->meta.deleting.has_value()) return;
  if (memory == nullptr && snapshot.IsTerminating(set.name_space)) return;
  v1::Effect effect = memory != nullptr
                          ? EffectOn(Kind::kGpuClaimSet, memory->meta)
                          : EffectCreating(KindName(Kind::kGpuClaimSet),
                                           set.name_space, set.name);
  v1::WriteClaimSet& write = *effect.mutable_write_claim_set();
  const v1::OwnerReference owner = OwnerOf(set, snapshot);
  const bool owned = memory != nullptr && IsOwnedBy(*memory, owner.uid());
  if (!owned) *write.mutable_owner() = owner;
  // A VM of that name made anew: what its predecessor left does not count.
  write.set_take_over(memory != nullptr && plan.Memory(set) == nullptr);
  const GpuClaimSet fresh;
  const bool starts_anew = memory == nullptr || write.take_over();
  const bool differs =
      MemoryWrite(starts_anew ? fresh : *memory, index, verdict, plan)
          .Fill(write);
  if (differs || !owned) plan.Add(index, std::move(effect));
  if (Planted(Bug::kStatusBeforeWarning)) SwapLastTwo(plan.effects());
}

bool StoodWhole(const ClaimSet& set, const Plan& plan) {
  const GpuClaimSet* memory = plan.Memory(set);
  return memory != nullptr && !memory->node_name.empty();
}

}  // namespace gpubinder
