// Which pod is a VMI's launcher, and how far it has come.
//
// A pod is a VMI's launcher only when the VMI lists the pod's uid in
// status.activePods (rule C5): whoever creates a pod sets its owner reference
// and labels. Both are in one namespace.

#ifndef RECONCILER_MODEL_LAUNCHER_H_
#define RECONCILER_MODEL_LAUNCHER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/table.h"

namespace gpubinder {

struct Snapshot;

enum class LauncherState : uint8_t {
  kNone,
  kGated,   // still holds our gate
  kPinned,  // ungated with our requirement in place, or already on a node
  kLoose,   // ungated by somebody else, with neither: reported, not touched
};

struct Launcher {
  LauncherState state = LauncherState::kNone;
  std::optional<Row> pod;
  std::string node;  // of a pinned one
  bool pinned_by_us = false;
};

// The launcher of a live VMI: the pinned one that has not ended, on the VMI's
// own node first, else the oldest gated one. O(its active pods).
Launcher FindLauncher(const VirtualMachineInstance& vmi,
                      const Snapshot& snapshot);

// Phase Succeeded or Failed.
bool HasEnded(const Pod& pod);
bool HasEnded(const VirtualMachineInstance& vmi);

// Listed, its node not the VMI's own: the target of a migration, or the pod
// that one has left behind. A VMI that has no node yet migrates nowhere,
// whatever the labels of its pods say.
bool IsBeside(const Pod& pod, const VirtualMachineInstance& vmi);
// Of the two the target, by the migration label.
bool IsMigrationTarget(const Pod& pod, const VirtualMachineInstance& vmi);

// A pod that holds units of its node: it has one and has not ended.
struct PodOnNode {
  Row pod = 0;
  std::optional<Row> vmi;  // that lists it; of several the first by name
};

// Those of the namespace, in the order of their names. O(its pods and VMIs x
// log).
std::vector<PodOnNode> PodsOnNodes(absl::string_view name_space,
                                   const Snapshot& snapshot);

bool HasGate(const Pod& pod);
// The first gate that is not ours, or null.
const std::string* ForeignGate(const Pod& pod);

// The one x for which `metadata.name In [x]` stands in every non-empty
// required term; empty when there is none.
std::string PinnedNode(const Pod& pod);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_LAUNCHER_H_
