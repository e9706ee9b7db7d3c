#include "reconciler/model/shape_key.h"

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/volume.h"

namespace gpubinder {
namespace {

void AppendNumber(int64_t number, std::string& key) {
  absl::StrAppend(&key, number, ",");
}

void Append(const StringMap& selector, std::string& key) {
  AppendNumber(static_cast<int64_t>(selector.size()), key);
  for (const auto& [name, value] : selector) {
    AppendPart(name, key);
    AppendPart(value, key);
  }
}

void Append(const std::vector<Requirement>& requirements, std::string& key) {
  AppendNumber(static_cast<int64_t>(requirements.size()), key);
  for (const Requirement& requirement : requirements) {
    AppendPart(requirement.key, key);
    AppendPart(requirement.op, key);
    AppendNumber(static_cast<int64_t>(requirement.values.size()), key);
    for (const std::string& value : requirement.values) AppendPart(value, key);
  }
}

void Append(const NodeSelector& selector, std::string& key) {
  AppendNumber(static_cast<int64_t>(selector.terms.size()), key);
  for (const SelectorTerm& term : selector.terms) {
    Append(term.expressions, key);
    Append(term.fields, key);
  }
}

void Append(const std::optional<NodeSelector>& selector, std::string& key) {
  if (!selector.has_value()) {
    AppendNumber(-1, key);
    return;
  }
  Append(*selector, key);
}

void AppendPod(const Demand& demand, std::string& key) {
  Append(demand.pod->node_selector, key);
  Append(demand.pod->required, key);
  const SchedulingClass* found = demand.scheduling_class;
  if (found == nullptr) {
    AppendPart(demand.missing_scheduling_class, key);
    return;
  }
  key += 's';
  AppendPart(found->meta.name, key);
  Append(found->node_selector, key);
  Append(found->required, key);
}

void AppendVolume(const std::string& claim, const Demand& demand,
                  const Snapshot& snapshot, std::string& key) {
  const VolumeReach reach = ReachOf(demand.name_space, claim, snapshot);
  if (reach.everywhere) return;
  AppendPart(claim, key);
  const PersistentVolumeClaim* found =
      snapshot.Of<PersistentVolumeClaim>().Find(demand.name_space, claim);
  AppendPart(found == nullptr ? "" : found->volume_name, key);
  if (reach.nodes == nullptr) {
    AppendNumber(-1, key);
  } else {
    Append(*reach.nodes, key);
  }
}

void Ask(const StringMap& selector, absl::btree_set<LabelKey>& keys) {
  for (const auto& [name, value] : selector) keys.insert(name);
}

void Ask(const NodeSelector& selector, absl::btree_set<LabelKey>& keys) {
  for (const SelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;
    for (const Requirement& requirement : term.expressions) {
      keys.insert(requirement.key);
    }
    if (!term.fields.empty()) keys.insert(std::nullopt);
  }
}

}  // namespace

std::string ShapeKey(const Demand& demand, const Snapshot& snapshot) {
  std::string key;
  for (const GpuClass* found : demand.classes) {
    AppendPart(found->meta.name, key);
  }
  key += ';';
  for (const Demand::Need& need : demand.needs) {
    AppendNumber(need.resource, key);
    AppendNumber(need.units, key);
    AppendNumber(need.pod_units, key);
  }
  key += ';';
  if (demand.pod != nullptr) AppendPod(demand, key);
  key += ';';
  for (const std::string& claim : demand.volume_claims) {
    AppendVolume(claim, demand, snapshot, key);
  }
  return key;
}

std::vector<LabelKey> LabelsAsked(const Demand& demand,
                                  const Snapshot& snapshot) {
  absl::btree_set<LabelKey> keys;
  for (const GpuClass* found : demand.classes) Ask(found->node_selector, keys);
  if (demand.pod != nullptr) {
    Ask(demand.pod->node_selector, keys);
    if (demand.pod->required.has_value()) Ask(*demand.pod->required, keys);
  }
  if (const SchedulingClass* found = demand.scheduling_class) {
    Ask(found->node_selector, keys);
    if (found->required.has_value()) Ask(*found->required, keys);
  }
  for (const std::string& claim : demand.volume_claims) {
    const VolumeReach reach = ReachOf(demand.name_space, claim, snapshot);
    if (reach.nodes != nullptr) Ask(*reach.nodes, keys);
  }
  return {keys.begin(), keys.end()};
}

}  // namespace gpubinder
