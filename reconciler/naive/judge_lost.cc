// L1 and L2: what is Lost comes back, and what waits while its VM runs is
// adopted.

#include <algorithm>

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
  if (set.stuck || (set.vmi != nullptr && set.vmi->meta.deleting)) return;
  if (set.pinned != nullptr) {
    const Node* node = FindNode(world, set.pinned_node);
    if (node == nullptr) return;
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
  // What the node does not keep would have the VMI ended at once.
  Keeps keeps = KeepsSet(world, set, ask.claims, node->meta.name);
  if (!OfPinned(world, set, node->meta.name, true).empty()) keeps = Keeps::kNo;
  if (keeps == Keeps::kUnsure) {
    for (const int claim : pending) bench.Follow(claim);
    return;
  }
  if (!lack.empty() || keeps == Keeps::kNo) {
    // Lost members keep the reason of their loss, which comes first.
    if (InPhase(world, set, "Lost").empty() && !bench.said[index].details) {
      bench.said[index] = {.reasons = {v1::NO_NODE_FITS}};
    }
    return;
  }
  for (const int claim : pending) {
    bench.ExpectBind(claim, node->meta.name, "L2");
  }
}

// C8: those of the waiting claims that the pod asks for, beside what it has
// claims for already. Which of several is not said: what the pass adopts counts
// first.
std::vector<int> AskedFor(const Bench& bench, const SetState& set,
                          std::vector<int> pending) {
  const World& world = bench.world;
  std::map<std::string, int64_t> taken;
  for (const int claim : set.members) {
    const ClaimState& state = world.claims[claim];
    const GpuClass* of = FindClass(world, state.claim->class_name);
    if (state.phase == "Bound") taken[state.resource] += state.units;
    if (state.phase == "Lost" && of != nullptr) {
      taken[of->resource_name] += state.units;
    }
  }
  for (const int claim : OnNode(world, set.leaving, set.pinned_node)) {
    taken[world.claims[claim].resource] += world.claims[claim].units;
  }
  std::stable_partition(pending.begin(), pending.end(),
                        [&](int claim) { return bench.Does(claim); });
  std::vector<int> asked;
  for (const int claim : pending) {
    const ClaimState& state = world.claims[claim];
    const GpuClass* of = FindClass(world, state.claim->class_name);
    if (of != nullptr) {
      int64_t& sum = taken[of->resource_name];
      if (state.units > RequestOf(*set.pinned, of->resource_name) - sum) {
        continue;
      }
      sum += state.units;
    }
    asked.push_back(claim);
  }
  return asked;
}

// Why its VMI is ended, or what its Pending claims lack, is told until then.
void TellOfEnding(Bench& bench, const Ask& ask, const std::vector<Why>& lacks) {
  const SetState& set = bench.world.sets[ask.set];
  auto said = bench.said.find(ask.set);
  if (said != bench.said.end() && !said->second.reasons.empty()) {
    for (const Why& why : set.problems) {
      said->second.reasons.insert(why.reason);
    }
    for (const Why& why : lacks) said->second.reasons.insert(why.reason);
  }
  const Node* node = FindNode(bench.world, set.pinned_node);
  if (!set.stuck && node != nullptr) bench.LookFrom(ask, *node);
}

// L2, which comes with the Lost sets.
void AdoptPending(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> waiting = InPhase(world, set, "Pending");
  if (waiting.empty() || set.pinned == nullptr) return;
  const std::vector<int> pending = AskedFor(bench, set, waiting);
  const bool adopts = !pending.empty() && bench.Does(pending[0]);
  const Ask ask{.set = index,
                .claims = Both(Both(InPhase(world, set, "Bound"),
                                    InPhase(world, set, "Lost")),
                               pending),
                .pod = set.pinned};
  std::vector<Why> lacks = OverBudget(world, ask);
  const bool over = !lacks.empty();
  // Of one that cannot be read nothing else is told.
  const bool beyond = pending.size() < waiting.size() && !set.stuck;
  if (beyond) lacks.push_back({v1::INVALID_CLAIMS, ""});
  const auto said = bench.said.find(index);
  const bool ends = said != bench.said.end() && !said->second.reasons.empty();
  if (IsToEnd(world, set) || (ends && !adopts)) {
    return TellOfEnding(bench, ask, lacks);
  }
  if (!lacks.empty()) bench.said[index].over = lacks;
  const Node* node = FindNode(world, set.pinned_node);
  const bool may_wait = bench.touched.contains(index) || bench.IsRefused(set);
  if (may_wait && !adopts) {
    if (!set.stuck && node != nullptr) bench.LookFrom(ask, *node);
    return;
  }
  if (set.pinned->node_name.empty() || !set.order_problems.empty() ||
      set.vmi->meta.deleting.has_value()) {
    // Whether one that is only pinned is adopted is not said, nor whether a
    // class that takes no orders takes those that run already, or a VMI that is
    // being deleted its last.
    if (node != nullptr) bench.LookFrom(ask, *node);
    for (const int claim : pending) bench.Follow(claim);
    if (beyond && set.order_problems.empty()) {
      bench.said[index].details = true;
    }
    return;
  }
  if (!set.problems.empty() || beyond) bench.said[index].details = true;
  if (!set.problems.empty()) return;
  if (over) {
    bench.said[index].details = true;
    if (node != nullptr) bench.LookFrom(ask, *node);
    return;
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
