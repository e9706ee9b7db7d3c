#include "tools/malformed.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/utf8.h"
#include "reconciler/model/config.h"
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

// No field of a wrong type: the object stays what it is for everything else.
void AddAnnotation(Kind kind, const ObjectMeta& meta, absl::string_view place,
                   const ClaimsAnnotation& claims,
                   std::vector<MalformedField>& fields) {
  if (claims.error.empty()) return;
  Add(kind, meta,
      {{absl::StrCat(place, ".annotations[\"", kClaimsKey, "\"]"),
        claims.error}},
      fields);
}

void AddAnnotations(const Snapshot& snapshot,
                    std::vector<MalformedField>& fields) {
  for (const auto& [key, row] : snapshot.vms().by_name()) {
    const VirtualMachine& vm = snapshot.vms()[row];
    AddAnnotation(Kind::kVirtualMachine, vm.meta, "spec.template.metadata",
                  vm.claims, fields);
  }
  for (const auto& [key, row] : snapshot.vmis().by_name()) {
    const VirtualMachineInstance& vmi = snapshot.vmis()[row];
    AddAnnotation(Kind::kVirtualMachineInstance, vmi.meta, "metadata",
                  vmi.claims, fields);
  }
}

// Without a time in it nobody knows since when KubeVirt has been silent.
void AddHeartbeat(const ObjectMeta& node, std::vector<MalformedField>& fields) {
  auto heartbeat = node.annotations.find(kKubeVirtHeartbeat);
  absl::Time told;
  if (heartbeat == node.annotations.end() ||
      absl::ParseTime(absl::RFC3339_full, heartbeat->second, &told, nullptr)) {
    return;
  }
  Add(Kind::kNode, node,
      {{absl::StrCat("metadata.annotations[\"", kKubeVirtHeartbeat, "\"]"),
        absl::StrCat("found \"", Utf8Within(heartbeat->second, 40),
                     "\", want an RFC 3339 time")}},
      fields);
}

void AddNodes(const Snapshot& snapshot, std::vector<MalformedField>& fields) {
  const std::vector<std::string> governed = GovernedResources(snapshot);
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const Node& node = snapshot.nodes()[row];
    AddHeartbeat(node.meta, fields);
    for (const auto& [resource, quantity] : node.allocatable) {
      if (!AllocatableUnits(quantity).malformed) continue;
      // A claim keeps units of a resource whose class has gone.
      if (!IsExtendedResource(resource) &&
          !std::binary_search(governed.begin(), governed.end(), resource)) {
        continue;
      }
      Add(Kind::kNode, node.meta,
          {{absl::StrCat("status.allocatable[\"", resource, "\"]"),
            absl::StrCat("found \"", Utf8Within(quantity, 40),
                         "\", want a quantity from 0 to 2^63-1")}},
          fields);
    }
  }
}

}  // namespace

bool IsUnreadable(const ObjectMeta& meta, absl::string_view field) {
  const std::string path = absl::StrCat(field, ".");
  return std::any_of(meta.problems.begin(), meta.problems.end(),
                     [&](const FieldProblem& problem) {
                       return absl::StartsWith(
                           path, absl::StrCat(problem.field, "."));
                     });
}

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
  AddAnnotations(snapshot, fields);
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
