// How the fold follows what is booked on a node and what the node has: since
// when there is too little (rule N6). Included by fold_objects.cc alone.

#ifndef RECONCILER_MODEL_FOLD_CAPACITY_H_
#define RECONCILER_MODEL_FOLD_CAPACITY_H_

#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Counts the claim of that row as its columns now say. Called after they
// changed, also before the claim goes.
void RecountClaim(Row claim, absl::Time at, Snapshot& snapshot);

// Counts the claim for the class that it names now; kNoName: it goes.
void RecountClassUse(Row claim, NameId class_name, Snapshot& snapshot);

// Called after a class was stored or is about to go: claims without a resource
// of their own are counted under what their class has now. `resource` is
// empty for a class that goes.
void RecountClass(NameId class_name, absl::string_view resource, absl::Time at,
                  Snapshot& snapshot);

// Called after the node's columns changed. `before` is what it had; null: it
// was not there.
void CompareNode(Row node, const std::vector<NodeResource>* before,
                 absl::Time at, Snapshot& snapshot);

// Called before the node goes: one that comes back starts anew.
void ForgetNode(const std::string& node, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_CAPACITY_H_
