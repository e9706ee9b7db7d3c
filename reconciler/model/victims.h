// Who must leave a node that has less than is booked there (rule N7).

#ifndef RECONCILER_MODEL_VICTIMS_H_
#define RECONCILER_MODEL_VICTIMS_H_

#include <utility>

#include "absl/container/btree_map.h"
#include "proto/decision.pb.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// NodeLostCapacity by set and node. Only as many sets as needed, when the
// capacity's grace is over; the plan wakes when it will be. What is on its
// way off the node, by this pass or in flight, is not counted.
// O(claims) when some node is short, else O(1).
using Victims = absl::btree_map<std::pair<size_t, NameId>, v1::ReasonDetail>;
Victims ChooseVictims(Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_VICTIMS_H_
