#include <tuple>

#include "reconciler/naive/rules.h"
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

}  // namespace gpubinder::naive
