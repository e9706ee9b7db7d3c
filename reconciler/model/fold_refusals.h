// What the fold remembers of launchers that a kubelet refused (rule R2).
// KubeVirt removes such a pod within a tenth of a second, and pods and VMIs
// are watched apart: either may be seen first. Used by the fold alone.

#ifndef RECONCILER_MODEL_FOLD_REFUSALS_H_
#define RECONCILER_MODEL_FOLD_REFUSALS_H_

#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Remembers the pod if its kubelet has refused it: for the passes, if a VMI
// has listed it. Else it waits to be listed, for as long as that can happen.
// O(log refusals).
void NotePodRefusal(const Pod& pod, absl::Time at, Snapshot& snapshot);

// The VMI lists these pods: what waited for that is for the passes now.
// O(its pods).
void NoteListed(const VirtualMachineInstance& vmi, Snapshot& snapshot);

// The pod, or the VMI, is about to go.
void ForgetPod(const Pod& pod, Snapshot& snapshot);
void ForgetVmi(const VirtualMachineInstance& vmi, Snapshot& snapshot);

// A list of VMIs has ended: what names one that is not there was nobody's
// launcher. O(refusals that wait to be listed).
void ForgetForgedRefusals(Snapshot& snapshot);

// Drops the refusals whose rejection is written and answered for: their VMI
// has gone or is going. Drops those of a migration's target, which is no
// launcher (C5). O(refusals that VMIs have listed), after each record.
void ForgetSettledRefusals(Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_REFUSALS_H_
