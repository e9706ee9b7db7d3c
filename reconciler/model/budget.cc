#include "reconciler/model/budget.h"

#include <algorithm>

#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/utf8.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/tenant.h"

namespace gpubinder {
namespace {

using Keys = absl::btree_set<std::string>;

constexpr char kClassKeyPrefix[] = "requests.gpu.cozystack.io/";
// Of quotas that another controller derives from the tenant's own.
constexpr char kDerivedLabel[] = "quota.cozystack.io/managed-by";

// Whether the key is one of ours: of any class, also of one that is not
// there, or of a resource that the binder governs.
bool IsGpuKey(absl::string_view key, const Keys& governed) {
  return absl::StartsWith(key, kClassKeyPrefix) || governed.contains(key);
}

// The key that a decoding problem of spec.hard is about; empty: another field.
std::string KeyOfProblem(const FieldProblem& problem, const Keys& governed) {
  absl::string_view key = problem.field;
  const bool in_brackets = absl::ConsumePrefix(&key, "spec.hard[\"") &&
                           absl::ConsumeSuffix(&key, "\"]");
  return in_brackets && IsGpuKey(key, governed) ? std::string(key) : "";
}

const BudgetKey* FindPool(absl::string_view tenant, absl::string_view key,
                          const Snapshot& snapshot) {
  BudgetKey place{.key = std::string(key)};
  for (place.tenant = std::string(tenant); !place.tenant.empty();
       place.tenant =
           ParentTenant(place.tenant, snapshot.config.tenant_prefix)) {
    auto found = snapshot.index.pools.find(place);
    if (found != snapshot.index.pools.end()) return &found->first;
  }
  return nullptr;
}

// Reads the quotas into pools that nobody uses yet.
class QuotaReader {
 public:
  explicit QuotaReader(Snapshot& snapshot) : snapshot_(snapshot) {}

  void Read() {
    snapshot_.index.pools.clear();
    snapshot_.index.quota_problems.clear();
    Keys governed;
    for (const std::string& resource : GovernedResources(snapshot_)) {
      if (!resource.empty()) governed.insert(ResourceBudgetKey(resource));
    }
    const Table<ResourceQuota>& quotas = snapshot_.Of<ResourceQuota>();
    for (const auto& [key, row] : quotas.by_name()) {
      if (!quotas[row].meta.labels.contains(kDerivedLabel)) {
        ReadQuota(quotas[row], governed);
      }
    }
    CarveOut();
  }

 private:
  void ReadQuota(const ResourceQuota& quota, const Keys& governed) {
    for (const auto& [key, quantity] : quota.hard) {
      if (!IsGpuKey(key, governed)) continue;
      const Units units = BudgetUnits(quantity);
      SetLimit(quota.meta.name_space, key, units.value);
      if (!units.malformed) continue;
      snapshot_.index.quota_problems.push_back(
          {.name_space = quota.meta.name_space,
           .name = quota.meta.name,
           .problem = {absl::StrCat("spec.hard[\"", key, "\"]"),
                       absl::StrCat("found \"", Utf8Within(quantity, 40),
                                    "\", want a quantity of 0 or more")}});
    }
    // A value that is no quantity at all: 0 too, or a typing slip would lift
    // the budget.
    for (const FieldProblem& problem : quota.meta.problems) {
      const std::string key = KeyOfProblem(problem, governed);
      if (!key.empty()) SetLimit(quota.meta.name_space, key, 0);
    }
  }

  // The least of several quotas counts.
  void SetLimit(const std::string& tenant, const std::string& key,
                int64_t limit) {
    auto [place, is_new] = snapshot_.index.pools.try_emplace(
        BudgetKey{.tenant = tenant, .key = key}, Pool{.limit = limit});
    place->second.limit = std::min(place->second.limit, limit);
  }

  void CarveOut() {
    for (const auto& [place, pool] : snapshot_.index.pools) {
      const BudgetKey* above =
          FindPool(ParentTenant(place.tenant, snapshot_.config.tenant_prefix),
                   place.key, snapshot_);
      if (above == nullptr) continue;
      int64_t& carved = snapshot_.index.pools.at(*above).carved_out;
      carved = SaturatingAdd(carved, pool.limit);
    }
  }

  Snapshot& snapshot_;
};

// Counts what one namespace uses.
class UseCounter {
 public:
  UseCounter(const std::string& name_space, const Snapshot& snapshot)
      : name_space_(name_space), snapshot_(snapshot) {}

  void Count(NamespaceIndex& index) {
    index.budget_use.clear();
    index.uncovered.clear();
    // Its VMI counts once: beside its node are a migration's target, and the
    // pod that is left behind.
    for (const auto& [row, vmi] : PodsOnNodes(name_space_, snapshot_)) {
      const Pod& pod = snapshot_.pods()[row];
      if (vmi.has_value() && !Planted(Bug::kTargetUsesBudget) &&
          IsBeside(pod, snapshot_.vmis()[*vmi])) {
        continue;
      }
      for (const auto& [resource, units] : ExtendedRequests(pod).units) {
        int64_t& sum = vmi.has_value()
                           ? index.uncovered[{*vmi, resource}]
                           : index.budget_use[ResourceBudgetKey(resource)];
        sum = SaturatingAdd(sum, units);
      }
    }
    const ClaimColumns& columns = snapshot_.claim_columns;
    snapshot_.claims().ForEachIn(name_space_, [&](Row row) {
      const Phase phase = columns.phase[row];
      const bool counts = Planted(Bug::kBudgetForgetsLost)
                              ? phase == Phase::kBound
                              : phase != Phase::kPending;
      if (counts) CountClaim(row, index);
    });
    for (const auto& [place, units] : index.uncovered) {
      int64_t& sum = index.budget_use[ResourceBudgetKey(place.second)];
      sum = SaturatingAdd(sum, units);
    }
  }

 private:
  void CountClaim(Row row, NamespaceIndex& index) {
    const int64_t units = snapshot_.claim_columns.units[row];
    const std::string& resource =
        snapshot_.names.Text(ResourceOf(row, snapshot_));
    for (const std::string& key :
         {ClassBudgetKey(snapshot_.claims()[row].class_name),
          ResourceBudgetKey(resource)}) {
      int64_t& sum = index.budget_use[key];
      sum = SaturatingAdd(sum, units);
    }
    const std::optional<Row> vmi = CoveredVmi(row, snapshot_);
    if (!vmi.has_value()) return;
    auto found = index.uncovered.find({*vmi, resource});
    if (found == index.uncovered.end()) return;
    found->second = std::max<int64_t>(0, SaturatingSub(found->second, units));
  }

  const std::string& name_space_;
  const Snapshot& snapshot_;
};

enum class Direction { kIn, kOut };

void Transfer(const std::string& name_space, const NamespaceIndex& use,
              Direction direction, Snapshot& snapshot) {
  PassIndex& index = snapshot.index;
  for (const auto& [key, units] : use.budget_use) {
    const BudgetKey* pool = FindPool(name_space, key, snapshot);
    if (pool == nullptr) continue;
    const absl::int128 change = units;
    index.pools.at(*pool).used +=
        direction == Direction::kIn ? change : -change;
  }
  for (const auto& [place, units] : use.uncovered) {
    if (direction == Direction::kIn) {
      index.uncovered[place] = units;
    } else {
      index.uncovered.erase(place);
    }
  }
}

}  // namespace

int64_t Budget::share() const {
  return std::max<int64_t>(0, SaturatingSub(limit, carved_out));
}

int64_t Budget::left() const {
  return std::max<int64_t>(0, SaturatingSub(share(), used));
}

std::string ClassBudgetKey(absl::string_view class_name) {
  return absl::StrCat(kClassKeyPrefix, class_name);
}

std::string ResourceBudgetKey(absl::string_view resource) {
  return absl::StrCat("requests.", resource);
}

Budgets::Budgets(const Snapshot& snapshot) : snapshot_(snapshot) {
  if (!snapshot.index.pools.empty()) CountInFlight();
}

Budget Budgets::BudgetOf(const BudgetKey& key, const Pool& pool) const {
  auto assumed = assumed_.find(key);
  const int64_t more = assumed == assumed_.end() ? 0 : assumed->second;
  return {.tenant = key.tenant,
          .key = key.key,
          .limit = pool.limit,
          .carved_out = pool.carved_out,
          .used = SaturatingAdd(Clamped(pool.used), more)};
}

std::vector<Budget> Budgets::All() const {
  std::vector<Budget> all;
  for (const auto& [key, pool] : snapshot_.index.pools) {
    all.push_back(BudgetOf(key, pool));
  }
  return all;
}

std::optional<Budget> Budgets::PoolOf(absl::string_view tenant,
                                      absl::string_view key) const {
  const BudgetKey* place = FindPool(tenant, key, snapshot_);
  if (place == nullptr) return std::nullopt;
  return BudgetOf(*place, snapshot_.index.pools.at(*place));
}

void Budgets::Use(absl::string_view tenant, const std::string& key,
                  int64_t units) {
  const BudgetKey* pool = FindPool(tenant, key, snapshot_);
  if (pool == nullptr) return;
  int64_t& assumed = assumed_[*pool];
  assumed = SaturatingAdd(assumed, units);
}

// A Lost claim that is on its way back counts already.
void Budgets::CountInFlight() {
  for (const auto& [id, effect] : snapshot_.in_flight) {
    if (!effect.has_bind_claim()) continue;
    const std::optional<Row> row =
        snapshot_.claims().FindUid(effect.target().uid());
    if (!row.has_value() ||
        snapshot_.claim_columns.phase[*row] != Phase::kPending) {
      continue;
    }
    const GpuClaim& claim = snapshot_.claims()[*row];
    Assume({.tenant = claim.meta.name_space,
            .class_name = claim.class_name,
            .resource = effect.bind_claim().resource_name(),
            .vmi = CoveredVmi(*row, snapshot_),
            .units = snapshot_.claim_columns.units[*row]});
  }
}

int64_t Budgets::UncoveredOf(Row vmi, const std::string& resource) const {
  const std::pair<Row, std::string> place(vmi, resource);
  auto changed = uncovered_.find(place);
  if (changed != uncovered_.end()) return changed->second;
  auto found = snapshot_.index.uncovered.find(place);
  return found == snapshot_.index.uncovered.end() ? 0 : found->second;
}

void Budgets::Assume(const BudgetOrder& order) {
  if (snapshot_.index.pools.empty()) return;
  Use(order.tenant, ClassBudgetKey(order.class_name), order.units);
  int64_t adds = order.units;
  if (order.vmi.has_value()) {
    const int64_t uncovered = UncoveredOf(*order.vmi, order.resource);
    const int64_t covered = std::min(uncovered, order.units);
    if (covered > 0) {
      uncovered_[{*order.vmi, order.resource}] = uncovered - covered;
      adds = SaturatingSub(adds, covered);
    }
  }
  Use(order.tenant, ResourceBudgetKey(order.resource), adds);
}

void RebuildBudgets(Snapshot& snapshot) {
  QuotaReader(snapshot).Read();
  snapshot.index.uncovered.clear();
  for (auto& [name_space, index] : snapshot.index.namespaces) {
    index.budget_use.clear();
    index.uncovered.clear();
    PutInBudgetUse(name_space, snapshot);
  }
}

void TakeOutBudgetUse(const std::string& name_space, Snapshot& snapshot) {
  auto found = snapshot.index.namespaces.find(name_space);
  if (found == snapshot.index.namespaces.end()) return;
  Transfer(name_space, found->second, Direction::kOut, snapshot);
}

void PutInBudgetUse(const std::string& name_space, Snapshot& snapshot) {
  auto found = snapshot.index.namespaces.find(name_space);
  if (found == snapshot.index.namespaces.end() ||
      snapshot.index.pools.empty()) {
    return;
  }
  UseCounter(name_space, snapshot).Count(found->second);
  Transfer(name_space, found->second, Direction::kIn, snapshot);
}

}  // namespace gpubinder
