// What a pass says of each set and claim in the end.

#ifndef RECONCILER_MODEL_VERDICT_H_
#define RECONCILER_MODEL_VERDICT_H_

#include <optional>
#include <vector>

#include "reconciler/model/explanation.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// The verdict of the step that looked at the set, or what its state says.
// Nothing while its template claims are being made or a part of it was placed
// and the rest was not looked at: the next pass says more.
std::optional<Verdict> FinalVerdict(size_t set, const Plan& plan);

// The verdict on a set that is not looked at for its problems, which are told
// in the order of the closed list. There is at least one.
Verdict Misconfigured(std::vector<v1::ReasonDetail> problems);

// Of a Bound claim: Placed, or ClassNotFound when its class has gone, or
// MalformedObject.
Verdict BoundVerdict(Row claim, const Plan& plan);

// Whether this condition Bound of a Lost claim (null: none) says why it was
// lost.
bool SaysLoss(const Condition* bound);

// The node on which all members stand, with what the pass has decided.
std::optional<NameId> StandsWhole(const ClaimSet& set, const Plan& plan);

// Whether its launcher was pinned to a node that was cordoned then (G5), and
// is: it is not scheduled, and waits there, whatever the scheduler says.
bool WaitsOutCordon(const ClaimSet& set, const Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_VERDICT_H_
