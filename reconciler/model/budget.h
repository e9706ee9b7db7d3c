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

class Budgets {
 public:
  // O((claims + pods + quotas) x depth of the tenant tree).
  Budgets(const Snapshot& snapshot, const ClaimSets& sets, const Books& books);

  // By tenant, then key.
  std::vector<Budget> All() const;
  // The budget that an order of the tenant falls under; null: unlimited.
  const Budget* PoolOf(absl::string_view tenant, absl::string_view key) const;
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
  void Use(absl::string_view tenant, const std::string& key, int64_t units);

  std::string prefix_;
  absl::btree_map<TenantAndKey, Budget> budgets_;
  std::vector<BudgetProblem> problems_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_BUDGET_H_
