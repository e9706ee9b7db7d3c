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

// Those that hold bookings, and those that held some until lately.
int64_t NodesInUse(const UnkeptNodes& unkept, const Snapshot& snapshot) {
  std::vector<bool> used(snapshot.names.size());
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < snapshot.claims().end(); ++row) {
    if (columns.phase[row] == Phase::kBound) used[columns.node[row]] = true;
  }
  int64_t sum = std::count(used.begin(), used.end(), true);
  for (const auto& [name, classes] : unkept) {
    const std::optional<NameId> node = snapshot.names.Find(name);
    sum += node.has_value() && used[*node] ? 0 : 1;
  }
  return sum;
}

// More was booked there than the node had: by a VM that migrated to it, not by
// a loss.
bool IsOverbooked(NameId node, const std::string& resource,
                  const Snapshot& snapshot) {
  return snapshot.shortages.at({snapshot.names.Text(node), resource})
      .overbooked;
}

// For another reason than a cordon, and than what a tenant may write.
UnkeptNodes FindUnkept(Plan& plan) {
  UnkeptNodes unkept;
  auto add = [&](const ClaimSet& part, NameId node) {
    auto& classes = unkept[plan.snapshot().names.Text(node)];
    for (const Row row : part.members) {
      classes.insert(plan.claim(row).class_name);
    }
  };
  for (const auto& [victim, why] : ChooseVictims(plan)) {
    if (IsOverbooked(victim.second, why.resource(), plan.snapshot())) continue;
    add(BoundOn(plan.set(victim.first), victim.second, plan), victim.second);
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!set.problems.empty()) continue;
    absl::btree_set<NameId> nodes;
    for (const Row row : set.members) {
      if (plan.phase(row) == Phase::kBound) nodes.insert(plan.node(row));
    }
    for (const NameId node : nodes) {
      const ClaimSet part = BoundOn(set, node, plan);
      const std::optional<v1::Reason> why =
          WhyUnkept(part, node, PodRules::kIgnored, plan);
      if (why.has_value() && *why != v1::NODE_CORDONED) add(part, node);
    }
  }
  return unkept;
}

// Whether the node serves all that it did not keep, or would if it were not
// cordoned.
bool IsBack(const std::string& name, const UnkeptNode& unkept,
            const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr || node->meta.deleting.has_value() || !IsReady(*node) ||
      !IsKubeVirtReady(*node, snapshot)) {
    return false;
  }
  const NameId id = *snapshot.names.Find(name);
  return std::all_of(
      unkept.classes.begin(), unkept.classes.end(),
      [&](const std::string& class_name) {
        const GpuClass* found = snapshot.classes().Find("", class_name);
        if (found == nullptr) return true;  // nobody asks for it any more
        std::vector<v1::ReasonDetail> reasons;
        JudgeClass(*node, *found, reasons);
        const NameId resource = *snapshot.names.Find(found->resource_name);
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
  UnkeptNodes unkept = FindUnkept(plan);
  int64_t at_once = static_cast<int64_t>(unkept.size());
  // Nodes may be lost one after another, and what was there may be gone.
  for (const auto& [name, node] : snapshot.unkept_nodes) {
    auto found = unkept.find(name);
    if (found != unkept.end()) {
      found->second.insert(node.classes.begin(), node.classes.end());
      at_once -= Counts(node, plan) ? 0 : 1;
    } else if (Counts(node, plan) && !IsBack(name, node, plan)) {
      unkept[name] = node.classes;
      ++at_once;
    }
  }
  const bool too_many = at_once >= kFewestNodes &&
                        at_once * 100 > plan.config().mass_loss_threshold *
                                            NodesInUse(unkept, snapshot);
  plan.SetUnkeptNodes(std::move(unkept),
                      too_many ? MassLoss::kYes : MassLoss::kNo);
}

}  // namespace gpubinder
