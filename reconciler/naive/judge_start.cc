// G: what a gated launcher gets.

#include <algorithm>

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

Ask AskOf(const World& world, int index) {
  const SetState& set = world.sets[index];
  return {.set = index,
          .claims = set.members,
          .templates = true,
          .pod = set.gated,
          .pod_rules = set.gated};
}

bool StandsWhole(const World& world, const SetState& set) {
  return !set.members.empty() && set.missing.empty() &&
         InPhase(world, set, "Bound").size() == set.members.size() &&
         NodesOf(world, set.members).size() == 1;
}

// G5: the node that holds the whole set and has nothing but its cordon.
const Node* HeldOnCordoned(const World& world, int index,
                           const Choice& choice) {
  const SetState& set = world.sets[index];
  if (!StandsWhole(world, set)) return nullptr;
  const Node* node = FindNode(world, world.claims[set.members[0]].node);
  if (node == nullptr) return nullptr;
  const std::vector<Why>& why = choice.nodes.at(node->meta.name);
  if (why.size() != 1 || why[0].reason != v1::NODE_CORDONED) return nullptr;
  bool stays = choice.node == nullptr;
  for (const int claim : set.members) {
    const GpuClass* of =
        FindClass(world, world.claims[claim].claim->class_name);
    stays = stays || (of != nullptr && of->on_cordon == "Stay");
  }
  return stays ? node : nullptr;
}

// G9: no place. A set that its own node cannot keep goes Lost.
void Wait(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  bench.said[index] = {.reasons = {v1::NO_NODE_FITS}};
  bench.waiting.insert(index);
  const std::vector<int> bound = InPhase(world, set, "Bound");
  const bool partly = !InPhase(world, set, "Lost").empty();
  const GpuClaimSet* memory = MemoryOf(world, set);
  const bool whole = memory != nullptr && !memory->node_name.empty();
  bool unsure = false, lose = partly && whole;
  for (const std::string& node : NodesOf(world, bound)) {
    const Keeps keeps = KeepsSet(world, set, bound, node);
    unsure = unsure || keeps == Keeps::kUnsure;
    lose = lose || keeps == Keeps::kNo;
  }
  // Which members of a split set go Lost is M's to say.
  if (NodesOf(world, bound).size() > 1) {
    if (!partly || !whole) return;
    unsure = false;
  }
  // Of one that never stood whole it is S2's.
  if (partly && !whole) unsure = true;
  for (const int claim : bound) {
    if (unsure) {
      bench.Follow(claim);
    } else if (lose) {
      bench.ExpectLose(claim,
                       {v1::NO_NODE_FITS, v1::NODE_GONE, v1::NODE_TAINTED,
                        v1::NODE_MISMATCH},
                       "G9");
    }
  }
}

// G2: made first; the units of the set are used up where it will stand.
bool MakeTemplates(Bench& bench, int index, const Node* chosen) {
  SetState& set = bench.world.sets[index];
  if (set.missing.empty()) return false;
  for (const Wanted& wanted : set.missing) {
    if (!bench.made[set.key].contains(wanted.name)) {
      bench.Fault(set.key, "G2 makes " + wanted.name + ", the pass does not");
    }
  }
  if (chosen == nullptr) return true;
  const std::string& name = chosen->meta.name;
  for (const int claim : set.members) {
    bench.world.claims[claim].counts_on.insert(name);
  }
  for (const Wanted& wanted : set.missing) {
    const GpuClass* of = FindClass(bench.world, wanted.class_name);
    ClaimState made{.claim = &bench.world.not_yet,
                    .phase = "Pending",
                    .class_name = wanted.class_name,
                    .resource = of->resource_name,
                    .units = wanted.units,
                    .counts_on = {name},
                    .set = index};
    bench.world.claims.push_back(made);
  }
  return true;
}

// C8, C9: what the pod asks for beyond its claims is gone for this pass too.
void UseBeyond(Bench& bench, int index, const std::string& node) {
  const Ask ask = AskOf(bench.world, index);
  Ask claims = ask;
  claims.pod = nullptr;
  std::map<std::string, int64_t> ordered = DemandOn(bench.world, claims, node);
  for (const auto& [resource, units] : DemandOn(bench.world, ask, node)) {
    if (units <= ordered[resource]) continue;
    bench.world.beyond.push_back(
        {index, node, resource, units - ordered[resource]});
  }
}

// Nothing that orders; whether the rest is made whole now or was before, by
// the first step, is not said.
void FollowRepair(Bench& bench, int index) {
  for (const int claim : bench.world.sets[index].members) {
    if (bench.world.claims[claim].phase != "Pending") bench.Follow(claim);
  }
}

void StartSet(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  if (set.vmi->meta.deleting.has_value()) return;
  if ((bench.IsRefused(set) || bench.touched.contains(index)) &&
      !bench.pins.contains(set.gated->meta.uid)) {
    // A set whose rejection is being written may be started by the next pass.
    bench.Look(AskOf(world, index));
    for (const int claim : set.members) bench.Follow(claim);
    return;
  }
  const std::set<Why> stops = StartStops(world, index);
  const std::vector<Why> over = OverBudget(world, AskOf(world, index));
  if (!stops.empty()) {
    bench.said[index].over = over;
    for (const Why& why : stops) bench.said[index].reasons.insert(why.reason);
    if (!over.empty()) bench.said[index].reasons.insert(v1::OVER_BUDGET);
    bench.said[index].details = true;
    if (!set.stuck) bench.Look(AskOf(world, index));
    // Templates are made as soon as annotation and classes are legal.
    for (const Wanted& wanted : set.missing) {
      bench.made[set.key].erase(wanted.name);
    }
    return;
  }
  const Choice choice = bench.Look(AskOf(world, index));
  if (!over.empty()) {
    bench.said[index] = {.details = true, .over = over};
    MakeTemplates(bench, index, nullptr);
    return FollowRepair(bench, index);
  }
  const Node* cordoned = HeldOnCordoned(world, index, choice);
  const bool made = MakeTemplates(bench, index, choice.node);
  if (cordoned != nullptr) {
    UseBeyond(bench, index, cordoned->meta.name);
    bench.said[index] = {.reasons = {v1::PLACED_ON_CORDONED_NODE}};
    return bench.ExpectPin(set, cordoned->meta.name, "G5");
  }
  if (choice.node == nullptr) return Wait(bench, index);
  UseBeyond(bench, index, choice.node->meta.name);
  if (made) return;
  for (const int claim : set.members) {
    bench.ExpectBind(claim, choice.node->meta.name, "G6");
  }
  bench.said[index] = {.reasons = {v1::PLACED}};
  bench.ExpectPin(set, choice.node->meta.name, "G6");
}

// A gated set that G has found no place for, on a node that is short (N7).
void LeaveShortNode(Bench& bench, int index, const std::vector<int>& bound) {
  for (const std::string& node : NodesOf(bench.world, bound)) {
    auto victim = bench.world.victims.find({index, node});
    if (victim == bench.world.victims.end()) continue;
    for (const int claim : bound) {
      if (bench.world.claims[claim].node != node) continue;
      if (victim->second == Keeps::kNo && bench.waiting.contains(index)) {
        bench.ExpectLose(claim, {v1::NODE_LOST_CAPACITY}, "N7");
      } else if (victim->second == Keeps::kUnsure) {
        bench.Follow(claim);
      }
    }
  }
}

// S2: of a gated set that G has found no place for, and that is split, only
// those members go Lost that their own node does not keep.
void LeaveUnkeptNodes(Bench& bench, int index, const std::vector<int>& bound) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  for (const std::string& node : NodesOf(world, bound)) {
    const std::vector<int> part = OnNode(world, bound, node);
    Grounds grounds = GroundsAgainst(world, set, part, node);
    const bool lose = !grounds.reasons.empty();
    // Whether it must keep the classes of the others too is not said.
    const bool unsure =
        grounds.unsure || KeepsSet(world, set, bound, node) == Keeps::kNo;
    for (const int claim : part) {
      if (lose) {
        bench.ExpectLose(claim, WhyLost(grounds), "S2");
      } else if (unsure) {
        bench.Follow(claim);
      }
    }
  }
}

}  // namespace

std::set<Why> StartStops(const World& world, int index) {
  const SetState& set = world.sets[index];
  std::set<Why> stops = set.problems;
  stops.insert(set.start_problems.begin(), set.start_problems.end());
  const bool booked =
      set.missing.empty() && InPhase(world, set, "Pending").empty();
  if (!booked) {
    stops.insert(set.order_problems.begin(), set.order_problems.end());
  }
  for (const std::string& gate : set.gated->gates) {
    if (gate != kGate) stops.insert({v1::FOREIGN_GATE, ""});
  }
  auto refused = world.snapshot->refused_pins.find(set.gated->meta.uid);
  if (refused != world.snapshot->refused_pins.end() &&
      refused->second.resource_version == set.gated->meta.resource_version) {
    stops.insert({v1::START_REFUSED_BY_API, ""});
  }
  if (IsTerminating(world, set.name_space)) {
    stops.insert({v1::START_REFUSED_BY_API, ""});
  }
  // C2: one that holds another resource than its class is of now.
  for (const int claim : InPhase(world, set, "Bound")) {
    const ClaimState& state = world.claims[claim];
    const GpuClass* of = FindClass(world, state.class_name);
    if (of != nullptr && of->resource_name != state.resource) {
      stops.insert({v1::INVALID_CLAIMS, ""});
    }
  }
  // C8: a pod that asks for less than its set.
  Ask ask = AskOf(world, index);
  ask.pod = nullptr;
  std::map<std::string, int64_t> asked = DemandOn(world, ask, "");
  // A malformed one is held to what it says, not to what it holds.
  for (const int claim : ask.claims) {
    const ClaimState& state = world.claims[claim];
    const GpuClass* of = FindClass(world, state.class_name);
    if (of == nullptr || state.units == state.claim->units) continue;
    asked[of->resource_name] += state.claim->units - state.units;
  }
  for (const auto& [resource, units] : asked) {
    if (RequestOf(*set.gated, resource) < units) {
      stops.insert({v1::INVALID_CLAIMS, ""});
    }
  }
  return stops;
}

void LeaveGated(Bench& bench, int index, const std::vector<int>& bound) {
  if (NodesOf(bench.world, bound).size() > 1 && bench.waiting.contains(index)) {
    LeaveUnkeptNodes(bench, index, bound);
  } else {
    LeaveShortNode(bench, index, bound);
  }
}

void JudgeStarts(Bench& bench) {
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    const int index = static_cast<int>(s);
    const SetState& set = bench.world.sets[s];
    // G1 is for VMIs with the annotation.
    if (set.frozen || set.gated == nullptr || !set.vmi->claims.present ||
        bench.followed.contains(index)) {
      continue;
    }
    bench.floor = bench.last_effect;
    StartSet(bench, index);
  }
}

}  // namespace gpubinder::naive
