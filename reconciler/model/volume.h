// Whether a node reaches a set's volumes (rule N4).

#ifndef RECONCILER_MODEL_VOLUME_H_
#define RECONCILER_MODEL_VOLUME_H_

#include <string>
#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Where the volume of a PVC is reached.
struct VolumeReach {
  bool everywhere = false;
  const NodeSelector* nodes = nullptr;  // else: where this holds; null: nowhere
};

// An unbound PVC does not restrict; one that does not exist, or that is bound
// to a volume that does not or that belongs to another PVC, is reached by no
// node.
VolumeReach ReachOf(const std::string& name_space, const std::string& claim,
                    const Snapshot& snapshot);

// Adds VolumeNotReachable for each volume the node does not reach.
void JudgeVolumes(const Node& node, const Demand& demand,
                  const Snapshot& snapshot,
                  std::vector<v1::ReasonDetail>& reasons);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_VOLUME_H_
