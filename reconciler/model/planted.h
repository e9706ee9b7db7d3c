// Bugs that a test-only build (--config=planted) has one at a time, to show
// that the tests notice each; tools/planted.py runs them. In every other build
// Planted() is constexpr false and the code under it is gone.

#ifndef RECONCILER_MODEL_PLANTED_H_
#define RECONCILER_MODEL_PLANTED_H_

#include <utility>
#include <vector>

#include "absl/time/time.h"

// X(name, rule broken, what the bug does); inv: is an invariant of that letter.
#define GPUBINDER_PLANTED_BUGS(X)                                              \
  X(kNoPrecondition, "inv:F4", "writes carry no resourceVersion")              \
  X(kForgetAssumedUnits, "C10", "a binding in flight books nothing")           \
  X(kHashOrderedLoop, "order", "sets are taken in the order of a hash")        \
  X(kRetryAfterTimeout, "C10", "a write of unknown outcome is sent again")     \
  X(kRepairLast, "S2", "sets are made whole at the end of the pass")           \
  X(kDeleteBeforeRejection, "R3", "the pod goes before its rejection is told") \
  X(kWallClock, "inv:R4", "the pass asks the clock, not the journal")          \
  X(kFinalizerWhileOff, "H1", "claims get the finalizer with the feature off") \
  X(kWarningEachPass, "H4", "a set that waits is warned about in each pass")   \
  X(kTieTheOtherWay, "G4, O1", "equal nodes are taken from the last name")     \
  X(kTieByArrival, "order", "sets of one age stay in the order they came")     \
  X(kFreedAtOnce, "C9", "what a move frees is given away in its pass")         \
  X(kCapacityGraceLate, "N6", "capacityGrace ends an instant too late")        \
  X(kRejectionOutlivesNode, "N5", "a node made anew is still rejected")        \
  X(kPinKeepsGate, "G6", "the pin takes no gate off")                          \
  X(kWarningTwice, "H4", "one change is warned about under two numbers")       \
  X(kStatusBeforeWarning, "H4", "the status is written before the Warning")    \
  X(kStaleIndex, "N6", "a settled set is not looked at when its node changes") \
  X(kBudgetForgetsLost, "C4", "Lost claims use no budget")                     \
  X(kOldestVictimFirst, "N7", "the set bound first leaves a short node first") \
  X(kCallBeforeIntention, "M4", "the VMI is ended before endedVMI is written") \
  X(kValveOfOnePass, "M4", "what ends already is not counted by the valve")    \
  X(kOtherReplicasClock, "A1", "the grace of an attachment counts from since") \
  X(kTargetUsesBudget, "C5", "a migration target adds to its budget")          \
  X(kFirstRejectionLapses, "R3", "a new rejection extends no other")           \
  X(kSplitGoesLost, "S2", "a split set that fits nowhere goes Lost")           \
  X(kPinInEmptyTerm, "G6", "the pin goes into empty terms too")

namespace gpubinder {

enum class Bug {
#define GPUBINDER_BUG_NAME(name, rule, text) name,
  GPUBINDER_PLANTED_BUGS(GPUBINDER_BUG_NAME)
#undef GPUBINDER_BUG_NAME
};

// The right order turned round.
template <typename T>
void SwapLastTwo(std::vector<T>& all) {
  if (all.size() > 1) std::swap(all.back(), all.end()[-2]);
}

#ifdef GPUBINDER_PLANTED

// A namespace of its own, for a test that has one file of this build among
// those of a normal one.
inline namespace planted_build {

// Whether it is the bug that the environment variable GPUBINDER_PLANTED_BUG
// names (e.g. WallClock), read once; ends the process on a name that is none.
bool Planted(Bug bug);

// What the clock on the wall says.
absl::Time PlantedTime(absl::Time now);

}  // namespace planted_build

#else

constexpr bool Planted(Bug) { return false; }
constexpr absl::Time PlantedTime(absl::Time now) { return now; }

#endif

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_PLANTED_H_
