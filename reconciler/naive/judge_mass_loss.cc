// M4: nodes that stop keeping their sets at once, so many that nothing is ended
// and nothing goes Lost until an operator has looked.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

struct Loss {
  Keeps keeps = Keeps::kYes;
  std::set<std::string> classes;  // of what the node does not keep
};

// Whether it has fallen short of something; not where more was booked than it
// had.
bool HasFallenShort(const World& world, const std::string& node) {
  for (const auto& [place, shortage] : world.snapshot->shortages) {
    if (place.first == node && !shortage.overbooked) return true;
  }
  return false;
}

// Whether the node keeps all that is booked there, by the state that the pass
// began with; a cordon aside.
std::map<std::string, Loss> Unkept(const World& world) {
  std::map<std::string, Loss> unkept;
  for (const SetState& set : world.sets) {
    const std::vector<int> bound = InPhase(world, set, "Bound");
    for (const std::string& node : NodesOf(world, bound)) {
      const std::vector<int> here = OnNode(world, bound, node);
      Grounds grounds = GroundsAgainst(world, set, here, node);
      // Who leaves for want of units is chosen by a later step.
      grounds.unsure = (grounds.reasons.erase(v1::NODE_LOST_CAPACITY) > 0 &&
                        HasFallenShort(world, node)) ||
                       grounds.unsure || set.frozen || set.stuck;
      // What a tenant writes on its pod says nothing of the node.
      const std::set<v1::Reason> more = OfPinned(world, set, node, false);
      grounds.reasons.insert(more.begin(), more.end());
      if (WasAskedToEnd(world, set)) grounds.unsure = true;
      Loss& loss = unkept[node];
      if (!grounds.reasons.empty() && !set.frozen && !set.stuck) {
        loss.keeps = Keeps::kNo;
        for (int claim : here) {
          loss.classes.insert(world.claims[claim].class_name);
        }
      } else if ((!grounds.reasons.empty() || grounds.unsure) &&
                 loss.keeps != Keeps::kNo) {
        loss.keeps = Keeps::kUnsure;
      }
    }
  }
  // Whether one counts where only what is on its way there is too much is not
  // said.
  for (const auto& [place, shortage] : world.snapshot->shortages) {
    if (shortage.overbooked) continue;
    Keeps& found = unkept[place.first].keeps;
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

// Ready, and all that it did not keep could be had there if it were not
// cordoned.
bool IsBack(const World& world, const std::string& name,
            const std::set<std::string>& classes) {
  const Node* node = FindNode(world, name);
  if (node == nullptr || node->meta.deleting || ReadyStatus(*node) != "True" ||
      (world.snapshot->Serves(Kind::kVirtualMachineInstance) &&
       !HasLabels(node->meta.labels, {{"kubevirt.io/schedulable", "true"}}))) {
    return false;
  }
  for (const std::string& class_name : classes) {
    const GpuClass* of = FindClass(world, class_name);
    if (of == nullptr) continue;
    if (!HasLabels(node->meta.labels, of->node_selector) ||
        AllocatableOf(*node, of->resource_name).allocatable <= 0) {
      return false;
    }
    for (const Taint& taint : node->taints) {
      const bool counts =
          taint.effect == "NoExecute" || taint.effect == "NoSchedule";
      if (counts && !IsConditionTaint(taint) &&
          !Tolerated(taint, of->tolerations)) {
        return false;
      }
    }
  }
  return true;
}

// What did not keep its sets within the span, or since a mass loss stands,
// counts until it is back, whether anything is booked there still or not.
void AddAway(const World& world, std::map<std::string, Loss>& unkept) {
  for (const auto& [name, node] : world.snapshot->unkept_nodes) {
    auto found = unkept.find(name);
    const bool listed = found != unkept.end();
    if (listed)
      found->second.classes.insert(node.classes.begin(), node.classes.end());
    if (node.confirmed || (listed && found->second.keeps == Keeps::kNo) ||
        IsBack(world, name, {node.classes.begin(), node.classes.end()})) {
      continue;
    }
    const Keeps part = IsPartOfALoss(world, name);
    if (part == Keeps::kYes) continue;
    Loss& loss = unkept[name];
    loss.keeps = part;
    loss.classes.insert(node.classes.begin(), node.classes.end());
  }
}

void JudgeUnkept(Bench& bench, const std::map<std::string, Loss>& unkept) {
  const UnkeptNodes& told = bench.result->unkept_nodes;
  for (const auto& [node, loss] : unkept) {
    auto found = told.find(node);
    if (loss.keeps == Keeps::kNo && found == told.end()) {
      bench.Fault(node, "does not keep a set, and is not told of");
    }
    if (loss.keeps == Keeps::kYes && found != told.end()) {
      bench.Fault(node, "keeps its sets, and is told not to");
    }
    if (found == told.end()) continue;
    for (const std::string& class_name : loss.classes) {
      if (found->second.contains(class_name)) continue;
      bench.Fault(node, "does not keep what is of class " + class_name +
                            ", and that is not told");
    }
  }
  for (const auto& [node, classes] : told) {
    if (!unkept.contains(node)) bench.Fault(node, "holds nothing to keep");
  }
}

}  // namespace

void JudgeMassLoss(Bench& bench) {
  World& world = bench.world;
  ChooseVictims(world);
  std::map<std::string, Loss> unkept = Unkept(world);
  AddAway(world, unkept);
  world.victims.clear();
  JudgeUnkept(bench, unkept);
  std::set<std::string> holding, may_hold;
  for (const ClaimState& claim : world.claims) {
    if (claim.phase == "Bound") holding.insert(claim.node);
    may_hold.insert(claim.counts_on.begin(), claim.counts_on.end());
  }
  Bounds lost;
  for (const auto& [node, loss] : unkept) {
    if (loss.keeps != Keeps::kYes) may_hold.insert(node);
    if (loss.keeps == Keeps::kNo) holding.insert(node);
    const Keeps part = IsPartOfALoss(world, node);
    const bool unsure = loss.keeps == Keeps::kUnsure || part == Keeps::kUnsure;
    if (loss.keeps == Keeps::kYes || part == Keeps::kYes) continue;
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
