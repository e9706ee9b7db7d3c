// A plan for people.

#ifndef TOOLS_PLAN_TABLE_H_
#define TOOLS_PLAN_TABLE_H_

#include <string>

#include "tools/plan_document.h"
#include "tools/plan_run.h"
#include "tools/text_table.h"

namespace gpubinder {

// O(objects).
std::string PlanTable(const PlanRun& run, const PlanDocument& plan,
                      TextStyle style);

}  // namespace gpubinder

#endif  // TOOLS_PLAN_TABLE_H_
