// Building effects: the intended writes to the API. Their closed list and
// their fields are proto/decision.proto; these give an effect its target with
// the precondition that goes with it.

#ifndef RECONCILER_MODEL_EFFECT_H_
#define RECONCILER_MODEL_EFFECT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// A write to an object that is there: it applies to this uid and version
// only. A later write of the same decision to the same object goes out with
// the version that the earlier one's answer gave.
v1::Effect EffectOn(Kind kind, const ObjectMeta& meta);

// The creation of an object that must not be there.
v1::Effect EffectCreating(absl::string_view kind, absl::string_view name_space,
                          absl::string_view name);

// Conditions are written whole: a merge patch replaces a list.
template <typename Write>
void FillConditions(const std::vector<Condition>& conditions, Write& write) {
  for (const Condition& condition : conditions) {
    v1::ConditionEntry& entry = *write.add_conditions();
    entry.set_type(condition.type);
    entry.set_status(condition.status);
    entry.set_reason(condition.reason);
    entry.set_message(condition.message);
    entry.set_observed_generation(condition.observed_generation);
    entry.set_transition_unix_seconds(
        absl::ToUnixSeconds(condition.last_transition));
  }
}

v1::RejectionEntry RejectionProto(const RejectedNode& entry);

// Pins the gated pod to the node and removes our gate, in one update: once
// the gate is gone the API server no longer lets the affinity change. The
// requirement is appended to each non-empty required term (an empty one must
// stay empty), or makes a term of its own where there is none.
v1::PinPod PinTo(absl::string_view node, const Pod& pod,
                 const std::vector<const GpuClass*>& classes);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_EFFECT_H_
