// Which sets a pass need not look at again.
//
// A set is quiet when it stands whole on a node, nothing was decided for it and
// nothing new was said of it, and nothing of it waits for the clock. It stays
// so until an object of its namespace changes, which makes its entry in the
// index a new one. Whether its node still keeps it is asked apart, since nodes
// change on their own.

#ifndef RECONCILER_MODEL_QUIET_H_
#define RECONCILER_MODEL_QUIET_H_

#include <cstddef>

#include "reconciler/model/index.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

enum class Said { kNothingNew, kNews };

// Notes in the index how the pass leaves a set of the plan. `said`: whether
// its explanation is to be recorded. O(members).
void NoteQuiet(size_t set, Said said, const Plan& plan, Snapshot& snapshot);

// Whether the set is quiet and its node keeps it: the node is there, Ready, not
// cordoned, short of nothing, and the set's classes accept it.
// O(1), or O(members) where they are of several classes; and, for a node or
// class that has not been asked for since it changed, what judging the node
// costs.
bool HasSettled(Slot slot, Snapshot& snapshot);

// Which classes the node keeps is asked anew. O(keepers).
void ForgetKept(NameId node, PassIndex& index);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_QUIET_H_
