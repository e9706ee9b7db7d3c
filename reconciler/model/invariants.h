// What must hold of every pass, checked from the objects alone by plain
// loops: the M invariants of the specification that need one snapshot and one
// result. Shares no rule with the pass.

#ifndef RECONCILER_MODEL_INVARIANTS_H_
#define RECONCILER_MODEL_INVARIANTS_H_

#include <string>
#include <vector>

#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// One line for each that does not hold, its letter first ("C2: ..."); empty
// when all do. O(effects x (claims + pods + VMIs)): for tests.
std::vector<std::string> BrokenInvariants(const Snapshot& snapshot,
                                          const PassResult& result);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_INVARIANTS_H_
