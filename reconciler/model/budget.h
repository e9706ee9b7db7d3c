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
#include "absl/strings/string_view.h"
#include "reconciler/model/index.h"
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
  // The snapshot's index is up to date, and both outlive the budgets. Bindings
  // in flight count as bound (C10). O(effects in flight).
  explicit Budgets(const Snapshot& snapshot);

  // By tenant, then key.
  std::vector<Budget> All() const;
  // The budget that an order of the tenant falls under; nothing: unlimited.
  // O(depth of the tenant tree x log).
  std::optional<Budget> PoolOf(absl::string_view tenant,
                               absl::string_view key) const;
  // Raw units of the VMI's pods that no claim of it covers: a claim that is
  // bound covers them, so these add nothing to use.
  int64_t UncoveredOf(Row vmi, const std::string& resource) const;
  // Uses the units up for all that is asked later (C9).
  void Assume(const BudgetOrder& order);

 private:
  void Use(absl::string_view tenant, const std::string& key, int64_t units);
  Budget BudgetOf(const BudgetKey& key, const Pool& pool) const;
  void CountInFlight();

  const Snapshot& snapshot_;
  // What differs from the index.
  absl::btree_map<BudgetKey, int64_t> assumed_;
  absl::btree_map<std::pair<Row, std::string>, int64_t> uncovered_;
};

// How the index keeps the pools (RefreshIndex is the only caller). Raw units
// are what pods on nodes ask for beyond what any Bound or Lost claim of their
// VMI covers, on whatever node.
//
// Reads the quotas and counts all namespaces anew. O(quotas) where none has a
// GPU key, else O(claims + pods) too.
void RebuildBudgets(Snapshot& snapshot);
// Takes what the namespace uses out of its pools, or counts it and puts it in.
// O(claims and pods of the namespace).
void TakeOutBudgetUse(const std::string& name_space, Snapshot& snapshot);
void PutInBudgetUse(const std::string& name_space, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_BUDGET_H_
