#include "reconciler/model/keep.h"

#include <algorithm>
#include <string>
#include <vector>

#include "proto/check.h"
#include "reconciler/model/choice.h"
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

// Not Ready for longer than the grace, for a set that has no launcher.
bool IsUnavailable(const ClaimSet& set, const Node& node, Plan& plan) {
  if (set.launcher.state != LauncherState::kNone) return false;
  const Snapshot& snapshot = plan.snapshot();
  absl::Time since = absl::InfiniteFuture();
  auto note = [&](const absl::btree_map<std::string, Silence>& silences) {
    auto found = silences.find(node.meta.name);
    if (found == silences.end()) return;
    since = std::min(since, found->second.since());
  };
  if (!IsReady(node)) note(snapshot.not_ready);
  if (!IsKubeVirtReady(node, snapshot)) note(snapshot.kubevirt_silent);
  const absl::Time until = since + plan.config().not_ready_grace;
  if (plan.now() >= until) return true;
  plan.WakeAt(until);
  return false;
}

}  // namespace

ClaimSet BoundPart(const ClaimSet& set, const Plan& plan) {
  return Restricted(set,
                    [&](Row row) { return plan.phase(row) == Phase::kBound; });
}

ClaimSet BoundOn(const ClaimSet& set, NameId node, const Plan& plan) {
  return Restricted(set, [&](Row row) {
    return plan.phase(row) == Phase::kBound && plan.node(row) == node;
  });
}

std::optional<NameId> BoundStand(const ClaimSet& set, const Plan& plan) {
  std::optional<NameId> node;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kBound) continue;
    if (node.has_value() && *node != plan.node(row)) return std::nullopt;
    node = plan.node(row);
  }
  return node;
}

std::optional<v1::Reason> WhyNotKept(const ClaimSet& set, NameId node_name,
                                     Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const std::string& name = snapshot.names.Text(node_name);
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr) return WhyGone(set, name, plan);
  std::vector<const GpuClass*> classes;
  for (const Row row : set.members) {
    classes.push_back(snapshot.classes().Find("", plan.claim(row).class_name));
    BINDER_CHECK(classes.back() != nullptr);  // else a problem of the set
  }
  const bool on_node = set.launcher.pod.has_value() &&
                       !snapshot.pods()[*set.launcher.pod].node_name.empty();
  const TaintScope scope =
      on_node ? TaintScope::kRunning : TaintScope::kScheduling;
  bool stays = false, tainted = false, mismatch = false;
  for (const GpuClass* found : classes) {
    tainted = tainted || FirstUntolerated(node->taints, found->tolerations,
                                          scope) != nullptr;
    mismatch = mismatch || (!on_node && !MatchesLabels(found->node_selector,
                                                       node->meta.labels));
    stays = stays || found->on_cordon == "Stay";
  }
  if (tainted) return v1::NODE_TAINTED;
  if (mismatch) return v1::NODE_MISMATCH;
  if (IsUnavailable(set, *node, plan)) return v1::NODE_UNAVAILABLE;
  if (IsCordoned(*node) && !stays &&
      set.launcher.state != LauncherState::kPinned) {
    return v1::NODE_CORDONED;
  }
  return std::nullopt;
}

std::optional<v1::Reason> WhyUnkept(const ClaimSet& set, NameId node_name,
                                    PodRules pod_rules, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const std::string& name = snapshot.names.Text(node_name);
  const Node* node = snapshot.nodes().Find("", name);
  const bool waits = node != nullptr &&
                     set.launcher.state == LauncherState::kPinned &&
                     set.launcher.node == name &&
                     snapshot.pods()[*set.launcher.pod].node_name.empty();
  if (waits && node->meta.deleting.has_value()) return v1::NODE_GONE;
  const std::optional<v1::Reason> why = WhyNotKept(set, node_name, plan);
  if (why.has_value() || !waits || pod_rules == PodRules::kIgnored) return why;
  Demand demand = MakeDemand(set, snapshot, plan.now());
  // That a scheduling class is not there says nothing of the node.
  demand.missing_scheduling_class.clear();
  if (!MatchesPod(*node, demand)) return v1::NODE_MISMATCH;
  return std::nullopt;
}

}  // namespace gpubinder
