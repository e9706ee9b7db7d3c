// L1 and L2: what is Lost comes back, and what waits while its VM runs is
// adopted.

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

void RebindSet(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> lost = InPhase(world, set, "Lost");
  if (lost.empty() || set.gated != nullptr || IsToEnd(world, set) ||
      bench.touched.contains(index)) {
    return;
  }
  const std::vector<int> bound = InPhase(world, set, "Bound");
  if (!bound.empty()) {
    // The repair found no place; its nodes may be looked at once more here.
    if (set.pinned == nullptr && set.loose == nullptr && !set.stuck) {
      bench.Look({.set = index, .claims = Both(bound, lost)});
    }
    return;
  }
  if (set.loose != nullptr) return FollowLoose(bench, index, lost);
  if (set.stuck) return;
  if (set.pinned != nullptr) {
    const Node* node = FindNode(world, set.pinned_node);
    if (set.vmi->meta.deleting || node == nullptr) return;
    const Ask ask{.set = index, .claims = lost, .pod = set.pinned};
    const Keeps keeps = KeepsSet(world, set, lost, set.pinned_node);
    // M5 would end it for them at once.
    if (!OfPinned(world, set, set.pinned_node, true).empty()) return;
    std::vector<Why> lack = LackOfUnits(world, ask, *node);
    bench.LookFrom(ask, *node);
    if (keeps == Keeps::kUnsure) {
      for (const int claim : lost) bench.Follow(claim);
    } else if (keeps == Keeps::kYes && lack.empty()) {
      for (const int claim : lost) {
        bench.ExpectBind(claim, set.pinned_node, "L1");
      }
    }
    return;
  }
  const Choice choice = bench.Look({.set = index, .claims = lost});
  if (choice.node == nullptr) return;
  if (bench.IsRefused(set) && !bench.Does(lost[0])) {
    return;
  }
  for (const int claim : lost) {
    bench.ExpectBind(claim, choice.node->meta.name, "L1");
  }
}

void AdoptSet(Bench& bench, int index, const std::vector<int>& pending) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const Node* node = FindNode(world, set.pinned->node_name);
  if (node == nullptr) return;
  const Ask ask{.set = index,
                .claims = Both(InPhase(world, set, "Bound"), pending),
                .pod = set.pinned};
  const std::vector<Why> lack = LackOfUnits(world, ask, *node);
  bench.LookFrom(ask, *node);
  if (!lack.empty()) {
    // Lost members keep the reason of their loss, which comes first.
    if (InPhase(world, set, "Lost").empty()) {
      bench.said[index] = {.reasons = {v1::NO_NODE_FITS}};
    }
    return;
  }
  for (const int claim : pending) {
    bench.ExpectBind(claim, node->meta.name, "L2");
  }
}

// Why its VMI is ended, or what its Pending claims lack, is told until then.
void TellOfEnding(Bench& bench, int index, const std::vector<Why>& over) {
  const SetState& set = bench.world.sets[index];
  auto said = bench.said.find(index);
  if (said != bench.said.end() && !said->second.reasons.empty()) {
    for (const Why& why : set.problems) {
      said->second.reasons.insert(why.reason);
    }
    if (!over.empty()) said->second.reasons.insert(v1::OVER_BUDGET);
  }
  const Node* node = FindNode(bench.world, set.pinned_node);
  if (set.stuck || node == nullptr) return;
  bench.LookFrom({.set = index, .claims = set.members, .pod = set.pinned},
                 *node);
}

// L2, which comes with the Lost sets.
void AdoptPending(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> pending = InPhase(world, set, "Pending");
  if (pending.empty() || set.pinned == nullptr) return;
  const bool may_wait = bench.touched.contains(index) || bench.IsRefused(set);
  const std::vector<Why> over =
      OverBudget(world, {.set = index, .claims = set.members});
  const auto said = bench.said.find(index);
  const bool ends = said != bench.said.end() && !said->second.reasons.empty();
  if (IsToEnd(world, set) || (ends && !bench.Does(pending[0]))) {
    TellOfEnding(bench, index, over);
    return;
  }
  if (!over.empty()) bench.said[index].over = over;
  if (may_wait && !bench.Does(pending[0])) {
    const Node* node = FindNode(world, set.pinned_node);
    if (set.stuck || node == nullptr) return;
    return bench.LookFrom(
        {.set = index, .claims = set.members, .pod = set.pinned}, *node);
  }
  if (set.pinned->node_name.empty() || !set.order_problems.empty()) {
    // Whether one that is only pinned is adopted is not said, nor whether a
    // class that takes no orders takes those that run already.
    const Node* node = FindNode(world, set.pinned_node);
    if (node != nullptr) {
      bench.LookFrom({.set = index, .claims = set.members, .pod = set.pinned},
                     *node);
    }
    for (const int claim : pending) bench.Follow(claim);
    return;
  }
  if (!set.problems.empty()) {
    bench.said[index].details = true;
    return;
  }
  if (!over.empty()) {
    const Node* node = FindNode(world, set.pinned_node);
    bench.said[index].details = true;
    if (node == nullptr) return;
    return bench.LookFrom(
        {.set = index, .claims = set.members, .pod = set.pinned}, *node);
  }
  AdoptSet(bench, index, pending);
}

}  // namespace

void JudgeLost(Bench& bench) {
  ForEachSet(bench, [](Bench& judged, int index) {
    RebindSet(judged, index);
    AdoptPending(judged, index);
  });
}

}  // namespace gpubinder::naive
