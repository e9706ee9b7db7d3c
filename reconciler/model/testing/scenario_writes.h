// What each write of the binder makes of an object, as the API server and our
// CRDs would have it.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_WRITES_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_WRITES_H_

#include <string>

#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// The object that a creating effect makes, without uid and version.
Object CreatedObject(const v1::Effect& effect, absl::Time now);

// IndexChanges the object as the effect says, or returns why it is refused.
std::string WriteTo(const v1::Effect& effect, Object& object);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_WRITES_H_
