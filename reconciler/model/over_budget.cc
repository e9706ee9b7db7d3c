#include "reconciler/model/over_budget.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {
namespace {

using UnitsByName = absl::btree_map<std::string, int64_t>;

void AddUnits(const std::string& class_name, int64_t units, const Plan& plan,
              UnitsByName& keys, UnitsByName& resources) {
  int64_t& of_class = keys[ClassBudgetKey(class_name)];
  of_class = SaturatingAdd(of_class, units);
  const GpuClass* found = plan.snapshot().classes().Find("", class_name);
  if (found == nullptr) return;
  int64_t& of_resource = resources[found->resource_name];
  of_resource = SaturatingAdd(of_resource, units);
}

}  // namespace

std::vector<v1::ReasonDetail> OverBudget(const ClaimSet& set,
                                         const Plan& plan) {
  UnitsByName keys, resources;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kPending) continue;
    AddUnits(plan.claim(row).class_name, plan.claim(row).units, plan, keys,
             resources);
  }
  for (const MissingTemplate& missing : set.missing) {
    AddUnits(missing.class_name, missing.units, plan, keys, resources);
  }
  // What the VM's pods already count is no use that binding adds.
  for (const auto& [resource, units] : resources) {
    const int64_t counted = set.vmi.has_value()
                                ? plan.budgets().UncoveredOf(*set.vmi, resource)
                                : 0;
    keys[ResourceBudgetKey(resource)] =
        std::max<int64_t>(0, SaturatingSub(units, counted));
  }
  std::vector<v1::ReasonDetail> over;
  for (const auto& [key, units] : keys) {
    const std::optional<Budget> pool =
        plan.budgets().PoolOf(set.name_space, key);
    if (!pool.has_value() || units <= pool->left()) continue;
    v1::ReasonDetail& detail = over.emplace_back();
    detail.set_reason(v1::OVER_BUDGET);
    detail.set_key(key);
    detail.set_pool(pool->tenant);
    detail.set_used(pool->used);
    detail.set_limit(pool->share());
    detail.set_wanted(units);
  }
  return over;
}

}  // namespace gpubinder
