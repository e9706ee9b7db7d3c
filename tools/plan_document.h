// The document of `gpubinder plan -o json`: README.md describes its fields.

#ifndef TOOLS_PLAN_DOCUMENT_H_
#define TOOLS_PLAN_DOCUMENT_H_

#include "nlohmann/json_fwd.hpp"
#include "tools/plan_run.h"

namespace gpubinder {

// O(objects + sets x nodes).
nlohmann::ordered_json PlanDocument(const PlanRun& run);

// Whether a set has a member without a place, or a launcher at the gate.
bool AnySetWaits(const PlanRun& run);

}  // namespace gpubinder

#endif  // TOOLS_PLAN_DOCUMENT_H_
