// What tenants may order and what they have ordered (2-api.md, "Tenants and
// budgets"; rule C4).
//
// A budget is an entry of a ResourceQuota under a GPU key: for a class or for
// a resource. Its pool is the tenant that has it with all descendants that
// have not; what the nearest descendants have is carved out of it.

#ifndef RECONCILER_MODEL_BUDGET_H_
#define RECONCILER_MODEL_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/object_parts.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

struct Budget {
  std::string tenant, key;
  int64_t limit = 0;       // as the quota says, before carve-outs
  int64_t carved_out = 0;  // the budgets of the nearest descendants
  int64_t used = 0;        // by the whole pool

  // What the pool may use: never below 0.
  int64_t share() const;
  // What may still be ordered: never below 0.
  int64_t left() const;
};

// A quota's entry that cannot be read and counts as 0.
struct BudgetProblem {
  std::string name_space, name;  // of the ResourceQuota
  FieldProblem problem;
};

// "requests.gpu.cozystack.io/h100" and "requests.nvidia.com/H100".
std::string ClassBudgetKey(absl::string_view class_name);
std::string ResourceBudgetKey(absl::string_view resource);

// Units that are to be bound, in one tenant.
struct BudgetOrder {
  std::string tenant, class_name;
  std::string resource;    // empty: the class has gone
  std::optional<Row> vmi;  // whose pods may count these units already
  int64_t units = 0;
};

class Budgets {
 public:
  // Bindings in flight count as bound (C10).
  // O((claims + pods + quotas) x depth of the tenant tree); O(quotas) where
  // none has a GPU key.
  Budgets(const Snapshot& snapshot, const ClaimSets& sets, const Books& books);

  // By tenant, then key.
  std::vector<Budget> All() const;
  // The budget that an order of the tenant falls under; null: unlimited.
  const Budget* PoolOf(absl::string_view tenant, absl::string_view key) const;
  // Raw units of the VMI's pods that no claim of it covers: a claim that is
  // bound covers them, so these add nothing to use.
  int64_t UncoveredOf(Row vmi, const std::string& resource) const;
  // Uses the units up for all that is asked later (C9).
  void Assume(const BudgetOrder& order);
  // By namespace and name of the quota.
  const std::vector<BudgetProblem>& problems() const { return problems_; }

 private:
  using TenantAndKey = std::pair<std::string, std::string>;

  void ReadQuotas(const Snapshot& snapshot);
  void ReadQuota(const ResourceQuota& quota,
                 const absl::btree_set<std::string>& governed);
  void SetLimit(const std::string& tenant, const std::string& key,
                int64_t limit);
  void CarveOut();
  void CountClaims(const Snapshot& snapshot, const Books& books);
  void CountPods(const Snapshot& snapshot, const ClaimSets& sets,
                 const Books& books);
  void CountInFlight(const Snapshot& snapshot, const ClaimSets& sets);
  void Use(absl::string_view tenant, const std::string& key, int64_t units);

  std::string prefix_;
  absl::btree_map<std::pair<Row, std::string>, int64_t> uncovered_;
  absl::btree_map<TenantAndKey, Budget> budgets_;
  std::vector<BudgetProblem> problems_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_BUDGET_H_
