#include "reconciler/model/fold_capacity.h"

#include <optional>
#include <string>

#include "reconciler/model/capacity.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {
namespace {

int64_t AllocatableOf(const std::vector<NodeResource>& resources,
                      NameId resource) {
  for (const NodeResource& entry : resources) {
    if (entry.resource == resource) return entry.allocatable;
  }
  return 0;
}

// What a record shows of one resource of a node.
enum class Shown { kNodeFell, kNodeOther, kClaim };

void Compare(NameId node, NameId resource, Shown shown, absl::Time at,
             Snapshot& snapshot) {
  const std::string& name = snapshot.names.Text(node);
  const std::optional<Row> row = snapshot.nodes().FindRow("", name);
  if (!row.has_value()) return;
  auto booked = snapshot.booked.find({node, resource});
  const bool is_short =
      booked != snapshot.booked.end() &&
      booked->second >
          AllocatableOf(snapshot.node_columns.resources[*row], resource);
  if (!is_short && snapshot.shortages.empty()) return;
  const std::pair<std::string, std::string> key(name,
                                                snapshot.names.Text(resource));
  if (!is_short) {
    snapshot.shortages.erase(key);
    return;
  }
  auto [shortage, is_new] = snapshot.shortages.try_emplace(key);
  if (is_new) {
    // Before complete lists nobody knows what was first.
    shortage->second = {.since = at,
                        .overbooked = shown == Shown::kClaim &&
                                      snapshot.IsListed(Kind::kNode) &&
                                      snapshot.IsListed(Kind::kGpuClaim)};
  } else if (shown == Shown::kNodeFell) {
    shortage->second.overbooked = false;
  }
}

void Add(const CountedUnits& counted, int64_t units, absl::Time at,
         Snapshot& snapshot) {
  if (counted.resource == kNoName) return;
  auto [sum, is_new] =
      snapshot.booked.try_emplace({counted.node, counted.resource}, 0);
  sum->second = SaturatingAdd(sum->second, units);
  if (sum->second == 0) snapshot.booked.erase(sum);
  snapshot.changes.units.insert(counted.node);
  Compare(counted.node, counted.resource, Shown::kClaim, at, snapshot);
}

}  // namespace

void RecountClaim(Row claim, absl::Time at, Snapshot& snapshot) {
  ClaimColumns& columns = snapshot.claim_columns;
  if (columns.counted.size() <= claim) columns.counted.resize(claim + 1);
  const CountedUnits before = columns.counted[claim];
  CountedUnits now;
  if (columns.phase[claim] == Phase::kBound) {
    now = {.node = columns.node[claim],
           .resource = ResourceOf(claim, snapshot),
           .units = columns.units[claim]};
  }
  if (now == before) return;
  columns.counted[claim] = now;
  Add(before, -before.units, at, snapshot);
  Add(now, now.units, at, snapshot);
}

void RecountClassUse(Row claim, NameId class_name, Snapshot& snapshot) {
  std::vector<NameId>& counted = snapshot.claim_columns.counted_class;
  if (counted.size() <= claim) counted.resize(claim + 1, kNoName);
  if (counted[claim] == class_name) return;
  auto before = snapshot.class_claims.find(counted[claim]);
  if (before != snapshot.class_claims.end() && --before->second == 0) {
    snapshot.class_claims.erase(before);
  }
  counted[claim] = class_name;
  if (class_name != kNoName) ++snapshot.class_claims[class_name];
}

void RecountClass(NameId class_name, absl::string_view resource, absl::Time at,
                  Snapshot& snapshot) {
  const NameId now =
      resource.empty() ? kNoName : snapshot.names.Intern(resource);
  NameId& known =
      snapshot.class_resources.try_emplace(class_name, kNoName).first->second;
  if (known == now) return;
  known = now;
  const ClaimColumns& columns = snapshot.claim_columns;
  for (Row row = 0; row < columns.phase.size(); ++row) {
    if (columns.phase[row] == Phase::kBound &&
        columns.resource[row] == kNoName &&
        columns.class_name[row] == class_name) {
      RecountClaim(row, at, snapshot);
    }
  }
}

void CompareNode(Row row, const std::vector<NodeResource>* before,
                 absl::Time at, Snapshot& snapshot) {
  const NameId node = snapshot.node_columns.name[row];
  const std::vector<NodeResource>& now = snapshot.node_columns.resources[row];
  auto first = snapshot.booked.lower_bound({node, 0});
  for (; first != snapshot.booked.end() && first->first.first == node;
       ++first) {
    const NameId resource = first->first.second;
    const int64_t has = AllocatableOf(now, resource);
    const int64_t had =
        before == nullptr ? has : AllocatableOf(*before, resource);
    if (before != nullptr && has == had) continue;
    Compare(node, resource, has < had ? Shown::kNodeFell : Shown::kNodeOther,
            at, snapshot);
  }
}

void ForgetNode(const std::string& node, Snapshot& snapshot) {
  auto& shortages = snapshot.shortages;
  auto it = shortages.lower_bound({node, ""});
  while (it != shortages.end() && it->first.first == node) {
    it = shortages.erase(it);
  }
}

}  // namespace gpubinder
