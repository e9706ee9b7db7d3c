// May this set run on this node, and if not, all the reasons why not
// (rules N1 to N5 and C8).

#ifndef RECONCILER_MODEL_FILTER_H_
#define RECONCILER_MODEL_FILTER_H_

#include <vector>

#include "proto/decision.pb.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Whether the node serves the classes (N1, N2), accepts the pod (N3), reaches
// its volumes (N4), has not refused it (N5) and has room for the whole set
// (C8). Empty: it fits. O(classes x taints + selector terms + needs).
std::vector<v1::ReasonDetail> JudgeNode(Row node, const Demand& demand,
                                        const Snapshot& snapshot,
                                        const Books& books);

// The larger of the set's units and what its pod asks for beyond the set's
// claims there that are being deleted (C8).
int64_t WantedUnits(NameId node, const Demand::Need& need,
                    const Demand& demand);

// Whether a node of which so much is used has so many units left (C8).
bool HasUnits(const NodeUse& use, int64_t wanted);

// Only whether there is room for the whole set (C8): all that is asked of the
// node which the set's own pod already has.
bool HasRoom(NameId node, const Demand& demand, const Books& books);

// The reasons by which a node does not serve one class (N1), units aside.
void JudgeClass(const Node& node, const GpuClass& found,
                std::vector<v1::ReasonDetail>& reasons);

// Whether the node has what the set's pod asks for (N3), KubeVirt's label of
// readiness aside.
bool MatchesPod(const Node& node, const Demand& demand);

// Whether the node serves the class (N1).
bool ServesClass(Row node, const GpuClass& found, const Snapshot& snapshot,
                 const Books& books);

// Ready True, whatever taint lingers beside it (N8).
bool IsReady(const Node& node);
// By spec.unschedulable or the taint.
bool IsCordoned(const Node& node);
// KubeVirt's own label, once its kinds are served.
bool IsKubeVirtReady(const Node& node, const Snapshot& snapshot);

// Free units of the set's resources after placing it on the node, summed.
int64_t FreeAfter(Row node, const Demand& demand, const Snapshot& snapshot,
                  const Books& books);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FILTER_H_
