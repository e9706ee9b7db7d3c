#include "reconciler/model/budget.h"

#include <algorithm>

#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/utf8.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/launcher.h"
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

// The VMI that a claim's units count for: of its set, or, for a template claim
// that is in no set any more, the one that owns it.
std::optional<Row> VmiOf(Row claim, const Snapshot& snapshot,
                         const ClaimSets& sets) {
  const uint32_t set = sets.set_of_claim[claim];
  if (set != kNoSet) return sets.sets[set].vmi;
  const std::string* owner = TemplateOwner(snapshot.claims()[claim]);
  return owner == nullptr ? std::nullopt : snapshot.vmis().FindUid(*owner);
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

Budgets::Budgets(const Snapshot& snapshot, const ClaimSets& sets,
                 const Books& books)
    : prefix_(snapshot.config.tenant_prefix) {
  ReadQuotas(snapshot);
  if (budgets_.empty()) return;
  CarveOut();
  CountClaims(snapshot, books);
  CountPods(snapshot, sets, books);
  CountInFlight(snapshot, sets);
}

std::vector<Budget> Budgets::All() const {
  std::vector<Budget> all;
  for (const auto& [key, budget] : budgets_) all.push_back(budget);
  return all;
}

const Budget* Budgets::PoolOf(absl::string_view tenant,
                              absl::string_view key) const {
  for (std::string at(tenant); !at.empty(); at = ParentTenant(at, prefix_)) {
    auto found = budgets_.find(TenantAndKey(at, key));
    if (found != budgets_.end()) return &found->second;
  }
  return nullptr;
}

void Budgets::ReadQuotas(const Snapshot& snapshot) {
  Keys governed;
  for (const std::string& resource : GovernedResources(snapshot)) {
    if (!resource.empty()) governed.insert(ResourceBudgetKey(resource));
  }
  const Table<ResourceQuota>& quotas = snapshot.Of<ResourceQuota>();
  for (const auto& [key, row] : quotas.by_name()) {
    if (!quotas[row].meta.labels.contains(kDerivedLabel)) {
      ReadQuota(quotas[row], governed);
    }
  }
}

void Budgets::ReadQuota(const ResourceQuota& quota, const Keys& governed) {
  for (const auto& [key, quantity] : quota.hard) {
    if (!IsGpuKey(key, governed)) continue;
    const Units units = BudgetUnits(quantity);
    SetLimit(quota.meta.name_space, key, units.value);
    if (!units.malformed) continue;
    problems_.push_back(
        {.name_space = quota.meta.name_space,
         .name = quota.meta.name,
         .problem = {absl::StrCat("spec.hard[\"", key, "\"]"),
                     absl::StrCat("found \"", Utf8Within(quantity, 40),
                                  "\", want a quantity of 0 or more")}});
  }
  // A value that is no quantity at all: 0 too, or a typing slip would lift the
  // budget.
  for (const FieldProblem& problem : quota.meta.problems) {
    const std::string key = KeyOfProblem(problem, governed);
    if (!key.empty()) SetLimit(quota.meta.name_space, key, 0);
  }
}

// The least of several quotas counts.
void Budgets::SetLimit(const std::string& tenant, const std::string& key,
                       int64_t limit) {
  auto [place, is_new] = budgets_.try_emplace(
      TenantAndKey(tenant, key),
      Budget{.tenant = tenant, .key = key, .limit = limit});
  place->second.limit = std::min(place->second.limit, limit);
}

void Budgets::CarveOut() {
  for (const auto& [place, budget] : budgets_) {
    const std::string parent = ParentTenant(budget.tenant, prefix_);
    const Budget* pool = PoolOf(parent, budget.key);
    if (pool == nullptr) continue;
    int64_t& carved = budgets_.at({pool->tenant, pool->key}).carved_out;
    carved = SaturatingAdd(carved, budget.limit);
  }
}

void Budgets::Use(absl::string_view tenant, const std::string& key,
                  int64_t units) {
  const Budget* pool = PoolOf(tenant, key);
  if (pool == nullptr) return;
  int64_t& used = budgets_.at({pool->tenant, pool->key}).used;
  used = SaturatingAdd(used, units);
}

void Budgets::CountClaims(const Snapshot& snapshot, const Books& books) {
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < snapshot.claims().end(); ++row) {
    if (!snapshot.claims().Holds(row) || columns.phase[row] == Phase::kPending)
      continue;
    const GpuClaim& claim = snapshot.claims()[row];
    Use(claim.meta.name_space, ClassBudgetKey(claim.class_name),
        columns.units[row]);
    Use(claim.meta.name_space,
        ResourceBudgetKey(snapshot.names.Text(books.ResourceOf(row))),
        columns.units[row]);
  }
}

// Raw units: what pods on nodes ask for beyond what any Bound or Lost claim of
// their VMI covers, on whatever node. A migration target adds nothing: its
// VMI counts once.
void Budgets::CountPods(const Snapshot& snapshot, const ClaimSets& sets,
                        const Books& books) {
  const Table<Pod>& pods = snapshot.pods();
  for (Row row = 0; row < pods.end(); ++row) {
    if (!pods.Holds(row)) continue;
    const Pod& pod = pods[row];
    if (pod.node_name.empty() || HasEnded(pod)) continue;
    const std::optional<Row> vmi = ListingVmi(pod, snapshot);
    if (vmi.has_value() && IsMigrationTarget(pod, snapshot.vmis()[*vmi])) {
      continue;
    }
    for (const auto& [resource, units] : ExtendedRequests(pod).units) {
      if (vmi.has_value()) {
        int64_t& sum = uncovered_[{*vmi, resource}];
        sum = SaturatingAdd(sum, units);
      } else {
        Use(pod.meta.name_space, ResourceBudgetKey(resource), units);
      }
    }
  }
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < snapshot.claims().end(); ++row) {
    if (!snapshot.claims().Holds(row) || columns.phase[row] == Phase::kPending)
      continue;
    const std::optional<Row> vmi = VmiOf(row, snapshot, sets);
    if (!vmi.has_value()) continue;
    auto found =
        uncovered_.find({*vmi, snapshot.names.Text(books.ResourceOf(row))});
    if (found == uncovered_.end()) continue;
    found->second =
        std::max<int64_t>(0, SaturatingSub(found->second, columns.units[row]));
  }
  for (const auto& [place, units] : uncovered_) {
    Use(snapshot.vmis()[place.first].meta.name_space,
        ResourceBudgetKey(place.second), units);
  }
}

// A Lost claim that is on its way back counts already.
void Budgets::CountInFlight(const Snapshot& snapshot, const ClaimSets& sets) {
  for (const auto& [id, effect] : snapshot.in_flight) {
    if (!effect.has_bind_claim()) continue;
    const std::optional<Row> row =
        snapshot.claims().FindUid(effect.target().uid());
    if (!row.has_value() ||
        snapshot.claim_columns.phase[*row] != Phase::kPending) {
      continue;
    }
    const GpuClaim& claim = snapshot.claims()[*row];
    Assume({.tenant = claim.meta.name_space,
            .class_name = claim.class_name,
            .resource = effect.bind_claim().resource_name(),
            .vmi = VmiOf(*row, snapshot, sets),
            .units = snapshot.claim_columns.units[*row]});
  }
}

int64_t Budgets::UncoveredOf(Row vmi, const std::string& resource) const {
  auto found = uncovered_.find({vmi, resource});
  return found == uncovered_.end() ? 0 : found->second;
}

void Budgets::Assume(const BudgetOrder& order) {
  if (budgets_.empty()) return;
  Use(order.tenant, ClassBudgetKey(order.class_name), order.units);
  int64_t adds = order.units;
  if (order.vmi.has_value()) {
    auto found = uncovered_.find({*order.vmi, order.resource});
    if (found != uncovered_.end()) {
      const int64_t covered = std::min(found->second, order.units);
      found->second = SaturatingSub(found->second, covered);
      adds = SaturatingSub(adds, covered);
    }
  }
  Use(order.tenant, ResourceBudgetKey(order.resource), adds);
}

}  // namespace gpubinder
