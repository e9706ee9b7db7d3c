// Whether a node keeps a booked set (rule N6).

#ifndef RECONCILER_MODEL_KEEP_H_
#define RECONCILER_MODEL_KEEP_H_

#include <optional>

#include "proto/decision.pb.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// What a node keeps of the set: its Bound members. Pending ones are left to the
// orders, Lost ones to the repair.
ClaimSet BoundPart(const ClaimSet& set, const Plan& plan);
// Of a split set those of them that are on one node.
ClaimSet BoundOn(const ClaimSet& set, NameId node, const Plan& plan);
// The one node on which all Bound members stand; the rest may be Pending.
std::optional<NameId> BoundStand(const ClaimSet& set, const Plan& plan);

// Why the node does not keep the set, or nothing when it does. Only a cordon
// speaks against it: NodeCordoned, and the caller asks whether another node
// has room. May set the plan's timer, when a grace decides later.
std::optional<v1::Reason> WhyNotKept(const ClaimSet& set, NameId node,
                                     Plan& plan);

// What its pod asks of a node is a tenant's to write, and says nothing of the
// node to others.
enum class PodRules { kCount, kIgnored };

// The same, and for a pinned launcher that has not been scheduled also why its
// node no longer serves the set or no longer matches the pod (M5).
std::optional<v1::Reason> WhyUnkept(const ClaimSet& set, NameId node,
                                    PodRules pod_rules, Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_KEEP_H_
