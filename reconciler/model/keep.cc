#include "reconciler/model/keep.h"

#include <algorithm>

#include "reconciler/model/filter.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/taint.h"

namespace gpubinder {
namespace {

std::optional<v1::Reason> WhyGone(const ClaimSet& set, const std::string& node,
                                  Plan& plan) {
  // Nodes are registered anew within seconds, so a set with a launcher waits.
  auto gone = plan.snapshot().gone_since.find(node);
  if (set.launcher.state == LauncherState::kNone ||
      gone == plan.snapshot().gone_since.end()) {
    return v1::NODE_GONE;
  }
  const absl::Time until = gone->second + plan.config().node_gone_grace;
  if (plan.now() >= until) return v1::NODE_GONE;
  plan.WakeAt(until);
  return std::nullopt;
}

}  // namespace

std::optional<v1::Reason> WhyNotKept(const ClaimSet& set, NameId node_name,
                                     Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const std::string& name = snapshot.names.Text(node_name);
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr) return WhyGone(set, name, plan);
  const bool on_node = set.launcher.pod.has_value() &&
                       !snapshot.pods()[*set.launcher.pod].node_name.empty();
  bool stays = false;
  for (const Row row : set.members) {
    const GpuClass* found =
        snapshot.classes().Find("", plan.claim(row).class_name);
    if (found == nullptr) return std::nullopt;  // never moved (C2)
    const TaintScope scope =
        on_node ? TaintScope::kRunning : TaintScope::kScheduling;
    if (FirstUntolerated(node->taints, found->tolerations, scope) != nullptr) {
      return v1::NODE_TAINTED;
    }
    if (!on_node && !MatchesLabels(found->node_selector, node->meta.labels)) {
      return v1::NODE_MISMATCH;
    }
    stays = stays || found->on_cordon == "Stay";
  }
  if (IsCordoned(*node) && !stays &&
      set.launcher.state != LauncherState::kPinned) {
    return v1::NODE_CORDONED;
  }
  return std::nullopt;
}

}  // namespace gpubinder
