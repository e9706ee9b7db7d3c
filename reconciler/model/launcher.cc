#include "reconciler/model/launcher.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

// The name that a term's matchFields pin to; empty for none or several.
std::string TermNode(const SelectorTerm& term) {
  std::string node;
  for (const Requirement& field : term.fields) {
    if (field.key != "metadata.name" || field.op != "In" ||
        field.values.size() != 1) {
      continue;
    }
    if (!node.empty() && node != field.values[0]) return "";
    node = field.values[0];
  }
  return node;
}

Launcher Describe(Row row, const Pod& pod) {
  Launcher launcher{.pod = row};
  if (HasGate(pod)) {
    launcher.state = LauncherState::kGated;
    return launcher;
  }
  const std::string pin = PinnedNode(pod);
  launcher.pinned_by_us = !pin.empty();
  launcher.node = pod.node_name.empty() ? pin : pod.node_name;
  launcher.state =
      launcher.node.empty() ? LauncherState::kLoose : LauncherState::kPinned;
  return launcher;
}

// Pinned before gated before loose, and first of all on the VMI's node: after a
// migration the old pod may linger. Then the older, then by name.
bool ComesBefore(const Launcher& a, const Launcher& b,
                 const VirtualMachineInstance& vmi, const Table<Pod>& pods) {
  auto rank = [&](const Launcher& launcher) {
    switch (launcher.state) {
      case LauncherState::kPinned:
        return launcher.node == vmi.node_name ? 0 : 1;
      case LauncherState::kGated:
        return 2;
      default:
        return 3;
    }
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  const ObjectMeta& left = pods[*a.pod].meta;
  const ObjectMeta& right = pods[*b.pod].meta;
  if (left.created != right.created) return left.created < right.created;
  return left.name < right.name;
}

}  // namespace

bool HasEnded(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

bool HasEnded(const VirtualMachineInstance& vmi) {
  return vmi.phase == "Succeeded" || vmi.phase == "Failed";
}

bool IsBeside(const Pod& pod, const VirtualMachineInstance& vmi) {
  return !vmi.node_name.empty() && pod.node_name != vmi.node_name;
}

bool IsMigrationTarget(const Pod& pod, const VirtualMachineInstance& vmi) {
  return IsBeside(pod, vmi) && pod.meta.labels.contains(kMigrationLabel);
}

// The lists are read anew and not noted by the fold: a namespace is counted as
// a whole, and `listed_by` has who has ever listed a pod, the last of several.
std::vector<PodOnNode> PodsOnNodes(absl::string_view name_space,
                                   const Snapshot& snapshot) {
  absl::btree_map<absl::string_view, Row> listing;  // by pod uid
  snapshot.vmis().ForEachIn(name_space, [&](Row row) {
    for (const auto& [uid, node] : snapshot.vmis()[row].active_pods) {
      listing.emplace(uid, row);
    }
  });
  std::vector<PodOnNode> pods;
  snapshot.pods().ForEachIn(name_space, [&](Row row) {
    const Pod& pod = snapshot.pods()[row];
    if (pod.node_name.empty() || HasEnded(pod)) return;
    pods.push_back({.pod = row});
    auto found = listing.find(pod.meta.uid);
    if (found != listing.end()) pods.back().vmi = found->second;
  });
  return pods;
}

bool HasGate(const Pod& pod) {
  return std::find(pod.gates.begin(), pod.gates.end(), kGate) !=
         pod.gates.end();
}

const std::string* ForeignGate(const Pod& pod) {
  for (const std::string& gate : pod.gates) {
    if (gate != kGate) return &gate;
  }
  return nullptr;
}

std::string PinnedNode(const Pod& pod) {
  if (!pod.required.has_value()) return "";
  std::string node;
  for (const SelectorTerm& term : pod.required->terms) {
    if (term.empty()) continue;
    const std::string pinned = TermNode(term);
    if (pinned.empty() || (!node.empty() && node != pinned)) return "";
    node = pinned;
  }
  return node;
}

Launcher FindLauncher(const VirtualMachineInstance& vmi,
                      const Snapshot& snapshot) {
  Launcher best;
  for (const auto& [uid, node] : vmi.active_pods) {
    const std::optional<Row> row = snapshot.pods().FindUid(uid);
    if (!row.has_value()) continue;
    const Pod& pod = snapshot.pods()[*row];
    if (pod.meta.name_space != vmi.meta.name_space || HasEnded(pod) ||
        IsMigrationTarget(pod, vmi)) {
      continue;
    }
    Launcher launcher = Describe(*row, pod);
    // A waiting pod that is being deleted goes at once; it starts nothing.
    if (launcher.state != LauncherState::kPinned &&
        pod.meta.deleting.has_value()) {
      continue;
    }
    if (!best.pod.has_value() ||
        ComesBefore(launcher, best, vmi, snapshot.pods())) {
      best = std::move(launcher);
    }
  }
  return best;
}

}  // namespace gpubinder
