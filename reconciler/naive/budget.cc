// Budgets (C4, C7): use is counted anew for each question, over all claims
// and pods, once as things are and once as they would be.

#include <algorithm>

#include "reconciler/naive/rules.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

constexpr char kClassKey[] = "requests.gpu.cozystack.io/";

// The parent of tenant-a-b is tenant-a, of tenant-a tenant-root.
std::string ParentOf(const World& world, const std::string& name) {
  const std::string& prefix = world.snapshot->config.tenant_prefix;
  if (name.compare(0, prefix.size(), prefix) != 0) return "";
  if (name == prefix + "root") return "";
  const size_t dash = name.rfind('-');
  return dash < prefix.size() ? prefix + "root" : name.substr(0, dash);
}

// The least that quotas of the namespace say under the key.
std::optional<int64_t> BudgetOf(const World& world, const std::string& tenant,
                                const std::string& key) {
  std::optional<int64_t> least;
  auto say = [&](int64_t units) {
    least = std::min(least.value_or(units), units);
  };
  for (const ResourceQuota* quota : world.quotas) {
    if (quota->meta.name_space != tenant) continue;
    if (quota->meta.labels.contains("quota.cozystack.io/managed-by")) continue;
    auto hard = quota->hard.find(key);
    if (hard != quota->hard.end()) {
      say(WholeUnits(hard->second, Part::kDropped).value_or(0));
    }
    for (const FieldProblem& problem : quota->meta.problems) {
      if (problem.field == "spec.hard[\"" + key + "\"]") say(0);
    }
  }
  return least;
}

// The tenant whose pool the namespace is in for this key; empty: none.
std::string PoolOf(const World& world, std::string tenant,
                   const std::string& key) {
  while (!tenant.empty() && !BudgetOf(world, tenant, key).has_value()) {
    tenant = ParentOf(world, tenant);
  }
  return tenant;
}

int64_t ShareOf(const World& world, const std::string& pool,
                const std::string& key) {
  std::set<std::string> tenants;
  for (const ResourceQuota* quota : world.quotas) {
    tenants.insert(quota->meta.name_space);
  }
  __int128 share = *BudgetOf(world, pool, key);
  for (const std::string& tenant : tenants) {
    const std::optional<int64_t> own = BudgetOf(world, tenant, key);
    if (own.has_value() &&
        PoolOf(world, ParentOf(world, tenant), key) == pool) {
      share -= *own;
    }
  }
  return share < 0 ? 0 : static_cast<int64_t>(share);
}

std::string TenantOf(const World& world, const ClaimState& claim) {
  return claim.set >= 0 ? world.sets[claim.set].name_space
                        : claim.claim->meta.name_space;
}

// What the claim adds to budgets; `ordered` are looked at as if bound.
bool Counts(const World& world, size_t index, const Ask& ordered) {
  const ClaimState& claim = world.claims[index];
  const int number = static_cast<int>(index);
  return claim.phase != "Pending" || !claim.counts_on.empty() ||
         std::find(ordered.claims.begin(), ordered.claims.end(), number) !=
             ordered.claims.end();
}

bool IsOf(const World& world, const ClaimState& claim,
          const VirtualMachineInstance& vmi) {
  return claim.set >= 0 ? world.sets[claim.set].vmi == &vmi
                        : MadeFor(*claim.claim) == vmi.meta.uid;
}

// As of its class where it is to be bound, else as it was bound.
std::string ResourceOf(const World& world, const ClaimState& claim) {
  const GpuClass* of = FindClass(world, claim.class_name);
  return claim.phase == "Pending" && of != nullptr ? of->resource_name
                                                   : claim.resource;
}

// Raw units of the VMI's pods that no claim of it covers, on whatever node.
int64_t RawOf(const World& world, const VirtualMachineInstance& vmi,
              const std::string& resource, const Ask& ordered) {
  int64_t asked = 0;
  __int128 covered = 0;
  for (const auto& [uid, node] : vmi.active_pods) {
    const Pod* pod = PodByUid(world, uid);
    if (pod == nullptr || pod->node_name.empty() || Ended(*pod)) continue;
    if (ListerOf(world, *pod) != &vmi) continue;
    // The VMI counts where it is: a target adds nothing, nor what was left.
    if (!vmi.node_name.empty() && pod->node_name != vmi.node_name) continue;
    asked = Plus(asked, RequestOf(*pod, resource));
  }
  if (asked == 0) return 0;
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const ClaimState& claim = world.claims[i];
    if (Counts(world, i, ordered) && IsOf(world, claim, vmi) &&
        ResourceOf(world, claim) == resource) {
      covered += claim.units;
    }
  }
  if (ordered.templates && world.sets[ordered.set].vmi == &vmi) {
    for (const Wanted& wanted : world.sets[ordered.set].missing) {
      const GpuClass* of = FindClass(world, wanted.class_name);
      if (of != nullptr && of->resource_name == resource) {
        covered += wanted.units;
      }
    }
  }
  return covered >= asked ? 0 : asked - static_cast<int64_t>(covered);
}

int64_t RawInPool(const World& world, const std::string& pool,
                  const std::string& key, const std::string& resource,
                  const Ask& ordered) {
  int64_t units = 0;
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (PoolOf(world, vmi->meta.name_space, key) == pool) {
      units = Plus(units, RawOf(world, *vmi, resource, ordered));
    }
  }
  for (const Pod* pod : world.pods) {
    if (pod->node_name.empty() || Ended(*pod)) continue;
    if (ListerOf(world, *pod) != nullptr) continue;
    if (PoolOf(world, pod->meta.name_space, key) == pool) {
      units = Plus(units, RequestOf(*pod, resource));
    }
  }
  return units;
}

// What the pool uses under the key, were `ordered` bound too.
int64_t UseOf(const World& world, const std::string& pool,
              const std::string& key, const Ask& ordered) {
  const bool by_class = key.compare(0, sizeof(kClassKey) - 1, kClassKey) == 0;
  const std::string name =
      key.substr(by_class ? sizeof(kClassKey) - 1 : sizeof("requests.") - 1);
  int64_t use = 0;
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const ClaimState& claim = world.claims[i];
    const std::string of =
        by_class ? claim.class_name : ResourceOf(world, claim);
    if (of == name && Counts(world, i, ordered) &&
        PoolOf(world, TenantOf(world, claim), key) == pool) {
      use = Plus(use, claim.units);
    }
  }
  if (ordered.templates) {
    for (const Wanted& wanted : world.sets[ordered.set].missing) {
      const GpuClass* of = FindClass(world, wanted.class_name);
      const std::string resource = of == nullptr ? "" : of->resource_name;
      if ((by_class ? wanted.class_name : resource) == name) {
        use = Plus(use, wanted.units);
      }
    }
  }
  return by_class ? use : Plus(use, RawInPool(world, pool, key, name, ordered));
}

}  // namespace

std::vector<Why> OverBudget(const World& world, const Ask& order) {
  std::vector<Why> over;
  if (world.quotas.empty()) return over;
  std::set<std::string> keys;
  for (const std::string& name : ClassesOf(world, order)) {
    keys.insert(kClassKey + name);
    const GpuClass* of = FindClass(world, name);
    if (of != nullptr) keys.insert("requests." + of->resource_name);
  }
  const Ask nothing{.set = order.set};
  for (const std::string& key : keys) {
    const std::string pool =
        PoolOf(world, world.sets[order.set].name_space, key);
    if (pool.empty()) continue;
    const int64_t share = ShareOf(world, pool, key);
    const int64_t used = UseOf(world, pool, key, nothing);
    const int64_t after = UseOf(world, pool, key, order);
    if (after <= share || after == used) continue;
    over.push_back({v1::OVER_BUDGET, key + " " + pool + " used " +
                                         std::to_string(used) + " limit " +
                                         std::to_string(share) + " wanted " +
                                         std::to_string(after - used)});
  }
  return over;
}

}  // namespace gpubinder::naive
