#include <tuple>

#include "reconciler/naive/naive.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {

int64_t FreeAfter(const World& world, const Ask& ask, const Node& node) {
  int64_t sum = 0;
  std::set<std::string> resources;
  const std::map<std::string, int64_t> demand =
      DemandOn(world, ask, node.meta.name);
  Ask own = ask;
  own.pod = nullptr;
  for (const auto& [resource, units] : DemandOn(world, own, node.meta.name)) {
    const auto wanted = demand.find(resource);
    const __int128 left =
        static_cast<__int128>(AllocatableOf(node, resource).allocatable) -
        Booked(world, node.meta.name, resource, ask.set) -
        Raw(world, node.meta.name, resource, ask.set) - wanted->second;
    sum = Plus(sum, left < 0 ? 0 : static_cast<int64_t>(left));
  }
  return sum;
}

Choice Choose(const World& world, const Ask& ask) {
  Choice choice;
  std::tuple<int, int64_t, std::string> best;
  for (const Node* node : world.nodes) {
    std::vector<Why> why = Obstacles(world, ask, *node);
    if (why.empty()) {
      int moves = 0;
      for (const int claim : ask.claims) {
        const ClaimState& state = world.claims[claim];
        if (state.phase == "Bound" && state.node != node->meta.name) ++moves;
      }
      const std::tuple<int, int64_t, std::string> rank(
          moves, FreeAfter(world, ask, *node), node->meta.name);
      if (choice.node == nullptr || rank < best) {
        choice.node = node;
        best = rank;
      }
    }
    choice.nodes[node->meta.name] = std::move(why);
  }
  return choice;
}

Keeps KeepsSet(const World& world, const SetState& set,
               const std::vector<int>& claims, const std::string& name) {
  const Node* node = FindNode(world, name);
  const bool has_launcher =
      set.gated != nullptr || set.pinned != nullptr || set.loose != nullptr;
  if (node == nullptr) {
    if (!has_launcher) return Keeps::kNo;
    auto since = world.snapshot->gone_since.find(name);
    if (since == world.snapshot->gone_since.end()) return Keeps::kUnsure;
    return world.now - since->second >= world.snapshot->config.node_gone_grace
               ? Keeps::kNo
               : Keeps::kYes;
  }
  const bool runs = set.pinned != nullptr && !set.pinned->node_name.empty();
  bool stays = false, classes_gone = false;
  for (const int claim : claims) {
    const GpuClass* of =
        FindClass(world, world.claims[claim].claim->class_name);
    if (of == nullptr) {
      classes_gone = true;
      continue;
    }
    stays = stays || of->on_cordon == "Stay";
    for (const Taint& taint : node->taints) {
      const bool counts = taint.effect == "NoExecute" ||
                          (taint.effect == "NoSchedule" && !runs);
      const bool of_condition = taint.key == "node.kubernetes.io/not-ready" ||
                                taint.key == "node.kubernetes.io/unreachable" ||
                                taint.key == "node.kubernetes.io/unschedulable";
      if (counts && !of_condition && !Tolerated(taint, of->tolerations)) {
        return Keeps::kNo;
      }
    }
    if (!runs && !HasLabels(node->meta.labels, of->node_selector)) {
      return Keeps::kNo;
    }
  }
  if (classes_gone) return Keeps::kYes;
  // Graces that count from what a replica journaled are not this model's yet.
  for (const int claim : claims) {
    const std::string& resource = world.claims[claim].resource;
    if (AllocatableOf(*node, resource).allocatable <
        Booked(world, name, resource, -1)) {
      return Keeps::kUnsure;
    }
  }
  const bool ready =
      ReadyStatus(*node) == "True" &&
      (!world.snapshot->Serves(Kind::kVirtualMachineInstance) ||
       HasLabels(node->meta.labels, {{"kubevirt.io/schedulable", "true"}}));
  if (!ready && !has_launcher) return Keeps::kUnsure;
  if (IsCordoned(*node) && !stays && set.pinned == nullptr) {
    return Keeps::kCordonOnly;
  }
  return Keeps::kYes;
}

}  // namespace gpubinder::naive
