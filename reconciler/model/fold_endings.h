// What the fold keeps of VMIs that were asked to end: the safety valve (M4).

#ifndef RECONCILER_MODEL_FOLD_ENDINGS_H_
#define RECONCILER_MODEL_FOLD_ENDINGS_H_

#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/gpu_objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// The leader has decided `effect`, which may ask for an end.
void NoteEnding(const v1::Effect& effect, absl::Time at, Snapshot& snapshot);

// Called before `before` is changed into `after`; null: it appears. What
// another leader has asked for counts from the record that shows it, so that
// the valve of a replica that takes over has not forgotten; of what the first
// list shows nobody knows when it was asked for.
void NoteEndingSeen(const GpuClaimSet* before, const GpuClaimSet& after,
                    absl::Time at, Snapshot& snapshot);

// Lets go of those that count no more. Called for each decision, by its time.
void ForgetEndings(absl::Time at, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_ENDINGS_H_
