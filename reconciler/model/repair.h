// Making one set whole again (rule S2).

#ifndef RECONCILER_MODEL_REPAIR_H_
#define RECONCILER_MODEL_REPAIR_H_

#include "reconciler/model/plan.h"

namespace gpubinder {

// Gathers the set's Bound and Lost members when it is partly Lost or split,
// whoever else might; a set that is neither is left alone. Pending members
// are left alone too. Sets the verdict when it goes Lost.
void RepairSet(size_t set, Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_REPAIR_H_
