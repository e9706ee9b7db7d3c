// What an operator does by hand: a command of the journal, folded like every
// other record. Each has the name of who gave it.
//
//   if (absl::Status s = PrepareByHand(snapshot, command); !s.ok()) return s;
//   *record.mutable_by_hand() = command;  // appended, synced, folded

#ifndef RECONCILER_MODEL_BY_HAND_H_
#define RECONCILER_MODEL_BY_HAND_H_

#include "absl/status/status.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Whether the command can be carried out now; fills in what it leaves open, so
// that the record says all of it. A confirmation is of all nodes of the mass
// loss that stands; one that names nodes has to name just those, so that none
// is confirmed that the operator has not seen. kInvalidArgument: no command,
// or no user or one that is no short text; kFailedPrecondition: no mass loss
// stands, or of other nodes.
absl::Status PrepareByHand(const Snapshot& snapshot, v1::ByHand& command);

// Folds one. What it names and is not there any more is passed over.
Change FoldByHand(const v1::ByHand& command, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_BY_HAND_H_
