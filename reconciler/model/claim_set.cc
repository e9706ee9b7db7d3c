#include "reconciler/model/claim_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/check.h"
#include "reconciler/model/names.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/sha256.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/tenant.h"

namespace gpubinder {
namespace {

v1::ReasonDetail Problem(v1::Reason reason) {
  v1::ReasonDetail detail;
  detail.set_reason(reason);
  return detail;
}

// Gathers the sets; one use, one call of Build.
class SetBuilder {
 public:
  SetBuilder(absl::string_view name_space, const Snapshot& snapshot)
      : name_space_(name_space),
        snapshot_(snapshot),
        claims_(snapshot.claims()) {}

  ClaimSets Build() {
    IndexClaims();
    for (const Row vmi : LiveVmisInOrder()) AddLive(vmi);
    for (const Row vm : VmsByAge()) AddStopped(vm);
    ClaimSets result;
    claims_.ForEachIn(name_space_, [&](Row row) {
      if (taken_.contains(row)) return;
      if (TemplateOwner(claims_[row]) != nullptr) {
        result.loose.push_back(row);
      } else {
        AddOrder(row);
      }
    });
    std::sort(sets_.begin(), sets_.end(), ComesBefore);
    result.sets = std::move(sets_);
    return result;
  }

 private:
  // Claims by the VMI that holds or owns them; names in order.
  void IndexClaims() {
    claims_.ForEachIn(name_space_, [&](Row row) {
      const GpuClaim& claim = claims_[row];
      if (const std::string* owner = TemplateOwner(claim)) {
        const std::optional<Row> vmi = snapshot_.vmis().FindUid(*owner);
        if (vmi.has_value() &&
            snapshot_.vmis()[*vmi].meta.name_space == claim.meta.name_space) {
          of_vmi_[*vmi].push_back(row);
        }
      } else if (std::optional<Row> vmi = HoldingVmi(claim, snapshot_)) {
        of_vmi_[*vmi].push_back(row);
      }
    });
  }

  // Of two VMIs that name one free claim the one with the older launcher gets
  // it, then by name (rule A1).
  std::vector<Row> LiveVmisInOrder() {
    std::vector<std::tuple<absl::Time, std::string, Row>> order;
    snapshot_.vmis().ForEachIn(name_space_, [&](Row row) {
      const VirtualMachineInstance& vmi = snapshot_.vmis()[row];
      if (HasEnded(vmi)) return;
      if (!vmi.claims.present && !of_vmi_.contains(row)) return;
      Launcher launcher = FindLauncher(vmi, snapshot_);
      const absl::Time age = launcher.pod.has_value()
                                 ? snapshot_.pods()[*launcher.pod].meta.created
                                 : absl::InfiniteFuture();
      launchers_[row] = std::move(launcher);
      order.emplace_back(age, vmi.meta.name, row);
    });
    std::sort(order.begin(), order.end());
    std::vector<Row> rows;
    for (const auto& [age, name, row] : order) rows.push_back(row);
    return rows;
  }

  std::vector<Row> VmsByAge() const {
    std::vector<std::tuple<absl::Time, std::string, Row>> order;
    snapshot_.vms().ForEachIn(name_space_, [&](Row row) {
      const VirtualMachine& vm = snapshot_.vms()[row];
      if (!vm.claims.present) return;
      const VirtualMachineInstance* vmi =
          snapshot_.vmis().Find(vm.meta.name_space, vm.meta.name);
      if (vmi != nullptr && !HasEnded(*vmi)) return;
      order.emplace_back(vm.meta.created, vm.meta.name, row);
    });
    std::sort(order.begin(), order.end());
    std::vector<Row> rows;
    for (const auto& [age, name, row] : order) rows.push_back(row);
    return rows;
  }

  void AddLive(Row row) {
    const VirtualMachineInstance& vmi = snapshot_.vmis()[row];
    ClaimSet set{.name_space = vmi.meta.name_space,
                 .name = vmi.meta.name,
                 .of_vm = true,
                 .vm = OwningVm(vmi, snapshot_),
                 .vmi = row,
                 .launcher = launchers_[row]};
    if (!vmi.meta.problems.empty()) {
      set.problems.push_back(
          MalformedDetail(Kind::kVirtualMachineInstance, vmi.meta));
    }
    // Once the launcher is pinned the annotation is not read again: anyone
    // may edit it.
    if (set.launcher.state != LauncherState::kPinned) AddNamed(vmi, set);
    auto found = of_vmi_.find(row);
    if (found != of_vmi_.end()) {
      for (const Row claim : found->second) Join(claim, set);
    }
    if (set.waits_at_gate()) {
      set.age = snapshot_.pods()[*set.launcher.pod].meta.created;
    } else if (set.members.empty()) {
      set.age = vmi.meta.created;
    }
    Finish(std::move(set));
  }

  void AddNamed(const VirtualMachineInstance& vmi, ClaimSet& set) {
    if (!vmi.claims.error.empty()) {
      v1::ReasonDetail problem = Problem(v1::INVALID_CLAIMS);
      problem.set_text(vmi.claims.error);
      set.start_problems.push_back(std::move(problem));
    }
    for (size_t i = 0; i < vmi.claims.entries.size(); ++i) {
      const ClaimEntry& entry = vmi.claims.entries[i];
      if (entry.claim_name.empty()) {
        AddTemplate(entry, static_cast<int>(i), vmi, set);
      } else {
        AddHeld(entry.claim_name, set);
      }
    }
  }

  void AddTemplate(const ClaimEntry& entry, int index,
                   const VirtualMachineInstance& vmi, ClaimSet& set) {
    const std::string name =
        TemplateClaimName(vmi.meta.name, index, vmi.meta.uid);
    const std::optional<Row> row = claims_.FindRow(set.name_space, name);
    if (!row.has_value()) {
      set.missing.push_back(
          {.name = name, .class_name = entry.class_name, .units = entry.units});
      return;
    }
    const std::string* owner = TemplateOwner(claims_[*row]);
    if (owner == nullptr || *owner != vmi.meta.uid) {
      set.start_problems.push_back(Problem(v1::NAME_TAKEN));
      set.start_problems.back().set_claim(name);
      return;
    }
    Join(*row, set);
  }

  void AddHeld(const std::string& name, ClaimSet& set) {
    const std::optional<Row> row = claims_.FindRow(set.name_space, name);
    if (!row.has_value()) {
      set.start_problems.push_back(Problem(v1::CLAIM_NOT_FOUND));
      set.start_problems.back().set_claim(name);
      return;
    }
    const std::optional<Row> holder = HoldingVmi(claims_[*row], snapshot_);
    const bool elsewhere = (holder.has_value() && holder != set.vmi) ||
                           taken_.contains(*row) ||
                           TemplateOwner(claims_[*row]) != nullptr ||
                           AwaitsAnother(claims_[*row], set.name);
    if (elsewhere) {
      set.start_problems.push_back(Problem(v1::CLAIM_ATTACHED_ELSEWHERE));
      set.start_problems.back().set_claim(name);
      return;
    }
    Join(*row, set);
  }

  // A VM that is stopped: the unattached held claims that it names.
  void AddStopped(Row row) {
    const VirtualMachine& vm = snapshot_.vms()[row];
    ClaimSet set{.name_space = vm.meta.name_space,
                 .name = vm.meta.name,
                 .of_vm = true,
                 .vm = row};
    for (const ClaimEntry& entry : vm.claims.entries) {
      if (entry.claim_name.empty()) continue;
      const std::optional<Row> claim =
          claims_.FindRow(set.name_space, entry.claim_name);
      if (!claim.has_value() || taken_.contains(*claim)) continue;
      const GpuClaim& held = claims_[*claim];
      // What a live VMI holds is taken already.
      if (TemplateOwner(held) != nullptr || AwaitsAnother(held, vm.meta.name)) {
        continue;
      }
      Join(*claim, set);
    }
    if (set.members.empty() && set.leaving.empty()) return;
    Finish(std::move(set));
  }

  // Attached by name, without a uid, to a VMI of another name that has not
  // appeared yet.
  bool AwaitsAnother(const GpuClaim& claim, absl::string_view name) const {
    return claim.attached_to.has_value() && claim.attached_to->uid.empty() &&
           claim.attached_to->name != name;
  }

  void AddOrder(Row row) {
    const GpuClaim& claim = claims_[row];
    ClaimSet set{.name_space = claim.meta.name_space, .name = claim.meta.name};
    Join(row, set);
    Finish(std::move(set));
  }

  void Join(Row row, ClaimSet& set) {
    if (!taken_.insert(row).second) return;
    const GpuClaim& claim = claims_[row];
    if (claim.meta.deleting.has_value()) {
      set.leaving.push_back(row);
    } else {
      set.members.push_back(row);
      set.age = std::min(set.age, claim.meta.created);
    }
  }

  void Finish(ClaimSet set) {
    CheckMembers(set);
    sets_.push_back(std::move(set));
  }

  void CheckMembers(ClaimSet& set) {
    for (const Row row : set.leaving) {
      if (!set.waits_at_gate()) continue;
      set.start_problems.push_back(Problem(v1::CLAIM_BEING_DELETED));
      set.start_problems.back().set_claim(claims_[row].meta.name);
    }
    for (const Row row : set.members) {
      const GpuClaim& claim = claims_[row];
      // A claim that holds nothing stops nothing that others hold.
      std::vector<v1::ReasonDetail>& where =
          snapshot_.claim_columns.phase[row] == Phase::kPending
              ? set.start_problems
              : set.problems;
      if (!claim.meta.problems.empty()) {
        where.push_back(MalformedDetail(Kind::kGpuClaim, claim.meta));
        continue;
      }
      CheckClass(claim.class_name, claim.units, claim.meta.name, set, where);
    }
    for (const MissingTemplate& missing : set.missing) {
      CheckClass(missing.class_name, missing.units, missing.name, set,
                 set.start_problems);
    }
  }

  // `where`: what a class stops that is not there or cannot be read.
  void CheckClass(const std::string& class_name, int64_t units,
                  const std::string& claim, ClaimSet& set,
                  std::vector<v1::ReasonDetail>& where) {
    const GpuClass* found = snapshot_.classes().Find("", class_name);
    auto say = [&](v1::Reason reason, std::vector<v1::ReasonDetail>& list) {
      v1::ReasonDetail detail = Problem(reason);
      detail.set_class_name(class_name);
      detail.set_claim(claim);
      list.push_back(std::move(detail));
      return &list.back();
    };
    if (found == nullptr) {
      say(v1::CLASS_NOT_FOUND, where);
      return;
    }
    if (!found->meta.problems.empty()) {
      where.push_back(MalformedDetail(Kind::kGpuClass, found->meta));
      return;
    }
    if (found->meta.deleting.has_value()) {
      say(v1::CLASS_BEING_DELETED, set.order_problems);
    }
    if (units > found->max_count) {
      v1::ReasonDetail* detail =
          say(v1::COUNT_ABOVE_MAXIMUM, set.order_problems);
      detail->set_wanted(units);
      detail->set_limit(found->max_count);
    }
    if (found->type == "VGPU" && !IsEntitledToVgpu(set.name_space, snapshot_)) {
      say(v1::NOT_ENTITLED, set.order_problems);
    }
  }

  const std::string name_space_;
  const Snapshot& snapshot_;
  const Table<GpuClaim>& claims_;
  std::vector<ClaimSet> sets_;
  absl::btree_set<Row> taken_;  // by a set
  absl::btree_map<Row, std::vector<Row>> of_vmi_;
  absl::btree_map<Row, Launcher> launchers_;
};

}  // namespace

std::string ClaimSet::key() const {
  return of_vm ? KeyOfVmSet(name_space, name)
               : absl::StrCat(name_space, "/claim:", name);
}

std::string KeyOfVmSet(absl::string_view name_space, absl::string_view name) {
  return absl::StrCat(name_space, "/", name);
}

bool ComesBefore(const ClaimSet& a, const ClaimSet& b) {
  if (Planted(Bug::kTieByArrival)) return a.age < b.age;
  if (Planted(Bug::kHashOrderedLoop)) return Sha256(a.key()) < Sha256(b.key());
  return std::tie(a.age, a.name_space, a.name, a.of_vm) <
         std::tie(b.age, b.name_space, b.name, b.of_vm);
}

ClaimSets BuildClaimSets(absl::string_view name_space,
                         const Snapshot& snapshot) {
  return SetBuilder(name_space, snapshot).Build();
}

std::optional<Row> HoldingVmi(const GpuClaim& claim, const Snapshot& snapshot) {
  if (!claim.attached_to.has_value()) return std::nullopt;
  const Attachment& held = *claim.attached_to;
  const std::optional<Row> row =
      snapshot.vmis().FindRow(claim.meta.name_space, held.name);
  if (!row.has_value()) return std::nullopt;
  const VirtualMachineInstance& vmi = snapshot.vmis()[*row];
  if (HasEnded(vmi)) return std::nullopt;
  if (!held.uid.empty() && held.uid != vmi.meta.uid) return std::nullopt;
  return row;
}

std::optional<Row> OwningVm(const VirtualMachineInstance& vmi,
                            const Snapshot& snapshot) {
  const Table<VirtualMachine>& vms = snapshot.vms();
  const ObjectMeta& meta = vmi.meta;
  if (meta.owners.empty()) return vms.FindRow(meta.name_space, meta.name);
  for (const OwnerReference& owner : meta.owners) {
    const std::optional<Row> row = vms.FindRow(meta.name_space, owner.name);
    if (owner.kind == "VirtualMachine" && row.has_value() &&
        vms[*row].meta.uid == owner.uid) {
      return row;
    }
  }
  return std::nullopt;
}

const std::string* TemplateOwner(const GpuClaim& claim) {
  // A tenant may write labels and owners, but no status.
  if (claim.attached_to.has_value() ||
      !claim.meta.labels.contains(kTemplateClaimLabel)) {
    return nullptr;
  }
  for (const OwnerReference& owner : claim.meta.owners) {
    if (owner.kind == "VirtualMachineInstance") return &owner.uid;
  }
  return nullptr;
}

v1::ReasonDetail MalformedDetail(Kind kind, const ObjectMeta& meta) {
  v1::ReasonDetail detail = Problem(v1::MALFORMED_OBJECT);
  detail.set_object(
      meta.name_space.empty()
          ? absl::StrCat(KindName(kind), " ", meta.name)
          : absl::StrCat(KindName(kind), " ", meta.name_space, "/", meta.name));
  BINDER_CHECK(!meta.problems.empty());
  detail.set_field(meta.problems[0].field);
  detail.set_text(meta.problems[0].message);
  return detail;
}

}  // namespace gpubinder
