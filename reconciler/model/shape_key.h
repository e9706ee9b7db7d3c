// What tells one shape of demands from another.

#ifndef RECONCILER_MODEL_SHAPE_KEY_H_
#define RECONCILER_MODEL_SHAPE_KEY_H_

#include <string>
#include <vector>

#include "reconciler/model/demand.h"
#include "reconciler/model/node_facts.h"

namespace gpubinder {

// A text that is equal for demands to which every node gives the same answer,
// as far as it does not depend on the sets that ask: their claims, their pods
// and the nodes that refused them. It holds from pass to pass, as long as no
// class changes.
std::string ShapeKey(const Demand& demand, const Snapshot& snapshot);

// The labels that the demand asks for, sorted, each once.
std::vector<LabelKey> LabelsAsked(const Demand& demand,
                                  const Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SHAPE_KEY_H_
