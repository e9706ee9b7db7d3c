#include "reconciler/model/asked_for.h"

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/start_problems.h"

namespace gpubinder {
namespace {

using UnitsByResource = absl::btree_map<NameId, int64_t>;

void Add(NameId resource, int64_t units, UnitsByResource& sums) {
  int64_t& sum = sums[resource];
  sum = SaturatingAdd(sum, units);
}

// That of the class now; kNoName when there is no such class.
NameId ClassResource(Row row, const Snapshot& snapshot) {
  auto found =
      snapshot.class_resources.find(snapshot.claim_columns.class_name[row]);
  return found == snapshot.class_resources.end() ? kNoName : found->second;
}

// What the pod has claims for already.
UnitsByResource Held(const ClaimSet& set, const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  UnitsByResource held;
  for (const Row row : set.members) {
    if (plan.phase(row) == Phase::kPending) continue;
    Add(plan.phase(row) == Phase::kBound ? ResourceOf(row, snapshot)
                                         : ClassResource(row, snapshot),
        snapshot.claim_columns.units[row], held);
  }
  for (const Row row : set.leaving) {
    if (plan.phase(row) != Phase::kBound ||
        snapshot.names.Text(plan.node(row)) != set.launcher.node) {
      continue;
    }
    Add(ResourceOf(row, snapshot), snapshot.claim_columns.units[row], held);
  }
  return held;
}

}  // namespace

AskedFor WhatPodAsksFor(const ClaimSet& set, const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const Pod& pod = snapshot.pods()[*set.launcher.pod];
  UnitsByResource taken = Held(set, plan), too_many;
  absl::btree_set<Row> left_out;
  auto asks = [&](NameId resource) {
    return EffectiveRequest(pod, snapshot.names.Text(resource)).units;
  };
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kPending) continue;
    const NameId resource = ClassResource(row, snapshot);
    if (resource == kNoName) continue;  // that stops the others too
    const int64_t units = plan.claim(row).units;
    if (SaturatingAdd(taken[resource], units) <= asks(resource)) {
      Add(resource, units, taken);
    } else {
      left_out.insert(row);
      Add(resource, units, too_many);
    }
  }
  AskedFor result{.part = Restricted(
                      set, [&](Row row) { return !left_out.contains(row); })};
  absl::btree_map<std::string, v1::ReasonDetail> by_name;
  for (const auto& [resource, units] : too_many) {
    const std::string& name = snapshot.names.Text(resource);
    by_name[name] = AsksForLess(pod, name, asks(resource),
                                SaturatingAdd(taken[resource], units));
  }
  for (auto& [name, detail] : by_name) result.beyond.push_back(detail);
  return result;
}

}  // namespace gpubinder
