#include "reconciler/model/capacity.h"

#include <algorithm>
#include <limits>

#include "reconciler/model/planted.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {

int64_t NodeUse::free() const {
  return std::max<int64_t>(
      0, SaturatingSub(SaturatingSub(allocatable, booked), raw));
}

NameId ResourceOf(Row claim, const Snapshot& snapshot) {
  const ClaimColumns& columns = snapshot.claim_columns;
  if (columns.resource[claim] != kNoName) return columns.resource[claim];
  auto found = snapshot.class_resources.find(columns.class_name[claim]);
  return found == snapshot.class_resources.end() ? kNoName : found->second;
}

std::optional<Row> CoveredVmi(Row claim, const Snapshot& snapshot) {
  if (const ClaimSet* set = snapshot.index.SetOf(claim)) return set->vmi;
  const std::string* owner = TemplateOwner(snapshot.claims()[claim]);
  if (owner == nullptr) return std::nullopt;
  const std::optional<Row> vmi = snapshot.vmis().FindUid(*owner);
  const bool here =
      vmi.has_value() && snapshot.vmis()[*vmi].meta.name_space ==
                             snapshot.claims()[claim].meta.name_space;
  return here ? vmi : std::nullopt;
}

int64_t Clamped(absl::int128 sum) {
  return sum > std::numeric_limits<int64_t>::max()
             ? std::numeric_limits<int64_t>::max()
             : static_cast<int64_t>(sum);
}

Books::Books(const Snapshot& snapshot) : snapshot_(snapshot) { AddAssumed(); }

NodeUse& Books::At(NameId node, NameId resource) {
  auto found = changed_.find({node, resource});
  if (found != changed_.end()) return found->second;
  return changed_.emplace(NodeAndResource(node, resource), Use(node, resource))
      .first->second;
}

NodeUse Books::Use(NameId node, NameId resource) const {
  if (!changed_.empty()) {
    auto changed = changed_.find({node, resource});
    if (changed != changed_.end()) return changed->second;
  }
  const auto& uses = snapshot_.index.uses;
  if (node >= uses.size()) return {};
  for (const ResourceUse& entry : uses[node]) {
    if (entry.resource == resource) return entry.use;
  }
  return {};
}

std::vector<std::pair<NameId, NodeUse>> Books::UsesOf(NameId node) const {
  absl::btree_map<NameId, NodeUse> all;
  const auto& uses = snapshot_.index.uses;
  if (node < uses.size()) {
    for (const ResourceUse& entry : uses[node]) all[entry.resource] = entry.use;
  }
  auto changed = changed_.lower_bound({node, 0});
  for (; changed != changed_.end() && changed->first.first == node; ++changed) {
    all[changed->first.second] = changed->second;
  }
  return {all.begin(), all.end()};
}

void Books::Assume(NameId node, NameId resource, int64_t units) {
  Book(node, resource, units);
  touched_.push_back(node);
}

void Books::AssumeRaw(NameId node, NameId resource, int64_t units) {
  NodeUse& use = At(node, resource);
  use.raw = SaturatingAdd(use.raw, units);
  touched_.push_back(node);
}

void Books::Book(NameId node, NameId resource, int64_t units) {
  NodeUse& use = At(node, resource);
  use.booked = SaturatingAdd(use.booked, units);
}

void Books::AssumeFor(Row vmi, NameId node, NameId resource, int64_t units) {
  Assume(node, resource, units);
  Cover(vmi, node, resource, units);
}

void Books::Cover(Row vmi, NameId node, NameId resource, int64_t units) {
  const int64_t raw = RawOfVmi(vmi, node, resource);
  if (raw == 0) return;
  const int64_t covered = std::min(units, raw);
  covered_[{vmi, node, resource}] = raw - covered;
  NodeUse& use = At(node, resource);
  use.raw = std::max<int64_t>(0, use.raw - covered);
}

int64_t Books::RawOfVmi(Row vmi, NameId node, NameId resource) const {
  const VmiPlace place{.vmi = vmi, .node = node, .resource = resource};
  auto covered = covered_.find(place);
  if (covered != covered_.end()) return covered->second;
  auto found = snapshot_.index.raw_of_vmi.find(place);
  return found == snapshot_.index.raw_of_vmi.end() ? 0 : found->second;
}

std::vector<NameId> Books::RawNodesOf(Row vmi) const {
  std::vector<NameId> nodes;
  const auto& raw = snapshot_.index.raw_of_vmi;
  for (auto entry = raw.lower_bound(VmiPlace{.vmi = vmi});
       entry != raw.end() && entry->first.vmi == vmi; ++entry) {
    if (entry->second > 0) nodes.push_back(entry->first.node);
  }
  return nodes;
}

std::vector<NameId> Books::ChangedNodes() const {
  std::vector<NameId> nodes;
  for (const auto& [place, use] : changed_) {
    if (nodes.empty() || nodes.back() != place.first) {
      nodes.push_back(place.first);
    }
  }
  return nodes;
}

void Books::AddAssumed() {
  if (Planted(Bug::kForgetAssumedUnits)) return;
  for (const auto& [id, effect] : snapshot_.in_flight) {
    if (!effect.has_bind_claim()) continue;
    const std::optional<Row> row =
        snapshot_.claims().FindUid(effect.target().uid());
    if (!row.has_value()) continue;
    const std::optional<NameId> node =
        snapshot_.names.Find(effect.bind_claim().node_name());
    const std::optional<NameId> resource =
        snapshot_.names.Find(effect.bind_claim().resource_name());
    if (!node.has_value() || !resource.has_value()) continue;
    const ClaimColumns& columns = snapshot_.claim_columns;
    const bool there =
        columns.phase[*row] == Phase::kBound && columns.node[*row] == *node;
    if (there) continue;
    // It is booked there already, so it covers its VMI's pods there too.
    Book(*node, *resource, columns.units[*row]);
    const std::optional<Row> vmi = CoveredVmi(*row, snapshot_);
    if (vmi.has_value()) Cover(*vmi, *node, *resource, columns.units[*row]);
  }
}

}  // namespace gpubinder
