// N6 and N7: whether a node keeps what is booked there, and who leaves a node
// that is short.

#include <algorithm>
#include <tuple>

#include "reconciler/naive/rules.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

bool HasLauncher(const SetState& set) {
  return set.gated != nullptr || set.pinned != nullptr || set.loose != nullptr;
}

bool IsOver(const World& world, absl::Time since, absl::Duration grace) {
  return world.now - since >= grace;
}

Grounds OfAGoneNode(const World& world, const SetState& set,
                    const std::string& name) {
  if (!HasLauncher(set)) return {.reasons = {v1::NODE_GONE}};
  auto since = world.snapshot->gone_since.find(name);
  if (since == world.snapshot->gone_since.end()) return {.unsure = true};
  if (!IsOver(world, since->second, world.snapshot->config.node_gone_grace)) {
    return {};
  }
  return {.reasons = {v1::NODE_GONE}};
}

void OfClasses(const World& world, const SetState& set,
               const std::vector<int>& claims, const Node& node,
               Grounds& grounds) {
  const bool runs = set.pinned != nullptr && !set.pinned->node_name.empty();
  for (const int claim : claims) {
    const GpuClass* of =
        FindClass(world, world.claims[claim].claim->class_name);
    if (of == nullptr) {
      grounds.class_gone = true;
      continue;
    }
    for (const Taint& taint : node.taints) {
      const bool counts = taint.effect == "NoExecute" ||
                          (taint.effect == "NoSchedule" && !runs);
      if (counts && !IsConditionTaint(taint) &&
          !Tolerated(taint, of->tolerations)) {
        grounds.reasons.insert(v1::NODE_TAINTED);
      }
    }
    if (!runs && !HasLabels(node.meta.labels, of->node_selector)) {
      grounds.reasons.insert(v1::NODE_MISMATCH);
    }
  }
}

bool Stays(const World& world, const std::vector<int>& claims) {
  return std::any_of(claims.begin(), claims.end(), [&](int claim) {
    const GpuClass* of =
        FindClass(world, world.claims[claim].claim->class_name);
    return of != nullptr && of->on_cordon == "Stay";
  });
}

// Whether the silence has lasted, by what the node says of it and when that
// was first seen.
bool SilentTooLong(const World& world,
                   const absl::btree_map<std::string, Silence>& silences,
                   const std::string& name) {
  auto found = silences.find(name);
  if (found == silences.end()) return false;
  const Silence& silence = found->second;
  const bool told =
      silence.told != absl::UnixEpoch() && silence.told <= silence.seen;
  return IsOver(world, told ? silence.told : silence.seen,
                world.snapshot->config.not_ready_grace);
}

// --- N7

// What the rules leave open: a set that a step before or a write in flight
// has placed elsewhere, whether who cannot leave is chosen, where those stand
// that are of none of the kinds that N7 lists, and whether a launcher is ended
// in the end where somebody booked more than there was.
struct Reading {
  bool leaving_counts = false;
  bool stuck_may_leave = false;
  bool between_is_later = false;
  bool overbooked_ends = false;
};

// With what is in flight, and what the pass has decided, where it leads.
bool StandsThere(const World& world, int claim, const std::string& node,
                 const Reading& reading) {
  const ClaimState& state = world.claims[claim];
  if (reading.leaving_counts) return state.counts_on.contains(node);
  for (const auto& [id, effect] : world.snapshot->in_flight) {
    if (effect.target().uid() != state.claim->meta.uid) continue;
    if (effect.has_lose_claim()) return false;
    if (effect.has_bind_claim()) return effect.bind_claim().node_name() == node;
  }
  return state.phase == "Bound" && state.node == node;
}

int64_t UnitsThere(const World& world, int set, const std::string& node,
                   const std::string& resource, const Reading& reading) {
  int64_t units = 0;
  for (const int claim : world.sets[set].members) {
    const ClaimState& state = world.claims[claim];
    if (state.resource == resource &&
        StandsThere(world, claim, node, reading)) {
      units = Plus(units, state.units);
    }
  }
  return units;
}

absl::Time BoundAt(const World& world, const SetState& set,
                   const std::string& node) {
  absl::Time latest = absl::InfinitePast();
  for (const int claim : set.members) {
    const ClaimState& state = world.claims[claim];
    if (state.phase != "Bound" || state.node != node) continue;
    const bool anew =
        state.claim->phase != "Bound" || state.claim->node_name != node;
    latest = std::max(
        latest,
        anew ? world.now : state.claim->bound_at.value_or(absl::UnixEpoch()));
  }
  return latest;
}

// Asked to end before: it leaves, whoever else has to.
bool LeavesAnyhow(const World& world, const SetState& set) {
  return WasAskedToEnd(world, set);
}

// 0 to 3 as N7 has them; 4: it does not leave.
int KindOf(const World& world, const SetState& set, const Units& units,
           const Reading& reading) {
  if (LeavesAnyhow(world, set)) return -1;
  if (set.vmi == nullptr) return 0;
  if (set.gated != nullptr) return 1;
  if (set.loose != nullptr) return reading.between_is_later ? 2 : 1;
  if (set.pinned == nullptr) return reading.between_is_later ? 1 : 0;
  const bool runs = set.vmi->phase == "Running" ||
                    (set.vmi->phase == "Unknown" && reading.between_is_later);
  if (!runs) return 2;
  return world.snapshot->config.end_running && units.allocatable > 0 ? 3 : 4;
}

// What keeps a set where it is whatever its node shows.
bool IsStuck(const World& world, int index) {
  const SetState& set = world.sets[index];
  if (set.frozen) return true;
  if (set.stuck) return true;
  return set.gated != nullptr && !StartStops(world, index).empty();
}

bool LeavesFor(const World& world, int index, const Node& node,
               const std::string& resource, const Shortage& shortage,
               const Reading& reading) {
  const SetState& set = world.sets[index];
  if (UnitsThere(world, index, node.meta.name, resource, reading) == 0) {
    return false;
  }
  const int kind = KindOf(world, set, AllocatableOf(node, resource), reading);
  if (kind == 4 || (IsStuck(world, index) && !reading.stuck_may_leave)) {
    return false;
  }
  // Somebody booked more than there was: at once, but nobody is ended.
  const bool over =
      IsOver(world, shortage.since, world.snapshot->config.capacity_grace);
  return set.pinned != nullptr && shortage.overbooked
             ? over && reading.overbooked_ends
             : over || shortage.overbooked;
}

std::vector<int> OrderOfLeaving(const World& world, const Node& node,
                                const Reading& reading) {
  std::vector<int> order;
  for (size_t s = 0; s < world.sets.size(); ++s) {
    order.push_back(static_cast<int>(s));
  }
  auto rank = [&](int index) {
    const SetState& set = world.sets[index];
    return std::make_tuple(
        KindOf(world, set, {.allocatable = 1}, reading),
        absl::UnixEpoch() - BoundAt(world, set, node.meta.name), set.name_space,
        set.name);
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return rank(a) < rank(b); });
  return order;
}

// What is missing of each resource that is short there.
std::map<std::string, __int128> Missing(const World& world, const Node& node,
                                        const Reading& reading) {
  std::map<std::string, __int128> missing;
  for (const auto& [about, shortage] : world.snapshot->shortages) {
    const auto& [name, resource] = about;
    if (name != node.meta.name) continue;
    __int128& sum = missing[resource];
    sum = -AllocatableOf(node, resource).allocatable;
    for (size_t c = 0; c < world.claims.size(); ++c) {
      if (world.claims[c].resource == resource &&
          StandsThere(world, static_cast<int>(c), name, reading)) {
        sum += world.claims[c].units;
      }
    }
  }
  return missing;
}

bool IsDue(const World& world, const Shortage& shortage) {
  return shortage.overbooked ||
         IsOver(world, shortage.since, world.snapshot->config.capacity_grace);
}

// One after another, if a resource that is short needs it; in the end whoever
// need not leave stays, the last one first.
void LeaveNode(const World& world, const Node& node, const Reading& reading,
               std::set<Place>& victims) {
  const std::string& name = node.meta.name;
  std::map<std::string, __int128> missing = Missing(world, node, reading);
  std::vector<int> leaving;
  for (const int set : OrderOfLeaving(world, node, reading)) {
    bool helps = false;
    for (const auto& [resource, units] : missing) {
      helps =
          helps ||
          (units > 0 &&
           LeavesFor(world, set, node, resource,
                     world.snapshot->shortages.at({name, resource}), reading));
    }
    if (!helps) continue;
    leaving.push_back(set);
    for (auto& [resource, units] : missing) {
      units -= UnitsThere(world, set, name, resource, reading);
    }
  }
  std::reverse(leaving.begin(), leaving.end());
  for (const int set : leaving) {
    bool needed = false;
    for (const auto& [resource, units] : missing) {
      const int64_t has = UnitsThere(world, set, name, resource, reading);
      // One that is not due yet needs nobody.
      const bool due =
          IsDue(world, world.snapshot->shortages.at({name, resource}));
      needed = needed || (due && has > 0 && units + has > 0);
    }
    if (needed) {
      victims.insert({set, name});
      continue;
    }
    for (auto& [resource, units] : missing) {
      units += UnitsThere(world, set, name, resource, reading);
    }
  }
}

std::set<Place> VictimsBy(const World& world, const Reading& reading) {
  std::set<Place> victims;
  std::set<std::string> nodes;
  for (const auto& [about, shortage] : world.snapshot->shortages) {
    nodes.insert(about.first);
  }
  for (const std::string& name : nodes) {
    const Node* node = FindNode(world, name);
    if (node != nullptr) LeaveNode(world, *node, reading, victims);
  }
  return victims;
}

}  // namespace

bool IsConditionTaint(const Taint& taint) {
  return taint.key == "node.kubernetes.io/not-ready" ||
         taint.key == "node.kubernetes.io/unreachable" ||
         taint.key == "node.kubernetes.io/unschedulable";
}

void ChooseVictims(World& world) {
  world.victims.clear();
  if (world.snapshot->shortages.empty()) return;
  constexpr int kReadings = 16;
  std::map<Place, int> times;
  for (int i = 0; i < kReadings; ++i) {
    const Reading reading = {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0,
                             (i & 8) != 0};
    for (const Place& place : VictimsBy(world, reading)) ++times[place];
  }
  for (const auto& [place, count] : times) {
    world.victims[place] = count == kReadings ? Keeps::kNo : Keeps::kUnsure;
  }
}

Grounds GroundsAgainst(const World& world, const SetState& set,
                       const std::vector<int>& claims,
                       const std::string& name) {
  const Node* node = FindNode(world, name);
  if (node == nullptr) return OfAGoneNode(world, set, name);
  Grounds grounds;
  OfClasses(world, set, claims, *node, grounds);
  // A claim whose class has gone is never moved.
  if (grounds.class_gone) return grounds;
  auto victim =
      world.victims.find({static_cast<int>(&set - world.sets.data()), name});
  if (victim != world.victims.end()) {
    if (victim->second == Keeps::kNo) {
      grounds.reasons.insert(v1::NODE_LOST_CAPACITY);
    } else {
      grounds.unsure = true;
    }
  }
  if (!HasLauncher(set)) {
    const Snapshot& seen = *world.snapshot;
    if ((ReadyStatus(*node) != "True" &&
         SilentTooLong(world, seen.not_ready, name)) ||
        (seen.Serves(Kind::kVirtualMachineInstance) &&
         !HasLabels(node->meta.labels, {{"kubevirt.io/schedulable", "true"}}) &&
         SilentTooLong(world, seen.kubevirt_silent, name))) {
      grounds.reasons.insert(v1::NODE_UNAVAILABLE);
    }
  }
  grounds.cordon =
      IsCordoned(*node) && !Stays(world, claims) && set.pinned == nullptr;
  return grounds;
}

std::set<v1::Reason> WhyLost(const Grounds& grounds) {
  std::set<v1::Reason> reasons;
  if (!grounds.reasons.empty()) reasons.insert(*grounds.reasons.begin());
  if (grounds.unsure) reasons.insert(v1::NODE_LOST_CAPACITY);
  return reasons;
}

Keeps KeepsSet(const World& world, const SetState& set,
               const std::vector<int>& claims, const std::string& name) {
  const Grounds grounds = GroundsAgainst(world, set, claims, name);
  if (!grounds.reasons.empty()) return Keeps::kNo;
  if (grounds.unsure) return Keeps::kUnsure;
  return grounds.cordon ? Keeps::kCordonOnly : Keeps::kYes;
}

}  // namespace gpubinder::naive
