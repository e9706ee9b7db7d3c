#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/victims.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kAtOnce = absl::Minutes(10);
constexpr int64_t kFewestNodes = 3;

// Those that hold bookings, and those that sets have left.
int64_t NodesInUse(const std::vector<std::string>& left,
                   const Snapshot& snapshot) {
  std::vector<bool> used(snapshot.names.size());
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < snapshot.claims().end(); ++row) {
    if (columns.phase[row] == Phase::kBound) used[columns.node[row]] = true;
  }
  int64_t sum = std::count(used.begin(), used.end(), true);
  for (const std::string& name : left) {
    const std::optional<NameId> node = snapshot.names.Find(name);
    sum += node.has_value() && used[*node] ? 0 : 1;
  }
  return sum;
}

// For another reason than a cordon, and than what a tenant may write.
absl::btree_set<NameId> UnkeptNodes(Plan& plan) {
  absl::btree_set<NameId> unkept;
  for (const auto& [victim, why] : ChooseVictims(plan)) {
    unkept.insert(victim.second);
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!set.problems.empty()) continue;
    absl::btree_set<NameId> nodes;
    for (const Row row : set.members) {
      if (plan.phase(row) == Phase::kBound) nodes.insert(plan.node(row));
    }
    for (const NameId node : nodes) {
      const std::optional<v1::Reason> why =
          WhyUnkept(BoundOn(set, node, plan), node, Annotation::kIgnored, plan);
      if (why.has_value() && *why != v1::NODE_CORDONED) unkept.insert(node);
    }
  }
  return unkept;
}

// Whether a node that sets have left serves some class again, or would if it
// were not cordoned.
bool HasReturned(const std::string& name, const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr || node->meta.deleting.has_value() || !IsReady(*node) ||
      !IsKubeVirtReady(*node, snapshot)) {
    return false;
  }
  const NameId id = *snapshot.names.Find(name);
  const auto& classes = snapshot.classes().by_name();
  return std::any_of(classes.begin(), classes.end(), [&](const auto& entry) {
    const GpuClass& found = snapshot.classes()[entry.second];
    std::vector<v1::ReasonDetail> reasons;
    JudgeClass(*node, found, reasons);
    const NameId resource = *snapshot.names.Find(found.resource_name);
    return reasons.empty() && plan.books().Use(id, resource).served;
  });
}

// Whether a node that has stopped keeping sets counts for a mass loss.
bool Counts(const UnkeptNode& node, const Plan& plan) {
  return node.held || (!node.confirmed && node.since > plan.now() - kAtOnce);
}

}  // namespace

void JudgeMassLoss(Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  std::vector<std::string> names;
  int64_t at_once = 0;
  for (const NameId node : UnkeptNodes(plan)) {
    const std::string& name = snapshot.names.Text(node);
    names.push_back(name);
    auto known = snapshot.unkept_nodes.find(name);
    const bool counts =
        known == snapshot.unkept_nodes.end() || Counts(known->second, plan);
    at_once += counts ? 1 : 0;
  }
  std::sort(names.begin(), names.end());
  // Those that sets have left already: nodes may be lost one after another.
  std::vector<std::string> left;
  for (const auto& [name, node] : snapshot.unkept_nodes) {
    if (!node.left || !Counts(node, plan) || HasReturned(name, plan) ||
        std::binary_search(names.begin(), names.end(), name)) {
      continue;
    }
    left.push_back(name);
  }
  at_once += static_cast<int64_t>(left.size());
  const bool too_many = at_once >= kFewestNodes &&
                        at_once * 100 > plan.config().mass_loss_threshold *
                                            NodesInUse(left, snapshot);
  names.insert(names.end(), left.begin(), left.end());
  std::sort(names.begin(), names.end());
  plan.SetUnkeptNodes(std::move(names),
                      too_many ? MassLoss::kYes : MassLoss::kNo);
}

}  // namespace gpubinder
