#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/victims.h"

namespace gpubinder {
namespace {

// Why the node does not keep the set, with the numbers where it has some.
std::optional<v1::ReasonDetail> WhyLeaves(size_t index, const ClaimSet& set,
                                          NameId node, const Victims& victims,
                                          Plan& plan) {
  const std::optional<v1::Reason> reason =
      WhyUnkept(set, node, PodRules::kCount, plan);
  auto victim = victims.find({index, node});
  // Where both hold the closed list has NodeGone first.
  if (victim != victims.end() && reason != v1::NODE_GONE) {
    return victim->second;
  }
  if (!reason.has_value()) return std::nullopt;
  v1::ReasonDetail why;
  why.set_reason(*reason);
  return why;
}

// A split set for which no node has room (an earlier step has tried): only the
// members that their own node does not keep go Lost.
void LoseUnkeptParts(size_t index, const Victims& victims, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  absl::btree_map<std::string, NameId> nodes;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kBound) continue;
    nodes[plan.snapshot().names.Text(plan.node(row))] = plan.node(row);
  }
  for (const auto& [name, node] : nodes) {
    const ClaimSet part = BoundOn(set, node, plan);
    const std::optional<v1::ReasonDetail> why =
        WhyLeaves(index, part, node, victims, plan);
    if (!why.has_value() || why->reason() == v1::NODE_CORDONED) continue;
    plan.LoseMembers(index, part.members, why->reason(), ReasonText(*why));
  }
}

void Move(size_t index, const Victims& victims, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.problems.empty()) return;
  const std::optional<NameId> stand = BoundStand(set, plan);
  if (!stand.has_value()) {
    LoseUnkeptParts(index, victims, plan);
    return;
  }
  const ClaimSet bound = BoundPart(set, plan);
  const std::optional<v1::ReasonDetail> why =
      WhyLeaves(index, bound, *stand, victims, plan);
  if (!why.has_value()) return;
  Choice choice =
      ChooseNode(bound, MakeDemand(bound, plan.snapshot(), plan.now()), plan);
  if (choice.node.has_value()) {
    plan.PlaceMembers(index, bound.members, *choice.node);
    return;
  }
  if (why->reason() == v1::NODE_CORDONED) return;
  plan.Lose(index, why->reason(), ReasonText(*why));
  plan.state(index).verdict =
      Verdict{.reason = why->reason(), .judged = std::move(choice.judged)};
}

// The step before found no node for it, and gathers it no more. Whether its
// one node keeps it was judged there but for the victims; a split set is judged
// here, as one without a launcher is.
void LoseUnkeptGated(size_t index, const Victims& victims, Plan& plan) {
  const std::optional<Verdict>& verdict = plan.state(index).verdict;
  if (!verdict.has_value() || verdict->reason != v1::NO_NODE_FITS) return;
  const std::optional<NameId> stand = BoundStand(plan.set(index), plan);
  if (!stand.has_value()) {
    LoseUnkeptParts(index, victims, plan);
    return;
  }
  auto victim = victims.find({index, *stand});
  if (victim == victims.end()) return;
  plan.Lose(index, v1::NODE_LOST_CAPACITY, ReasonText(victim->second));
}

// Why the VMI was asked to end, when its node keeps the set by now: no reason
// where a crash came before it was written.
v1::ReasonDetail WhyAsked(const GpuClaimSet& memory) {
  v1::ReasonDetail why;
  const v1::Reason said =
      ReasonByName(memory.reason).value_or(v1::REASON_UNSPECIFIED);
  if (said >= v1::NODE_GONE && said <= v1::NODE_UNAVAILABLE) {
    why.set_reason(said);
  }
  return why;
}

// A launcher that is pinned to a node on which it can never start, though all
// of its claims have been lost already (M5).
std::optional<v1::ReasonDetail> WhyNeverStarts(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const Snapshot& snapshot = plan.snapshot();
  const ClaimSet lost =
      Restricted(set, [&](Row row) { return plan.phase(row) == Phase::kLost; });
  if (lost.members.empty() ||
      !snapshot.pods()[*set.launcher.pod].node_name.empty()) {
    return std::nullopt;
  }
  const NameId node = *snapshot.names.Find(set.launcher.node);
  return WhyLeaves(index, lost, node, {}, plan);
}

// Its pod went before the VMI that was asked to end.
void Rest(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.problems.empty() || !set.start_problems.empty()) return;
  const v1::ReasonDetail why = WhyAsked(*plan.Memory(set));
  if (why.reason() == v1::REASON_UNSPECIFIED) return;
  plan.state(index).verdict = Verdict{.reason = why.reason()};
}

// Nothing moves until the VMI has ended.
void EndUnkept(size_t index, const Victims& victims, EndingValve& valve,
               Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.problems.empty()) return;
  const ClaimSet bound = BoundPart(set, plan);
  const std::optional<NameId> stand = BoundStand(set, plan);
  std::optional<v1::ReasonDetail> why;
  if (stand.has_value()) {
    // Beside its launcher's node it has yet to follow a migration (C6).
    if (plan.snapshot().names.Text(*stand) == set.launcher.node) {
      why = WhyLeaves(index, bound, *stand, victims, plan);
    }
  } else if (bound.members.empty()) {
    why = WhyNeverStarts(index, plan);
  }
  if (!why.has_value() && WasAskedToEnd(set, plan)) {
    why = WhyAsked(*plan.Memory(set));
  }
  if (why.has_value()) EndVmi(index, *why, valve, plan);
}

}  // namespace

// A set whose VMI has a gated launcher is gathered by the step before.
void MoveUnkeptSets(Plan& plan) {
  const Victims victims = ChooseVictims(plan);
  EndingValve valve(plan);
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!plan.IsOpen(i)) continue;
    switch (plan.set(i).launcher.state) {
      case LauncherState::kGated:
        LoseUnkeptGated(i, victims, plan);
        break;
      case LauncherState::kPinned:
        EndUnkept(i, victims, valve, plan);
        break;
      case LauncherState::kNone:
      case LauncherState::kLoose:
        if (AwaitsEnd(plan.set(i), plan)) {
          Rest(i, plan);
        } else {
          Move(i, victims, plan);
        }
        break;
    }
  }
}

}  // namespace gpubinder
