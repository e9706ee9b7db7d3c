// M4: nodes that stop keeping their sets at once, so many that nothing is ended
// and nothing goes Lost until an operator has looked.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

// Whether the node keeps all that is booked there, by the state that the pass
// began with; a cordon aside.
std::map<std::string, Keeps> Unkept(const World& world) {
  std::map<std::string, Keeps> unkept;
  for (const SetState& set : world.sets) {
    const std::vector<int> bound = InPhase(world, set, "Bound");
    for (const std::string& node : NodesOf(world, bound)) {
      Grounds grounds =
          GroundsAgainst(world, set, OnNode(world, bound, node), node);
      // Who leaves for want of units is chosen by a later step.
      grounds.unsure = grounds.reasons.erase(v1::NODE_LOST_CAPACITY) > 0 ||
                       grounds.unsure || set.frozen || set.stuck;
      const GpuClaimSet* memory = MemoryOf(world, set);
      if (!OfPinned(world, set, node, false).empty() ||
          (set.vmi != nullptr && memory != nullptr &&
           memory->ended_vmi == set.vmi->meta.uid)) {
        grounds.unsure = true;
      }
      Keeps& found = unkept.emplace(node, Keeps::kYes).first->second;
      if (!grounds.reasons.empty() && !set.frozen && !set.stuck) {
        found = Keeps::kNo;
      } else if ((!grounds.reasons.empty() || grounds.unsure) &&
                 found != Keeps::kNo) {
        found = Keeps::kUnsure;
      }
    }
  }
  // Whether one counts where only what is on its way there is too much is not
  // said.
  for (const auto& [place, shortage] : world.snapshot->shortages) {
    Keeps& found = unkept.emplace(place.first, Keeps::kUnsure).first->second;
    if (found == Keeps::kYes) found = Keeps::kUnsure;
  }
  return unkept;
}

// Whether a node that keeps nothing still counts for a mass loss.
Keeps IsPartOfALoss(const World& world, const std::string& node) {
  auto known = world.snapshot->unkept_nodes.find(node);
  if (known == world.snapshot->unkept_nodes.end()) return Keeps::kNo;
  if (known->second.confirmed) return Keeps::kYes;
  if (known->second.held) return Keeps::kNo;
  const absl::Duration age = world.now - known->second.since;
  if (age == kValveSpan) return Keeps::kUnsure;
  return age < kValveSpan ? Keeps::kNo : Keeps::kYes;
}

// Ready, and some class could be had there if it were not cordoned.
bool IsBack(const World& world, const std::string& name) {
  const Node* node = FindNode(world, name);
  if (node == nullptr || node->meta.deleting || ReadyStatus(*node) != "True" ||
      (world.snapshot->Serves(Kind::kVirtualMachineInstance) &&
       !HasLabels(node->meta.labels, {{"kubevirt.io/schedulable", "true"}}))) {
    return false;
  }
  for (const GpuClass* of : world.classes) {
    bool serves = HasLabels(node->meta.labels, of->node_selector) &&
                  AllocatableOf(*node, of->resource_name).allocatable > 0;
    for (const Taint& taint : node->taints) {
      const bool counts =
          taint.effect == "NoExecute" || taint.effect == "NoSchedule";
      serves = serves && (!counts || IsConditionTaint(taint) ||
                          Tolerated(taint, of->tolerations));
    }
    if (serves) return true;
  }
  return false;
}

// Nodes that sets have left within the span, or since a mass loss stands, count
// until they are back; they hold nothing that they could keep.
void AddLeft(const World& world, std::map<std::string, Keeps>& unkept) {
  for (const auto& [name, node] : world.snapshot->unkept_nodes) {
    if (!node.left || node.confirmed || IsBack(world, name)) continue;
    const Keeps part = IsPartOfALoss(world, name);
    if (part == Keeps::kYes) continue;
    Keeps& found = unkept.emplace(name, part).first->second;
    if (found != Keeps::kNo) found = part;
  }
}

void JudgeUnkept(Bench& bench, const std::map<std::string, Keeps>& unkept) {
  const std::vector<std::string>& told = bench.result->unkept_nodes;
  for (const auto& [node, keeps] : unkept) {
    const bool is_told = std::count(told.begin(), told.end(), node) > 0;
    if (keeps == Keeps::kNo && !is_told) {
      bench.Fault(node, "does not keep a set, and is not told of");
    }
    if (keeps == Keeps::kYes && is_told) {
      bench.Fault(node, "keeps its sets, and is told not to");
    }
  }
  for (const std::string& node : told) {
    if (!unkept.contains(node)) bench.Fault(node, "holds nothing to keep");
  }
}

}  // namespace

void JudgeMassLoss(Bench& bench) {
  World& world = bench.world;
  ChooseVictims(world);
  std::map<std::string, Keeps> unkept = Unkept(world);
  AddLeft(world, unkept);
  world.victims.clear();
  JudgeUnkept(bench, unkept);
  std::set<std::string> holding, may_hold;
  for (const ClaimState& claim : world.claims) {
    if (claim.phase == "Bound") holding.insert(claim.node);
    may_hold.insert(claim.counts_on.begin(), claim.counts_on.end());
  }
  Bounds lost;
  for (const auto& [node, keeps] : unkept) {
    auto known = world.snapshot->unkept_nodes.find(node);
    if (known != world.snapshot->unkept_nodes.end() && known->second.left &&
        keeps != Keeps::kYes) {
      may_hold.insert(node);
      if (keeps == Keeps::kNo) holding.insert(node);
    }
    const Keeps part = IsPartOfALoss(world, node);
    const bool unsure = keeps == Keeps::kUnsure || part == Keeps::kUnsure;
    if (keeps == Keeps::kYes || part == Keeps::kYes) continue;
    lost.Add(unsure ? Keeps::kUnsure : Keeps::kNo);
  }
  const int64_t threshold = world.snapshot->config.mass_loss_threshold;
  auto is_mass_loss = [&](int64_t nodes, size_t of) {
    return nodes >= 3 && nodes * 100 > threshold * static_cast<int64_t>(of);
  };
  if (bench.result->mass_loss && !is_mass_loss(lost.most, holding.size())) {
    bench.Fault("the pass", "speaks of a mass loss of " +
                                std::to_string(lost.most) + " nodes");
  }
  if (!bench.result->mass_loss && is_mass_loss(lost.least, may_hold.size())) {
    bench.Fault("the pass", "does not see the mass loss of " +
                                std::to_string(lost.least) + " nodes");
  }
}

}  // namespace gpubinder::naive
