#include "reconciler/model/index.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "reconciler/model/budget.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quiet.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

// Brings single namespaces and nodes up to date.
class Refresher {
 public:
  explicit Refresher(Snapshot& snapshot)
      : snapshot_(snapshot), index_(snapshot.index) {}

  // Rows of VMIs and claims are used again, also by another namespace: all
  // that goes is taken out before anything is added.
  void TakeOut(const std::string& name_space) {
    auto found = index_.namespaces.find(name_space);
    if (found == index_.namespaces.end()) return;
    const NamespaceIndex& old = found->second;
    for (const Slot slot : old.sets) Free(slot);
    for (const Row row : old.loose) index_.loose.erase(row);
    for (const auto& [place, units] : old.raw) AddRaw(place, -units);
    for (const auto& [place, units] : old.raw_of_vmi) {
      AddRaw({place.node, place.resource}, -units);
      index_.raw_of_vmi.erase(place);
    }
    index_.namespaces.erase(found);
  }

  void PutIn(const std::string& name_space) {
    NamespaceIndex fresh;
    ClaimSets built = BuildClaimSets(name_space, snapshot_);
    for (ClaimSet& set : built.sets) fresh.sets.push_back(Take(std::move(set)));
    fresh.loose = std::move(built.loose);
    index_.loose.insert(fresh.loose.begin(), fresh.loose.end());
    CountPods(name_space, fresh);
    for (const auto& [place, units] : fresh.raw) AddRaw(place, units);
    for (const auto& [place, units] : fresh.raw_of_vmi) {
      AddRaw({place.node, place.resource}, units);
      index_.raw_of_vmi.emplace(place, units);
    }
    const bool empty = fresh.sets.empty() && fresh.loose.empty() &&
                       fresh.raw.empty() && fresh.raw_of_vmi.empty();
    if (!empty) index_.namespaces.emplace(name_space, std::move(fresh));
    index_.renewed.insert(name_space);
  }

  void CountUnits(NameId node) {
    if (index_.uses.size() <= node) index_.uses.resize(node + 1);
    std::vector<ResourceUse>& uses = index_.uses[node];
    uses.clear();
    const std::optional<Row> row =
        snapshot_.nodes().FindRow("", snapshot_.names.Text(node));
    if (row.has_value()) {
      for (const NodeResource& has : snapshot_.node_columns.resources[*row]) {
        uses.push_back({.resource = has.resource,
                        .use = {.allocatable = has.allocatable,
                                .served = has.allocatable > 0,
                                .malformed = has.malformed}});
      }
    }
    auto booked = snapshot_.booked.lower_bound({node, 0});
    for (; booked != snapshot_.booked.end() && booked->first.first == node;
         ++booked) {
      At(uses, booked->first.second).booked = booked->second;
    }
    auto raw = index_.raw.lower_bound({node, 0});
    for (; raw != index_.raw.end() && raw->first.first == node; ++raw) {
      At(uses, raw->first.second).raw = Clamped(raw->second);
    }
  }

 private:
  static NodeUse& At(std::vector<ResourceUse>& uses, NameId resource) {
    auto place = std::lower_bound(
        uses.begin(), uses.end(), resource,
        [](const ResourceUse& use, NameId id) { return use.resource < id; });
    if (place == uses.end() || place->resource != resource) {
      place = uses.insert(place, ResourceUse{.resource = resource});
    }
    return place->use;
  }

  void AddRaw(NodeAndResource place, absl::int128 units) {
    auto [sum, is_new] = index_.raw.try_emplace(place, 0);
    sum->second += units;
    if (sum->second == 0) index_.raw.erase(sum);
    snapshot_.changes.units.insert(place.first);
  }

  void Free(Slot slot) {
    IndexedSet& entry = index_.sets[slot];
    for (const std::vector<Row>* rows :
         {&entry.set.members, &entry.set.leaving}) {
      for (const Row row : *rows) index_.set_of_claim[row] = kNoSlot;
    }
    for (const NameId node : entry.nodes) {
      auto standing = index_.standing.find(node);
      standing->second.erase(slot);
      if (standing->second.empty()) index_.standing.erase(standing);
    }
    entry = {};
    index_.footings[slot] = {};
    index_.free_slots.push_back(slot);
  }

  Slot Take(ClaimSet set) {
    Slot slot;
    if (index_.free_slots.empty()) {
      slot = static_cast<Slot>(index_.sets.size());
      index_.sets.emplace_back();
      index_.footings.emplace_back();
    } else {
      slot = index_.free_slots.back();
      index_.free_slots.pop_back();
    }
    IndexedSet& entry = index_.sets[slot];
    entry = IndexedSet{.set = std::move(set)};
    // Also of a node that this replica never saw.
    if (!entry.set.launcher.node.empty()) {
      snapshot_.names.Intern(entry.set.launcher.node);
    }
    LookAt(slot, index_);
    std::vector<Slot>& set_of = index_.set_of_claim;
    if (set_of.size() < snapshot_.claims().end()) {
      set_of.resize(snapshot_.claims().end(), kNoSlot);
    }
    const ClaimColumns& columns = snapshot_.claim_columns;
    for (const std::vector<Row>* rows :
         {&entry.set.members, &entry.set.leaving}) {
      for (const Row row : *rows) {
        set_of[row] = slot;
        if (columns.phase[row] == Phase::kBound) {
          entry.nodes.push_back(columns.node[row]);
        }
      }
    }
    std::sort(entry.nodes.begin(), entry.nodes.end());
    entry.nodes.erase(std::unique(entry.nodes.begin(), entry.nodes.end()),
                      entry.nodes.end());
    for (const NameId node : entry.nodes) index_.standing[node].insert(slot);
    return slot;
  }

  // Raw is what pods ask for beyond what the claims of their VMI on that node
  // cover; a claim covers once per node, so the pods of a VMI count together.
  void CountPods(const std::string& name_space, NamespaceIndex& fresh) {
    for (const auto& [row, vmi] : PodsOnNodes(name_space, snapshot_)) {
      const Pod& pod = snapshot_.pods()[row];
      const NameId node = snapshot_.names.Intern(pod.node_name);
      for (const auto& [name, units] : ExtendedRequests(pod).units) {
        const NameId resource = snapshot_.names.Intern(name);
        int64_t& sum = vmi.has_value()
                           ? fresh.raw_of_vmi[{*vmi, node, resource}]
                           : fresh.raw[{node, resource}];
        sum = SaturatingAdd(sum, units);
      }
    }
    if (fresh.raw_of_vmi.empty()) return;
    const ClaimColumns& columns = snapshot_.claim_columns;
    snapshot_.claims().ForEachIn(name_space, [&](Row row) {
      if (columns.phase[row] != Phase::kBound) return;
      const std::optional<Row> vmi = CoveredVmi(row, snapshot_);
      if (!vmi.has_value()) return;
      auto found = fresh.raw_of_vmi.find(
          {*vmi, columns.node[row], ResourceOf(row, snapshot_)});
      if (found == fresh.raw_of_vmi.end()) return;
      found->second = std::max<int64_t>(
          0, SaturatingSub(found->second, columns.units[row]));
    });
  }

  Snapshot& snapshot_;
  PassIndex& index_;
};

void AddAllNamespaces(Snapshot& snapshot) {
  absl::btree_set<std::string>& all = snapshot.changes.namespaces;
  auto add = [&](const std::string& name_space) { all.insert(name_space); };
  snapshot.claims().ForEachNamespace(add);
  snapshot.vms().ForEachNamespace(add);
  snapshot.vmis().ForEachNamespace(add);
  snapshot.pods().ForEachNamespace(add);
  for (const auto& [name_space, index] : snapshot.index.namespaces) {
    all.insert(name_space);
  }
  // Also those of which nothing is left but what was said.
  for (const auto& [key, explanation] : snapshot.explanations) {
    all.insert(explanation.namespace_());
  }
  for (const NameId node : snapshot.node_columns.name) {
    snapshot.changes.nodes.insert(node);
  }
}

void LookAtNode(NameId node, PassIndex& index) {
  auto standing = index.standing.find(node);
  if (standing == index.standing.end()) return;
  for (const Slot slot : standing->second) LookAt(slot, index);
}

}  // namespace

std::vector<Slot> SlotsInOrder(const PassIndex& index) {
  std::vector<Slot> slots;
  for (const auto& [name_space, entry] : index.namespaces) {
    slots.insert(slots.end(), entry.sets.begin(), entry.sets.end());
  }
  std::sort(slots.begin(), slots.end(), [&](Slot a, Slot b) {
    return ComesBefore(index.sets[a].set, index.sets[b].set);
  });
  return slots;
}

void RefreshIndex(Snapshot& snapshot) {
  IndexChanges& changes = snapshot.changes;
  PassIndex& index = snapshot.index;
  if (changes.everything) {
    AddAllNamespaces(snapshot);
    // All sets are taken out and put in: no footing names a keeper then.
    index.keepers.clear();
    index.judge = {};
  }
  if (changes.everything || !changes.nodes.empty()) {
    index.classes_settled = false;
  }
  const bool new_quotas = changes.everything || changes.quotas;
  Refresher refresher(snapshot);
  for (const std::string& name : changes.namespaces) {
    if (!new_quotas) TakeOutBudgetUse(name, snapshot);
    refresher.TakeOut(name);
  }
  for (const std::string& name : changes.namespaces) refresher.PutIn(name);
  if (new_quotas) {
    RebuildBudgets(snapshot);
  } else {
    for (const std::string& name : changes.namespaces) {
      PutInBudgetUse(name, snapshot);
    }
  }
  for (const NameId node : changes.nodes) {
    changes.units.insert(node);
    if (Planted(Bug::kStaleIndex)) continue;
    ForgetKept(node, index);
    LookAtNode(node, index);
  }
  for (const NameId node : changes.units) refresher.CountUnits(node);
  NoteChanges(changes.nodes, changes.units, index.judge);
  index.recounted.insert(changes.units.begin(), changes.units.end());
  changes = IndexChanges{.everything = false, .quotas = false};
}

void LookAt(Slot slot, PassIndex& index) {
  if (index.footings[slot].restless) return;
  index.footings[slot].restless = true;
  index.restless.push_back(slot);
}

void LookAtAll(PassIndex& index) {
  for (const auto& [name_space, entry] : index.namespaces) {
    for (const Slot slot : entry.sets) LookAt(slot, index);
  }
}

std::vector<Slot> TakeRestless(Snapshot& snapshot) {
  PassIndex& index = snapshot.index;
  // Who leaves a node that has too little is chosen among all that stand there;
  // the fold has counted them by the node's name.
  for (const auto& [place, shortage] : snapshot.shortages) {
    LookAtNode(*snapshot.names.Find(place.first), index);
  }
  // A refusal is answered for by the set of its VMI.
  for (const auto& [uid, refusal] : snapshot.kubelet_refusals) {
    auto found = index.namespaces.find(refusal.name_space);
    if (found == index.namespaces.end()) continue;
    for (const Slot slot : found->second.sets) LookAt(slot, index);
  }
  std::vector<Slot> slots;
  for (const Slot slot : index.restless) {
    bool& restless = index.footings[slot].restless;
    if (!restless) continue;
    restless = false;
    if (!HasSettled(slot, snapshot)) slots.push_back(slot);
  }
  index.restless.clear();
  std::sort(slots.begin(), slots.end(), [&](Slot a, Slot b) {
    return ComesBefore(index.sets[a].set, index.sets[b].set);
  });
  return slots;
}

}  // namespace gpubinder
