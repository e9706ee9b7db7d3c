// The document of `gpubinder plan` for people.

#ifndef TOOLS_PLAN_TABLE_H_
#define TOOLS_PLAN_TABLE_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/text_table.h"

namespace gpubinder {

// `plan` is what PlanDocument made.
std::string PlanTable(const nlohmann::ordered_json& plan, TextStyle style);

}  // namespace gpubinder

#endif  // TOOLS_PLAN_TABLE_H_
