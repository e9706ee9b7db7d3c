#include <algorithm>
#include <vector>

#include "reconciler/model/launcher.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

bool StandsOn(absl::string_view node, const ClaimSet& set, const Plan& plan) {
  return std::any_of(set.members.begin(), set.members.end(), [&](Row row) {
    return plan.phase(row) == Phase::kBound &&
           plan.snapshot().names.Text(plan.node(row)) == node;
  });
}

// Whether a listed pod that has not ended is still on another node than the
// VMI's: the migration is not over. The target of the next one does not count;
// an old launcher has that label too, but stands where the claims are.
bool StillMigrating(const VirtualMachineInstance& vmi, const ClaimSet& set,
                    const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  for (const auto& [uid, node] : vmi.active_pods) {
    const std::optional<Row> row = snapshot.pods().FindUid(uid);
    if (!row.has_value()) continue;
    const Pod& pod = snapshot.pods()[*row];
    if (HasEnded(pod) || pod.node_name == vmi.node_name) continue;
    if (IsMigrationTarget(pod, vmi) && !StandsOn(pod.node_name, set, plan)) {
      continue;
    }
    return true;
  }
  return false;
}

}  // namespace

// The pod is on the VM's node already, so the claims follow whether there is
// room or not.
void FollowMigrations(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!plan.IsOpen(i) || !set.vmi.has_value() || !set.problems.empty()) {
      continue;
    }
    const VirtualMachineInstance& vmi = plan.snapshot().vmis()[*set.vmi];
    if (vmi.node_name.empty() || set.launcher.node != vmi.node_name ||
        StillMigrating(vmi, set, plan)) {
      continue;
    }
    if (plan.snapshot().nodes().Find("", vmi.node_name) == nullptr) continue;
    const NameId node = *plan.snapshot().names.Find(vmi.node_name);
    // The rest of the set follows by later passes.
    std::vector<Row> elsewhere;
    for (const Row row : set.members) {
      if (plan.phase(row) == Phase::kBound && plan.node(row) != node) {
        elsewhere.push_back(row);
      }
    }
    if (!elsewhere.empty()) plan.PlaceMembers(i, elsewhere, node);
  }
}

}  // namespace gpubinder
