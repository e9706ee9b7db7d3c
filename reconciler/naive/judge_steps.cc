#include <algorithm>

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

// C6: nothing but ended pods and migration targets is left elsewhere.
bool HasMigrated(const World& world, const SetState& set) {
  if (set.vmi == nullptr || set.vmi->node_name.empty()) return false;
  if (set.pinned == nullptr || set.pinned_node != set.vmi->node_name) {
    return false;
  }
  for (const auto& [uid, node] : set.vmi->active_pods) {
    const Pod* pod = PodByUid(world, uid);
    if (pod == nullptr || Ended(*pod) || pod == set.pinned ||
        pod->node_name == set.vmi->node_name) {
      continue;
    }
    // A target of the next migration; a launcher that came by an earlier one
    // keeps the label, and stands where the claims are.
    if (pod->meta.labels.contains(kMigrationLabel) &&
        !NodesOf(world, InPhase(world, set, "Bound"))
             .contains(pod->node_name)) {
      continue;
    }
    return false;
  }
  for (const int claim : InPhase(world, set, "Bound")) {
    if (world.claims[claim].node != set.vmi->node_name) return true;
  }
  return false;
}

bool WithinGoneGrace(const World& world, const std::string& node) {
  if (FindNode(world, node) != nullptr) return false;
  auto since = world.snapshot->gone_since.find(node);
  return since != world.snapshot->gone_since.end() &&
         world.now - since->second < world.snapshot->config.node_gone_grace;
}

const std::set<v1::Reason>& NoPlace() {
  static const std::set<v1::Reason> reasons = {v1::NO_NODE_FITS};
  return reasons;
}

void LoseIfItStoodWhole(Bench& bench, const SetState& set,
                        const std::vector<int>& bound) {
  const GpuClaimSet* memory = MemoryOf(bench.world, set);
  if (memory == nullptr || memory->node_name.empty()) return;
  for (const int claim : bound) bench.ExpectLose(claim, NoPlace(), "S2");
}

void RepairPinned(Bench& bench, int index, const std::vector<int>& bound,
                  const std::vector<int>& lost) {
  const SetState& set = bench.world.sets[index];
  const Ask ask{.set = index, .claims = Both(bound, lost), .pod = set.pinned};
  const Node* node = FindNode(bench.world, set.pinned_node);
  bool fits = false;
  if (node != nullptr) {
    fits = LackOfUnits(bench.world, ask, *node).empty();
    bench.LookFrom(ask, *node);
    const Keeps keeps = KeepsSet(bench.world, set, ask.claims, node->meta.name);
    if (fits && keeps != Keeps::kYes) {
      // Whether the pinned node must also keep the set is not said.
      for (const int claim : ask.claims) bench.Follow(claim);
      return;
    }
  }
  if (fits) {
    for (const int claim : ask.claims) {
      bench.ExpectBind(claim, set.pinned_node, "S2");
    }
  } else if (!WithinGoneGrace(bench.world, set.pinned_node)) {
    // Of a node that is not there, the others say why none of them will do.
    if (node == nullptr) {
      Ask others = ask;
      others.pod_rules = set.pinned;
      bench.Look(others);
    }
    for (const int claim : bound) bench.ExpectLose(claim, NoPlace(), "S2");
  }
}

void RepairSet(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  if (IsToEnd(world, set)) return;
  const std::vector<int> bound = InPhase(world, set, "Bound");
  const std::vector<int> lost = InPhase(world, set, "Lost");
  const bool split = NodesOf(world, bound).size() > 1;
  if (bound.empty() || (lost.empty() && !split)) {
    const bool away = set.pinned != nullptr && !bound.empty() &&
                      !NodesOf(world, bound).contains(set.pinned_node);
    // A whole set beside its pinned launcher's node: said of no step.
    if (away) {
      for (const int claim : bound) bench.Follow(claim);
    }
    return;
  }
  if (set.stuck) {
    for (const int claim : set.members) bench.Follow(claim);
    return;
  }
  if (set.pinned != nullptr) return RepairPinned(bench, index, bound, lost);
  // G judges no launcher of a VMI that goes, or that has no annotation.
  if (set.gated != nullptr && !set.vmi->meta.deleting &&
      set.vmi->claims.present && StartStops(world, index).empty() &&
      OverBudget(world,
                 {.set = index, .claims = set.members, .templates = true})
          .empty()) {
    return;
  }
  if (set.loose != nullptr) {
    return FollowLoose(bench, index, Both(bound, lost));
  }
  const Ask ask{.set = index,
                .claims = Both(bound, lost),
                .pod = set.gated,
                .pod_rules = set.gated};
  const Choice choice = bench.Look(ask);
  if (choice.node != nullptr) {
    for (const int claim : ask.claims) {
      bench.ExpectBind(claim, choice.node->meta.name, "S2");
    }
  } else if (!lost.empty()) {
    LoseIfItStoodWhole(bench, set, bound);
  }
}

void MoveSet(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> bound = InPhase(world, set, "Bound");
  if (bound.empty() || set.pinned != nullptr || IsToEnd(world, set)) return;
  if (set.gated != nullptr) return LeaveGated(bench, index, bound);
  std::map<std::string, Keeps> keeps;
  bool moves = false, unsure = false, cordon = false;
  for (const std::string& node : NodesOf(world, bound)) {
    keeps[node] = KeepsSet(world, set, OnNode(world, bound, node), node);
    moves = moves || keeps[node] == Keeps::kNo;
    unsure = unsure || keeps[node] == Keeps::kUnsure;
    cordon = cordon || keeps[node] == Keeps::kCordonOnly;
  }
  if (!moves && !unsure && !cordon) return;
  // A set whose rejection is being written, or whose VM is brought back, may be
  // moved by the next pass.
  if (bench.IsRefused(set)) {
    unsure = true;
  }
  if (set.loose != nullptr) return FollowLoose(bench, index, bound);
  if (set.stuck) unsure = true;
  const Choice choice = bench.Look({.set = index, .claims = bound});
  if (unsure) {
    for (const int claim : bound) bench.Follow(claim);
    return;
  }
  if (choice.node != nullptr) {
    // A split set is the repair's, unless its node does not keep it.
    if (keeps.size() > 1 && !moves) return;
    for (const int claim : bound) {
      bench.ExpectBind(claim, choice.node->meta.name, "M1");
    }
    return;
  }
  for (const std::string& node : NodesOf(world, bound)) {
    if (keeps[node] != Keeps::kNo) continue;
    const std::vector<int> part = OnNode(world, bound, node);
    const Grounds grounds = GroundsAgainst(world, set, part, node);
    for (const int claim : part) {
      bench.ExpectLose(claim, WhyLost(grounds), "M2");
    }
  }
}

void OrderSet(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> pending = InPhase(world, set, "Pending");
  if (pending.empty() || set.gated != nullptr || set.pinned != nullptr ||
      set.loose != nullptr || IsToEnd(world, set)) {
    return;
  }
  // What an earlier step has placed a part of may wait for the next pass.
  const bool may_wait =
      set.names_others || bench.touched.contains(index) || bench.IsRefused(set);
  const std::vector<Why> over =
      OverBudget(world, {.set = index, .claims = set.members});
  if (may_wait && !bench.Does(pending[0])) {
    if (!set.stuck) bench.Look({.set = index, .claims = set.members});
    return;
  }
  if (!set.problems.empty() || !set.order_problems.empty()) {
    bench.said[index] = {.details = true, .over = over};
    return;
  }
  const Ask ask{.set = index, .claims = set.members};
  if (!over.empty()) {
    bench.Look(ask);
    bench.said[index] = {.details = true, .over = over};
    return;
  }
  const Choice choice = bench.Look(ask);
  if (choice.node == nullptr) {
    // Lost members keep the reason of their loss, which comes first.
    if (InPhase(world, set, "Lost").empty()) {
      bench.said[index] = {.reasons = {v1::NO_NODE_FITS}};
    }
    return;
  }
  for (const int claim : set.members) {
    bench.ExpectBind(claim, choice.node->meta.name, "O1");
  }
}

}  // namespace

std::vector<int> Both(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void FollowLoose(Bench& bench, int index, const std::vector<int>& claims) {
  const SetState& set = bench.world.sets[index];
  for (const Pod* pod : {set.loose, static_cast<const Pod*>(nullptr)}) {
    for (const Pod* rules : {pod, static_cast<const Pod*>(nullptr)}) {
      bench.Look(
          {.set = index, .claims = claims, .pod = pod, .pod_rules = rules});
    }
  }
  for (const int claim : claims) bench.Follow(claim);
}

void JudgeFollow(Bench& bench) {
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    const SetState& set = bench.world.sets[s];
    if (set.frozen || !HasMigrated(bench.world, set)) continue;
    // Whether to a node that is not there is not said: else repair judges it.
    const std::vector<int> bound = InPhase(bench.world, set, "Bound");
    if (FindNode(bench.world, set.vmi->node_name) == nullptr &&
        std::none_of(bound.begin(), bound.end(), [&](int claim) {
          return bench.Does(claim) &&
                 bench.deeds.at(claim).node == set.vmi->node_name;
        })) {
      continue;
    }
    bench.followed.insert(static_cast<int>(s));
    for (const int claim : bound) {
      if (!set.problems.empty() && !bench.Does(claim)) continue;
      bench.ExpectBind(claim, set.vmi->node_name, "C6");
    }
  }
}

void JudgeRepair(Bench& bench) { ForEachSet(bench, RepairSet); }
void JudgeMoves(Bench& bench) { ForEachSet(bench, MoveSet); }
void JudgeOrders(Bench& bench) { ForEachSet(bench, OrderSet); }

}  // namespace gpubinder::naive
