#include "tools/malformed.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quantity.h"

namespace gpubinder {
namespace {

void Add(Kind kind, const ObjectMeta& meta,
         const std::vector<FieldProblem>& problems,
         std::vector<MalformedField>& fields) {
  for (const FieldProblem& problem : problems) {
    fields.push_back({.kind = std::string(KindName(kind)),
                      .name_space = meta.name_space,
                      .name = meta.name,
                      .field = problem.field,
                      .message = problem.message});
  }
}

template <typename T>
void AddTable(Kind kind, const Table<T>& table,
              std::vector<MalformedField>& fields) {
  for (const auto& [key, row] : table.by_name()) {
    Add(kind, table[row].meta, table[row].meta.problems, fields);
  }
}

void AddNodes(const Snapshot& snapshot, std::vector<MalformedField>& fields) {
  const std::vector<std::string> governed = GovernedResources(snapshot);
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const Node& node = snapshot.nodes()[row];
    for (const std::string& resource : governed) {
      auto found = node.allocatable.find(resource);
      if (found == node.allocatable.end() ||
          !AllocatableUnits(found->second).malformed) {
        continue;
      }
      Add(Kind::kNode, node.meta,
          {{absl::StrCat("status.allocatable[\"", resource, "\"]"),
            absl::StrCat("found \"", found->second.substr(0, 40),
                         "\", want a quantity from 0 to 2^63-1")}},
          fields);
    }
  }
}

}  // namespace

std::vector<MalformedField> MalformedFields(
    const Snapshot& snapshot, const std::vector<BudgetProblem>& budgets) {
  std::vector<MalformedField> fields;
  int kind = 0;
  std::apply(
      [&](const auto&... table) {
        (AddTable(static_cast<Kind>(kind++), table, fields), ...);
      },
      snapshot.tables);
  AddNodes(snapshot, fields);
  for (const auto& [key, row] : snapshot.pods().by_name()) {
    const Pod& pod = snapshot.pods()[row];
    Add(Kind::kPod, pod.meta, ExtendedRequests(pod).problems, fields);
  }
  for (const BudgetProblem& budget : budgets) {
    Add(Kind::kResourceQuota,
        {.name_space = budget.name_space, .name = budget.name},
        {budget.problem}, fields);
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

}  // namespace gpubinder
