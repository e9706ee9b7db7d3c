#include "reconciler/model/victims.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {
namespace {

using Place = std::pair<NameId, NameId>;  // node and resource

// In the order in which they leave.
enum class Rank { kEnding, kNoVmi, kWaiting, kPinned, kRunning };

// What one set has on one place.
struct Holding {
  size_t set = 0;
  int64_t units = 0;
};

struct Load {
  int64_t booked = 0;
  std::vector<Holding> holdings;
};

// A resource of which a node is short, and that sets have to leave it for.
struct Due {
  Place place;
  int64_t excess = 0;
  Rank last = Rank::kPinned;  // of those that may have to
  v1::ReasonDetail why;
};

// Whether the guest may be running: Unknown is what KubeVirt says of a node
// that has fallen silent.
bool MayRun(const VirtualMachineInstance& vmi) {
  return vmi.phase == "Running" || vmi.phase == "Unknown";
}

Rank RankOf(const ClaimSet& set, const Plan& plan) {
  if (!set.vmi.has_value()) return Rank::kNoVmi;
  const VirtualMachineInstance& vmi = plan.snapshot().vmis()[*set.vmi];
  if (WasAskedToEnd(set, plan)) return Rank::kEnding;
  if (set.launcher.state != LauncherState::kPinned) return Rank::kWaiting;
  return MayRun(vmi) ? Rank::kRunning : Rank::kPinned;
}

absl::Time BoundAt(const ClaimSet& set, const Plan& plan) {
  absl::Time latest = absl::InfinitePast();
  for (const Row row : set.members) {
    const std::optional<absl::Time>& at = plan.claim(row).bound_at;
    if (plan.phase(row) == Phase::kBound && at.has_value()) {
      latest = std::max(latest, *at);
    }
  }
  return latest;
}

class Chooser {
 public:
  explicit Chooser(Plan& plan) : plan_(plan), snapshot_(plan.snapshot()) {}

  Victims Choose() {
    LoadPlaces();
    std::vector<Due> dues;
    std::string node;
    for (const auto& [names, shortage] : snapshot_.shortages) {
      if (names.first != node) ChooseOn(std::exchange(dues, {}));
      node = names.first;
      AddDue(PlaceOf(names), shortage, dues);
    }
    ChooseOn(std::move(dues));
    return std::move(victims_);
  }

 private:
  // Of a node and a resource that the fold has counted by these names.
  Place PlaceOf(const std::pair<std::string, std::string>& names) const {
    return {*snapshot_.names.Find(names.first),
            *snapshot_.names.Find(names.second)};
  }

  // What is booked on the short places, as the pass leaves it; of writes in
  // flight as they will leave it.
  void LoadPlaces() {
    for (const auto& [names, shortage] : snapshot_.shortages) {
      loads_[PlaceOf(names)];
    }
    absl::btree_set<Row> on_the_way;
    for (const auto& [id, effect] : snapshot_.in_flight) {
      const std::optional<Row> row =
          snapshot_.claims().FindUid(effect.target().uid());
      if (!row.has_value()) continue;
      if (effect.has_bind_claim()) {
        const std::optional<NameId> node =
            snapshot_.names.Find(effect.bind_claim().node_name());
        on_the_way.insert(*row);
        if (node.has_value()) Count(*row, *node);
      } else if (effect.has_lose_claim()) {
        on_the_way.insert(*row);
      }
    }
    // Sets that stand on short places are never settled.
    for (const Row row : plan_.claims()) {
      if (plan_.phase(row) == Phase::kBound && !on_the_way.contains(row)) {
        Count(row, plan_.node(row));
      }
    }
  }

  void Count(Row row, NameId node) {
    auto load = loads_.find({node, ResourceOf(row, snapshot_)});
    if (load == loads_.end()) return;
    const int64_t units = snapshot_.claim_columns.units[row];
    load->second.booked = SaturatingAdd(load->second.booked, units);
    const std::optional<size_t> set = plan_.SetOf(row);
    if (!set.has_value() || plan_.claim(row).meta.deleting.has_value()) return;
    std::vector<Holding>& holdings = load->second.holdings;
    auto there =
        std::find_if(holdings.begin(), holdings.end(),
                     [&](const Holding& each) { return each.set == *set; });
    if (there == holdings.end()) {
      there = holdings.insert(there, Holding{.set = *set});
    }
    there->units = SaturatingAdd(there->units, units);
  }

  void AddDue(Place place, const Shortage& shortage, std::vector<Due>& dues) {
    const Load& load = loads_[place];
    const NodeUse use = plan_.books().Use(place.first, place.second);
    const int64_t excess = SaturatingSub(load.booked, use.allocatable);
    if (excess <= 0) return;
    const absl::Time until = shortage.since + plan_.config().capacity_grace;
    const bool early = Planted(Bug::kCapacityGraceLate) ? plan_.now() <= until
                                                        : plan_.now() < until;
    if (early) plan_.WakeAt(until);
    if (early && !shortage.overbooked) return;
    Due due{.place = place, .excess = excess};
    if (early) due.last = Rank::kWaiting;
    // Which of the running VMs has the dead device is not known; on a node
    // that shows none at all its plugin may be restarting.
    if (!early && plan_.config().end_running && use.allocatable > 0) {
      due.last = Rank::kRunning;
    }
    due.why.set_reason(v1::NODE_LOST_CAPACITY);
    due.why.set_resource(snapshot_.names.Text(place.second));
    due.why.set_allocatable(use.allocatable);
    due.why.set_booked(load.booked);
    dues.push_back(std::move(due));
  }

  // Of one node, in the order in which sets leave it, those that help; whoever
  // is not needed any more in the end stays, the last one first.
  void ChooseOn(std::vector<Due> dues) {
    std::vector<size_t> chosen;
    for (const size_t set : InOrder(dues)) {
      for (const Due& due : dues) {
        if (due.excess <= 0 || UnitsOf(set, due) == 0 || !MayLeave(set, due)) {
          continue;
        }
        victims_[{set, due.place.first}] = due.why;
        chosen.push_back(set);
        for (Due& each : dues) each.excess -= UnitsOf(set, each);
        break;
      }
    }
    std::reverse(chosen.begin(), chosen.end());
    for (const size_t set : chosen) {
      const bool needed =
          std::any_of(dues.begin(), dues.end(), [&](const Due& due) {
            const int64_t units = UnitsOf(set, due);
            return units > 0 && due.excess + units > 0;
          });
      if (needed) continue;
      victims_.erase({set, dues.front().place.first});
      for (Due& due : dues) due.excess += UnitsOf(set, due);
    }
  }

  // What the set has there; at most what is booked, so that an excess less it
  // is still in range.
  int64_t UnitsOf(size_t set, const Due& due) const {
    for (const Holding& holding : loads_.at(due.place).holdings) {
      if (holding.set == set) return holding.units;
    }
    return 0;
  }

  // Not a set that nothing may be done with, or not yet.
  bool MayLeave(size_t index, const Due& due) const {
    const ClaimSet& set = plan_.set(index);
    const bool pinned = set.launcher.state == LauncherState::kPinned;
    return set.problems.empty() && RankOf(set, plan_) <= due.last &&
           !(pinned && due.last == Rank::kWaiting);
  }

  // All that hold something there, in the order in which they leave.
  std::vector<size_t> InOrder(const std::vector<Due>& dues) const {
    absl::btree_set<size_t> sets;
    for (const Due& due : dues) {
      for (const Holding& holding : loads_.at(due.place).holdings) {
        sets.insert(holding.set);
      }
    }
    std::vector<size_t> order(sets.begin(), sets.end());
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return LeavesBefore(a, b); });
    return order;
  }

  bool LeavesBefore(size_t a, size_t b) const {
    const ClaimSet& left = plan_.set(a);
    const ClaimSet& right = plan_.set(b);
    const Rank ranks[] = {RankOf(left, plan_), RankOf(right, plan_)};
    if (ranks[0] != ranks[1]) return ranks[0] < ranks[1];
    const absl::Time times[] = {BoundAt(left, plan_), BoundAt(right, plan_)};
    if (times[0] != times[1]) {
      return (times[0] > times[1]) != Planted(Bug::kOldestVictimFirst);
    }
    return std::tie(left.name_space, left.name, a) <
           std::tie(right.name_space, right.name, b);
  }

  Plan& plan_;
  const Snapshot& snapshot_;
  absl::btree_map<Place, Load> loads_;
  Victims victims_;
};

}  // namespace

Victims ChooseVictims(Plan& plan) {
  if (plan.snapshot().shortages.empty()) return {};
  return Chooser(plan).Choose();
}

}  // namespace gpubinder
