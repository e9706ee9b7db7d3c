// What of a set its pinned pod asks for (rules L2 and C8): whoever may write
// labels can call a further claim a running VMI's own.

#ifndef RECONCILER_MODEL_ASKED_FOR_H_
#define RECONCILER_MODEL_ASKED_FOR_H_

#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

struct AskedFor {
  // The set without the Pending members that are more than the pod asks for.
  ClaimSet part;
  // InvalidClaims for each resource that they are of, by its name.
  std::vector<v1::ReasonDetail> beyond;
};

// Of a set with a pinned launcher none of whose members that hold a place or
// have lost it is misconfigured. They count first, and what is being deleted
// on the pod's node until it is gone; then the Pending ones in their order,
// each that still fits in. O(members x containers).
AskedFor WhatPodAsksFor(const ClaimSet& set, const Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_ASKED_FOR_H_
