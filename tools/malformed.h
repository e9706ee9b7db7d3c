// What is wrong with the objects of a snapshot, field by field: fields of a
// wrong type, and quantities that nobody can use.

#ifndef TOOLS_MALFORMED_H_
#define TOOLS_MALFORMED_H_

#include <string>
#include <vector>

#include "reconciler/model/budget.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

struct MalformedField {
  std::string kind, name_space, name, field, message;
  auto operator<=>(const MalformedField&) const = default;
};

// Sorted by kind, namespace, name and field. `budgets` are the quotas'
// problems. O(objects).
std::vector<MalformedField> MalformedFields(
    const Snapshot& snapshot, const std::vector<BudgetProblem>& budgets);

}  // namespace gpubinder

#endif  // TOOLS_MALFORMED_H_
