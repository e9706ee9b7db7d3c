// What is wrong with the objects of a snapshot, field by field: fields of a
// wrong type, and annotations and quantities that nobody can use.

#ifndef TOOLS_MALFORMED_H_
#define TOOLS_MALFORMED_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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

// Whether the field, or an object that it lies in, is of a wrong type, so that
// the struct has a default instead. O(problems of the object).
bool IsUnreadable(const ObjectMeta& meta, absl::string_view field);

}  // namespace gpubinder

#endif  // TOOLS_MALFORMED_H_
