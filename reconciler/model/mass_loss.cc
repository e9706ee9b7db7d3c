#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/victims.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kAtOnce = absl::Minutes(10);
constexpr int64_t kFewestNodes = 3;

int64_t NodesWithBookings(const Snapshot& snapshot) {
  int64_t sum = 0;
  std::vector<bool> seen(snapshot.names.size());
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < snapshot.claims().end(); ++row) {
    if (columns.phase[row] != Phase::kBound || seen[columns.node[row]]) {
      continue;
    }
    seen[columns.node[row]] = true;
    ++sum;
  }
  return sum;
}

// For another reason than a cordon.
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
      const std::optional<v1::Reason> why = WhyUnkept(set, node, plan);
      if (why.has_value() && *why != v1::NODE_CORDONED) unkept.insert(node);
    }
  }
  return unkept;
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
    const bool counts = known == snapshot.unkept_nodes.end() ||
                        known->second.held ||
                        (!known->second.confirmed &&
                         known->second.since > plan.now() - kAtOnce);
    at_once += counts ? 1 : 0;
  }
  std::sort(names.begin(), names.end());
  const bool too_many = at_once >= kFewestNodes &&
                        at_once * 100 > plan.config().mass_loss_threshold *
                                            NodesWithBookings(snapshot);
  plan.SetUnkeptNodes(std::move(names),
                      too_many ? MassLoss::kYes : MassLoss::kNo);
}

}  // namespace gpubinder
