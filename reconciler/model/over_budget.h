// Whether what a set orders is within its tenant's budgets (rule C7).

#ifndef RECONCILER_MODEL_OVER_BUDGET_H_
#define RECONCILER_MODEL_OVER_BUDGET_H_

#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// OverBudget for each key whose pool has less left than binding the set's
// Pending members and missing template claims would add, with what the pass
// has bound so far. What adds nothing under a key needs none of it. Empty: it
// may be bound. O(members x depth of the tenant tree).
std::vector<v1::ReasonDetail> OverBudget(const ClaimSet& set, const Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_OVER_BUDGET_H_
