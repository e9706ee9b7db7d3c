#include "reconciler/model/choice.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reconciler/model/judge.h"
#include "reconciler/model/planted.h"

namespace gpubinder {
namespace {

struct Candidate {
  int64_t moves = 0;
  int64_t free_after = 0;
  NodeIndex node = 0;  // in the order of names
};

bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto left = std::tie(a.moves, a.free_after);
  const auto right = std::tie(b.moves, b.free_after);
  if (left != right) return left < right;
  if (Planted(Bug::kTieTheOtherWay)) return a.node > b.node;
  return a.node < b.node;
}

// The best of nodes that differ in their names only, those judged apart left
// out.
template <typename Iterator>
std::optional<NodeIndex> FirstOf(Iterator begin, Iterator end,
                                 const std::vector<NodeIndex>& apart) {
  const auto found = std::find_if(begin, end, [&](NodeIndex node) {
    return !std::binary_search(apart.begin(), apart.end(), node);
  });
  if (found == end) return std::nullopt;
  return *found;
}

std::optional<NodeIndex> BestOf(const FittingCell& cell,
                                const std::vector<NodeIndex>& apart) {
  if (Planted(Bug::kTieTheOtherWay)) {
    return FirstOf(cell.nodes->rbegin(), cell.nodes->rend(), apart);
  }
  return FirstOf(cell.nodes->begin(), cell.nodes->end(), apart);
}

// Where the pass has the set's Bound members, each once for a member.
std::vector<NameId> BoundNodes(const ClaimSet& set, const Plan& plan) {
  std::vector<NameId> nodes;
  for (const Row member : set.members) {
    if (plan.phase(member) != Phase::kBound) continue;
    nodes.push_back(plan.node(member));
  }
  return nodes;
}

}  // namespace

Choice ChooseNode(const ClaimSet& set, const Demand& demand, Plan& plan) {
  const std::vector<NameId> bound = BoundNodes(set, plan);
  NodeJudge& judge = plan.judge();
  Judged judged = judge.Judge(demand, bound);
  std::optional<Candidate> best;
  auto consider = [&](const Candidate& candidate) {
    if (!best.has_value() || IsBetter(candidate, *best)) best = candidate;
  };
  for (const FittingCell& cell : judged.cells) {
    // Its nodes hold no member.
    Candidate candidate{.moves = static_cast<int64_t>(bound.size()),
                        .free_after = cell.free_after};
    const std::optional<NodeIndex> node = BestOf(cell, judged.apart);
    if (!node.has_value()) continue;
    candidate.node = *node;
    consider(candidate);
  }
  for (const auto& [node, free_after] : judged.fitting_apart) {
    const auto stay =
        std::count(bound.begin(), bound.end(), judge.NodeAt(node));
    consider({.moves = static_cast<int64_t>(bound.size()) - stay,
              .free_after = free_after,
              .node = node});
  }
  Choice choice{.judged = std::move(judged.nodes)};
  if (best.has_value()) {
    choice.node = judge.NodeAt(best->node);
  } else {
    for (const RejectedNode& entry : demand.rejections) {
      plan.WakeAt(entry.until);
    }
  }
  return choice;
}

}  // namespace gpubinder
