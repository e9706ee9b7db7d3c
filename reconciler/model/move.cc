#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

// The one node that holds all Bound members.
std::optional<NameId> Stand(const ClaimSet& set, const Plan& plan) {
  std::optional<NameId> node;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kBound) continue;
    if (node.has_value() && *node != plan.node(row)) return std::nullopt;
    node = plan.node(row);
  }
  return node;
}

// A split set for which no node has room (the repair has tried): only the
// members that their own node does not keep go Lost.
void LoseUnkeptParts(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  absl::btree_map<std::string, NameId> nodes;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kBound) continue;
    nodes[plan.snapshot().names.Text(plan.node(row))] = plan.node(row);
  }
  for (const auto& [name, node] : nodes) {
    const NameId here = node;
    const ClaimSet part = Restricted(set, [&](Row row) {
      return plan.phase(row) == Phase::kBound && plan.node(row) == here;
    });
    const std::optional<v1::Reason> why = WhyNotKept(part, here, plan);
    if (!why.has_value() || *why == v1::NODE_CORDONED) continue;
    plan.LoseMembers(index, part.members, *why, std::string(ReasonName(*why)));
  }
}

void Move(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  if (!set.problems.empty()) return;
  const std::optional<NameId> stand = Stand(set, plan);
  if (!stand.has_value()) {
    LoseUnkeptParts(index, plan);
    return;
  }
  const std::optional<v1::Reason> why = WhyNotKept(set, *stand, plan);
  if (!why.has_value()) return;
  const ClaimSet bound = Restricted(
      set, [&](Row row) { return plan.phase(row) == Phase::kBound; });
  Choice choice = ChooseNode(
      bound, MakeDemand(bound, plan.snapshot(), plan.books(), plan.now()),
      plan);
  if (choice.node.has_value()) {
    plan.PlaceMembers(index, bound.members, *choice.node);
    return;
  }
  if (*why == v1::NODE_CORDONED) return;
  Verdict verdict{.reason = *why, .groups = std::move(choice.groups)};
  plan.Lose(index, *why, MessageOf(verdict));
  plan.state(index).verdict = std::move(verdict);
}

}  // namespace

// A set whose VMI has a gated launcher is gathered by the step before, and a
// pinned one stays until its VMI has ended.
void MoveUnkeptSets(Plan& plan) {
  for (size_t i = 0; i < plan.sets().size(); ++i) {
    const LauncherState launcher = plan.set(i).launcher.state;
    if (plan.IsOpen(i) && launcher != LauncherState::kGated &&
        launcher != LauncherState::kPinned) {
      Move(i, plan);
    }
  }
}

}  // namespace gpubinder
