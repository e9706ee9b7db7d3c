// What stops the start of a gated VM before any node is looked at.

#ifndef RECONCILER_MODEL_START_PROBLEMS_H_
#define RECONCILER_MODEL_START_PROBLEMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// Every misconfiguration of the set, its pod and its namespace, and a pin that
// the API refused for good. `demand` is the whole set's. Empty: nodes decide.
std::vector<v1::ReasonDetail> StartProblems(const ClaimSet& set,
                                            const Demand& demand,
                                            const Plan& plan);

// InvalidClaims: so many units of the resource does the pod ask for, and so
// many do its claims order (C8).
v1::ReasonDetail AsksForLess(const Pod& pod, const std::string& resource,
                             int64_t pod_units, int64_t ordered);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_START_PROBLEMS_H_
