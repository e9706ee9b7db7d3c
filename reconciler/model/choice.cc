#include "reconciler/model/choice.h"

#include <string>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/filter.h"

namespace gpubinder {
namespace {

struct Candidate {
  int64_t moves = 0;
  int64_t free_after = 0;
  std::string name;
  NameId node = kNoName;
};

bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto left = std::tie(a.moves, a.free_after);
  const auto right = std::tie(b.moves, b.free_after);
  if (left != right) return left < right;
#ifdef GPUBINDER_PLANT_TIE
  // Test-only: a tie broken the other way, which a replay has to notice.
  return a.name > b.name;
#else
  return a.name < b.name;
#endif
}

// Nodes by equal reasons. The text of the reasons is the key, so groups come
// in an order that depends on nothing else; the fitting ones come first.
class Grouping {
 public:
  void Add(const std::string& node, std::vector<v1::ReasonDetail> reasons) {
    std::string key;
    for (const v1::ReasonDetail& detail : reasons) {
      absl::StrAppend(&key, detail.SerializeAsString(), "\n");
    }
    NodeGroup& group = groups_[key];
    group.nodes.push_back(node);
    if (group.reasons.empty()) group.reasons = std::move(reasons);
  }
  std::vector<NodeGroup> Take() {
    std::vector<NodeGroup> groups;
    for (auto& [key, group] : groups_) groups.push_back(std::move(group));
    return groups;
  }

 private:
  absl::btree_map<std::string, NodeGroup> groups_;
};

}  // namespace

Choice ChooseNode(const ClaimSet& set, const Demand& demand, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  std::optional<Candidate> best;
  Grouping grouping;
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    std::vector<v1::ReasonDetail> reasons =
        JudgeNode(row, demand, snapshot, plan.books());
    const std::string& name = snapshot.nodes()[row].meta.name;
    if (reasons.empty()) {
      Candidate candidate{
          .free_after = FreeAfter(row, demand, snapshot, plan.books()),
          .name = name,
          .node = snapshot.node_columns.name[row]};
      for (const Row member : set.members) {
        candidate.moves += plan.phase(member) == Phase::kBound &&
                           plan.node(member) != candidate.node;
      }
      if (!best.has_value() || IsBetter(candidate, *best)) best = candidate;
    }
    grouping.Add(name, std::move(reasons));
  }
  Choice choice{.groups = grouping.Take()};
  if (best.has_value()) {
    choice.node = best->node;
  } else {
    for (const RejectedNode& entry : demand.rejections) {
      plan.WakeAt(entry.until);
    }
  }
  return choice;
}

}  // namespace gpubinder
