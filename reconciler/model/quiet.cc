#include "reconciler/model/quiet.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "proto/check.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/taint.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

// Held by the set's VMI, or by none when the set has none: no attachment is to
// be written, and none is awaited.
bool IsAttachedRightly(Row row, const ClaimSet& set, const Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  if (TemplateOwner(claim) != nullptr) return true;
  if (!claim.attached_to.has_value()) return !set.vmi.has_value();
  return !claim.attached_to->uid.empty() &&
         HoldingVmi(claim, plan.snapshot()).has_value();
}

// Without a VMI, or with one that runs where the set stands and was not asked
// to end.
bool RunsOrRests(const ClaimSet& set, NameId node, const Plan& plan) {
  if (!set.vmi.has_value()) return true;
  const Snapshot& snapshot = plan.snapshot();
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  return set.launcher.state == LauncherState::kPinned &&
         !snapshot.pods()[*set.launcher.pod].node_name.empty() &&
         set.launcher.node == snapshot.names.Text(node) &&
         !vmi.meta.deleting.has_value() && !WasAskedToEnd(set, plan);
}

bool IsQuiet(size_t index, NameId node, const Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const SetState& state = plan.state(index);
  if (!plan.config().enabled || state.frozen || state.acted || state.restless ||
      state.verdict.has_value()) {
    return false;
  }
  return set.leaving.empty() && set.missing.empty() && set.problems.empty() &&
         set.start_problems.empty() && set.order_problems.empty() &&
         RunsOrRests(set, node, plan) &&
         std::all_of(set.members.begin(), set.members.end(), [&](Row row) {
           return IsAttachedRightly(row, set, plan);
         });
}

bool IsKept(NameId class_name, NameId name, Launched launched,
            const Snapshot& snapshot) {
  const Node* node = snapshot.nodes().Find("", snapshot.names.Text(name));
  const GpuClass* found =
      snapshot.classes().Find("", snapshot.names.Text(class_name));
  BINDER_CHECK(found != nullptr);  // else a problem of the set, no longer quiet
  if (node == nullptr || node->meta.deleting.has_value() || !IsReady(*node) ||
      !IsKubeVirtReady(*node, snapshot) || IsCordoned(*node)) {
    return false;
  }
  const bool runs = launched == Launched::kYes;
  return FirstUntolerated(node->taints, found->tolerations,
                          runs ? TaintScope::kRunning
                               : TaintScope::kScheduling) == nullptr &&
         (runs || MatchesLabels(found->node_selector, node->meta.labels));
}

// The keeper of sets with members of that class, made when there is none yet.
uint32_t KeeperOf(NameId class_name, Launched launched, PassIndex& index) {
  std::vector<Keeper>& keepers = index.keepers;
  const auto found =
      std::find_if(keepers.begin(), keepers.end(), [&](const Keeper& keeper) {
        return keeper.class_name == class_name && keeper.launched == launched;
      });
  const auto place = static_cast<uint32_t>(found - keepers.begin());
  if (found == keepers.end()) {
    keepers.push_back({.class_name = class_name, .launched = launched});
  }
  return place;
}

bool Keeps(uint32_t place, NameId node, Snapshot& snapshot) {
  Keeper& keeper = snapshot.index.keepers[place];
  if (keeper.answers.size() <= node) {
    keeper.answers.resize(snapshot.names.size(), Kept::kUnknown);
  }
  Kept& answer = keeper.answers[node];
  if (answer == Kept::kUnknown) {
    answer = IsKept(keeper.class_name, node, keeper.launched, snapshot)
                 ? Kept::kYes
                 : Kept::kLook;
  }
  return answer == Kept::kYes;
}

Launched LaunchedOf(const ClaimSet& set) {
  return set.vmi.has_value() ? Launched::kYes : Launched::kNo;
}

// Of a set that stands whole, so that it has members.
uint32_t KeeperOf(const ClaimSet& set, Snapshot& snapshot) {
  const std::vector<NameId>& class_name = snapshot.claim_columns.class_name;
  const NameId first = class_name[set.members.front()];
  const bool one =
      std::all_of(set.members.begin(), set.members.end(),
                  [&](Row row) { return class_name[row] == first; });
  return one ? KeeperOf(first, LaunchedOf(set), snapshot.index)
             : Footing::kSeveral;
}

// Its members are Bound there: a claim that changes makes another entry.
bool AllKeep(const ClaimSet& set, NameId node, Snapshot& snapshot) {
  const Launched launched = LaunchedOf(set);
  return std::all_of(set.members.begin(), set.members.end(), [&](Row row) {
    const NameId class_name = snapshot.claim_columns.class_name[row];
    return Keeps(KeeperOf(class_name, launched, snapshot.index), node,
                 snapshot);
  });
}

bool IsShort(NameId node, const Snapshot& snapshot) {
  if (snapshot.shortages.empty()) return false;
  const std::string& name = snapshot.names.Text(node);
  auto shortage = snapshot.shortages.lower_bound({name, ""});
  return shortage != snapshot.shortages.end() && shortage->first.first == name;
}

}  // namespace

void NoteQuiet(size_t index, Said said, const Plan& plan, Snapshot& snapshot) {
  const Slot slot = plan.slot(index);
  Footing& footing = snapshot.index.footings[slot];
  const ClaimSet& set = snapshot.index.sets[slot].set;
  const std::optional<NameId> node = StandsWhole(set, plan);
  footing.keeper = Footing::kNotQuiet;
  if (said == Said::kNews || !node.has_value() ||
      !IsQuiet(index, *node, plan)) {
    return;
  }
  footing.node = *node;
  footing.keeper = KeeperOf(set, snapshot);
}

bool HasSettled(Slot slot, Snapshot& snapshot) {
  const Footing& footing = snapshot.index.footings[slot];
  if (footing.keeper == Footing::kNotQuiet || IsShort(footing.node, snapshot)) {
    return false;
  }
  if (footing.keeper != Footing::kSeveral) {
    return Keeps(footing.keeper, footing.node, snapshot);
  }
  return AllKeep(snapshot.index.sets[slot].set, footing.node, snapshot);
}

void ForgetKept(NameId node, PassIndex& index) {
  for (Keeper& keeper : index.keepers) {
    if (node < keeper.answers.size()) keeper.answers[node] = Kept::kUnknown;
  }
}

}  // namespace gpubinder
