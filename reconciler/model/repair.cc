#include "reconciler/model/repair.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/memory.h"
#include "reconciler/model/over_budget.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/start_problems.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

struct Shape {
  int bound = 0, lost = 0;
  absl::btree_set<NameId> nodes;  // that hold members

  bool partly_lost() const { return bound > 0 && lost > 0; }
  bool split() const { return nodes.size() > 1; }
};

Shape ShapeOf(const ClaimSet& set, const Plan& plan) {
  Shape shape;
  for (const Row row : set.members) {
    if (plan.phase(row) == Phase::kLost) ++shape.lost;
    if (plan.phase(row) != Phase::kBound) continue;
    ++shape.bound;
    shape.nodes.insert(plan.node(row));
  }
  return shape;
}

bool IsBroken(const ClaimSet& set, const Plan& plan) {
  const Shape shape = ShapeOf(set, plan);
  return shape.partly_lost() || shape.split();
}

// Whether G will judge the set in this pass, so that it gathers it or not: a
// start that is stopped by something else judges no node. A start that only a
// budget stops is told here, since the repair is all that this pass does.
bool IsLeftToStart(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.waits_at_gate()) return false;
  const Snapshot& snapshot = plan.snapshot();
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  const Demand demand = MakeDemand(set, snapshot, plan.now());
  if (!vmi.claims.present || vmi.meta.deleting.has_value() ||
      ForeignGate(*demand.pod) != nullptr ||
      !StartProblems(set, demand, plan).empty()) {
    return false;
  }
  std::vector<v1::ReasonDetail> over = OverBudget(set, plan);
  if (over.empty()) return true;
  Verdict verdict = Misconfigured(std::move(over));
  verdict.judged = ChooseNode(set, demand, plan).judged;
  plan.state(index).verdict = std::move(verdict);
  return false;
}

void LoseAll(size_t index, Choice choice, Plan& plan) {
  Verdict verdict{.reason = v1::NO_NODE_FITS,
                  .judged = std::move(choice.judged)};
  plan.Lose(index, v1::NO_NODE_FITS, MessageOf(verdict));
  if (plan.state(index).verdict.has_value()) return;  // a budget comes first
  plan.state(index).verdict = std::move(verdict);
}

// To the node its launcher is pinned to, or all of it goes Lost: nothing else
// can be done for a pod that is pinned. While a node is registered anew the
// set waits.
void RepairPinned(size_t index, const ClaimSet& set, const Demand& demand,
                  Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const bool exists = snapshot.nodes().Find("", set.launcher.node) != nullptr;
  if (exists) {
    const NameId node = *snapshot.names.Find(set.launcher.node);
    if (HasRoom(node, demand, plan.books())) {
      plan.PlaceMembers(index, set.members, node);
      return;
    }
  }
  auto gone = snapshot.gone_since.find(set.launcher.node);
  if (!exists && gone != snapshot.gone_since.end() &&
      plan.now() < gone->second + plan.config().node_gone_grace) {
    plan.WakeAt(gone->second + plan.config().node_gone_grace);
    return;
  }
  LoseAll(index, ChooseNode(set, demand, plan), plan);
}

}  // namespace

void RepairSet(size_t index, Plan& plan) {
  const ClaimSet& whole = plan.set(index);
  if (!IsBroken(whole, plan) || !whole.problems.empty()) return;
  // Pending members make no set partly Lost and are left alone here.
  const ClaimSet set = Restricted(
      whole, [&](Row row) { return plan.phase(row) != Phase::kPending; });
  const Demand demand = MakeDemand(set, plan.snapshot(), plan.now());
  if (whole.launcher.state == LauncherState::kPinned) {
    RepairPinned(index, set, demand, plan);
    return;
  }
  Choice choice = ChooseNode(set, demand, plan);
  if (choice.node.has_value()) {
    plan.PlaceMembers(index, set.members, *choice.node);
    return;
  }
  // A set that never stood whole keeps what is Bound; a split one is left as
  // it is, never Lost for being split.
  const bool goes_lost =
      ShapeOf(whole, plan).partly_lost() || Planted(Bug::kSplitGoesLost);
  if (goes_lost && StoodWhole(whole, plan)) {
    LoseAll(index, std::move(choice), plan);
  }
}

void RepairSets(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (plan.IsOpen(i) && IsBroken(set, plan) && !AwaitsEnd(set, plan) &&
        !IsLeftToStart(i, plan)) {
      RepairSet(i, plan);
    }
  }
}

}  // namespace gpubinder
