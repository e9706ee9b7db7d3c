// Effects and explanations as a scenario shows them: one line each, the
// write's or the reason's name first.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_PRINT_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_PRINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/pass.h"

namespace gpubinder {

// "BindClaim t/x -> node-a". Times are printed as what lies between them and
// `now`.
std::string EffectText(const v1::Effect& effect, absl::Time now);

// The set's reason and message, then each group of nodes with its reasons.
std::vector<std::string> ViewText(const SetView& view);

// The fields that a scenario may want to see.
std::string ObjectText(const Object& object, absl::Time now);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_PRINT_H_
