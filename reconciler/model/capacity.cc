#include "reconciler/model/capacity.h"

#include <algorithm>

#include "reconciler/model/pod_request.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {

int64_t NodeUse::free() const {
  return std::max<int64_t>(
      0, SaturatingSub(SaturatingSub(allocatable, booked), raw));
}

Books::Books(const Snapshot& snapshot, const ClaimSets& sets)
    : snapshot_(snapshot), nodes_(snapshot.names.size()) {
  for (const auto& [key, row] : snapshot.classes().by_name()) {
    const GpuClass& found = snapshot.classes()[row];
    const std::optional<NameId> name = snapshot.names.Find(found.meta.name);
    const std::optional<NameId> resource =
        snapshot.names.Find(found.resource_name);
    if (name.has_value() && resource.has_value()) {
      resource_of_class_[*name] = *resource;
    }
  }
  AddNodes();
  AddClaims();
  AddAssumed();
  AddPods(sets);
}

NodeUse& Books::At(NameId node, NameId resource) {
  std::vector<Entry>& entries = nodes_[node];
  auto place = std::lower_bound(
      entries.begin(), entries.end(), resource,
      [](const Entry& entry, NameId id) { return entry.resource < id; });
  if (place == entries.end() || place->resource != resource) {
    place = entries.insert(place, Entry{.resource = resource});
  }
  return place->use;
}

NodeUse Books::Use(NameId node, NameId resource) const {
  if (node >= nodes_.size()) return {};
  for (const Entry& entry : nodes_[node]) {
    if (entry.resource == resource) return entry.use;
  }
  return {};
}

std::vector<std::pair<NameId, NodeUse>> Books::UsesOf(NameId node) const {
  std::vector<std::pair<NameId, NodeUse>> uses;
  if (node >= nodes_.size()) return uses;
  for (const Entry& entry : nodes_[node]) {
    uses.emplace_back(entry.resource, entry.use);
  }
  return uses;
}

void Books::Assume(NameId node, NameId resource, int64_t units) {
  NodeUse& use = At(node, resource);
  use.booked = SaturatingAdd(use.booked, units);
}

void Books::AssumeFor(Row vmi, NameId node, NameId resource, int64_t units) {
  Assume(node, resource, units);
  auto found = of_vmi_.find({vmi, {node, resource}});
  if (found == of_vmi_.end()) return;
  const int64_t covered = std::min(units, found->second);
  found->second -= covered;
  NodeUse& use = At(node, resource);
  use.raw = std::max<int64_t>(0, use.raw - covered);
}

int64_t Books::RawOfVmi(Row vmi, NameId node, NameId resource) const {
  auto found = of_vmi_.find({vmi, {node, resource}});
  return found == of_vmi_.end() ? 0 : found->second;
}

NameId Books::ResourceOf(Row claim) const {
  const ClaimColumns& columns = snapshot_.claim_columns;
  if (columns.resource[claim] != kNoName) return columns.resource[claim];
  auto found = resource_of_class_.find(columns.class_name[claim]);
  return found == resource_of_class_.end() ? kNoName : found->second;
}

void Books::AddNodes() {
  for (Row row = 0; row < snapshot_.nodes().end(); ++row) {
    if (!snapshot_.nodes().Holds(row)) continue;
    const NameId node = snapshot_.node_columns.name[row];
    for (const NodeResource& resource : snapshot_.node_columns.resources[row]) {
      NodeUse& use = At(node, resource.resource);
      use.allocatable = resource.allocatable;
      use.served = resource.allocatable > 0;
      use.malformed = resource.malformed;
    }
  }
}

void Books::AddClaims() {
  const ClaimColumns& columns = snapshot_.claim_columns;
  for (Row row = 0; row < snapshot_.claims().end(); ++row) {
    if (columns.phase[row] != Phase::kBound) continue;
    Assume(columns.node[row], ResourceOf(row), columns.units[row]);
  }
}

template <typename Visit>
void Books::ForEachAssumed(Visit visit) const {
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
    if (!there) visit(*row, *node, *resource);
  }
}

void Books::AddAssumed() {
  ForEachAssumed([&](Row row, NameId node, NameId resource) {
    Assume(node, resource, snapshot_.claim_columns.units[row]);
  });
}

// Raw is what pods ask for beyond what the claims of their VMI on that node
// cover; a claim covers once per node, so the pods of a VMI count together.
void Books::AddPods(const ClaimSets& sets) {
  const Table<Pod>& pods = snapshot_.pods();
  for (Row row = 0; row < pods.end(); ++row) {
    if (!pods.Holds(row) || pods[row].node_name.empty() ||
        HasEnded(pods[row])) {
      continue;
    }
    const std::optional<NameId> node =
        snapshot_.names.Find(pods[row].node_name);
    if (!node.has_value()) continue;
    const std::optional<Row> vmi = ListingVmi(pods[row], snapshot_);
    for (const auto& [name, units] : ExtendedRequests(pods[row]).units) {
      const std::optional<NameId> resource = snapshot_.names.Find(name);
      if (!resource.has_value()) continue;
      if (vmi.has_value()) {
        int64_t& sum = of_vmi_[{*vmi, {*node, *resource}}];
        sum = SaturatingAdd(sum, units);
      } else {
        NodeUse& use = At(*node, *resource);
        use.raw = SaturatingAdd(use.raw, units);
      }
    }
  }
  const ClaimColumns& columns = snapshot_.claim_columns;
  auto cover = [&](Row row, NameId node, NameId resource) {
    std::optional<Row> vmi;
    const uint32_t set = sets.set_of_claim[row];
    if (set != kNoSet) {
      vmi = sets.sets[set].vmi;
    } else if (const std::string* owner =
                   TemplateOwner(snapshot_.claims()[row])) {
      vmi = snapshot_.vmis().FindUid(*owner);
    }
    if (!vmi.has_value()) return;
    auto found = of_vmi_.find({*vmi, {node, resource}});
    if (found == of_vmi_.end()) return;
    found->second =
        std::max<int64_t>(0, SaturatingSub(found->second, columns.units[row]));
  };
  for (Row row = 0; row < snapshot_.claims().end(); ++row) {
    if (columns.phase[row] != Phase::kBound) continue;
    cover(row, columns.node[row], ResourceOf(row));
  }
  // A binding in flight is booked there already, so it covers there too.
  ForEachAssumed(cover);
  for (const auto& [key, units] : of_vmi_) {
    NodeUse& use = At(key.second.first, key.second.second);
    use.raw = SaturatingAdd(use.raw, units);
  }
}

}  // namespace gpubinder
