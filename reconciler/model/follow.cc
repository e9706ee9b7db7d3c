#include <vector>

#include "reconciler/model/launcher.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

// Whether a listed pod that has not ended is still on another node than the
// VMI's: the migration is not over.
bool StillMigrating(const VirtualMachineInstance& vmi,
                    const Snapshot& snapshot) {
  for (const auto& [uid, node] : vmi.active_pods) {
    const std::optional<Row> row = snapshot.pods().FindUid(uid);
    if (!row.has_value()) continue;
    const Pod& pod = snapshot.pods()[*row];
    if (!HasEnded(pod) && pod.node_name != vmi.node_name) return true;
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
        StillMigrating(vmi, plan.snapshot())) {
      continue;
    }
    const std::optional<NameId> node =
        plan.snapshot().names.Find(vmi.node_name);
    if (!node.has_value()) continue;
    // The rest of the set follows by later passes.
    std::vector<Row> elsewhere;
    for (const Row row : set.members) {
      if (plan.phase(row) == Phase::kBound && plan.node(row) != *node) {
        elsewhere.push_back(row);
      }
    }
    if (!elsewhere.empty()) plan.PlaceMembers(i, elsewhere, *node);
  }
}

}  // namespace gpubinder
