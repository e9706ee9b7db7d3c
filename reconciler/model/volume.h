// Whether a node reaches a set's volumes (rule N4).

#ifndef RECONCILER_MODEL_VOLUME_H_
#define RECONCILER_MODEL_VOLUME_H_

#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Adds VolumeNotReachable for each volume the node does not reach. An unbound
// PVC does not restrict; one that does not exist, or that is bound to a volume
// that does not or that belongs to another PVC, is reached by no node.
void JudgeVolumes(const Node& node, const Demand& demand,
                  const Snapshot& snapshot,
                  std::vector<v1::ReasonDetail>& reasons);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_VOLUME_H_
