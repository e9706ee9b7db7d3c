// When the pass wants to run again: a time at which something that it has
// seen comes due, and none of those that would change a decision missed.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

constexpr absl::Duration kValveSpan = absl::Minutes(10);
constexpr absl::Duration kUsagePause = absl::Minutes(1);

struct Due {
  absl::Time at;
  std::string what;
};

// Every time that anything the rules know of comes due, late or not.
std::vector<Due> AllDue(const Bench& bench) {
  const World& world = bench.world;
  const Snapshot& seen = *world.snapshot;
  const Config& config = seen.config;
  std::vector<Due> all;
  for (const auto& [about, shortage] : seen.shortages) {
    all.push_back({shortage.since + config.capacity_grace, "capacityGrace"});
  }
  for (const auto* silences : {&seen.not_ready, &seen.kubevirt_silent}) {
    for (const auto& [node, silence] : *silences) {
      all.push_back(
          {silence.since() + config.not_ready_grace, "notReadyGrace"});
    }
  }
  for (const auto& [node, since] : seen.gone_since) {
    all.push_back({since + config.node_gone_grace, "nodeGoneGrace"});
  }
  for (const auto& [pod, since] : seen.refused_since) {
    all.push_back({since + config.refusal_grace, "refusalGrace"});
  }
  for (const auto& [key, rate] : seen.write_rates) {
    all.push_back({rate.until, "the pause after a refusal"});
  }
  for (const auto& [uid, at] : seen.endings) {
    all.push_back({at + kValveSpan, "the valve"});
  }
  for (const auto& [node, unkept] : seen.unkept_nodes) {
    all.push_back({unkept.since + kValveSpan, "the mass loss"});
  }
  for (const auto& [name, at] : seen.usage_writes) {
    all.push_back({at + kUsagePause, "the usage record"});
  }
  for (const ClaimState& state : world.claims) {
    auto since = seen.attached_since.find(state.claim->meta.uid);
    if (since == seen.attached_since.end()) continue;
    const absl::Time from =
        state.claim->attached_to.has_value()
            ? std::max(since->second, state.claim->attached_to->since)
            : since->second;
    all.push_back({from + config.attachment_grace, "attachmentGrace"});
  }
  return all;
}

void AddEntries(const std::vector<RejectedNode>& entries,
                std::vector<Due>& all) {
  for (const RejectedNode& entry : entries) {
    all.push_back({entry.until, "a rejection"});
  }
}

// What this pass itself makes come due.
void AddOwn(const Bench& bench, std::vector<Due>& all) {
  const World& world = bench.world;
  const Config& config = world.snapshot->config;
  for (const absl::Duration own :
       {kValveSpan, kUsagePause, config.rejection_ttl, config.capacity_grace}) {
    all.push_back({world.now + own, "what the pass does"});
  }
  for (const GpuClaimSet* memory : world.memories) {
    AddEntries(memory->rejected_nodes, all);
  }
  for (const ClaimState& state : world.claims) {
    AddEntries(state.claim->rejected_nodes, all);
  }
  for (const auto& [key, entries] : world.new_rejections) {
    AddEntries(entries, all);
  }
}

bool IsMissed(const Bench& bench, absl::Time at) {
  return at > bench.world.now && bench.result->next_timer > at;
}

void Demand(Bench& bench, absl::Time at, const std::string& why) {
  if (!IsMissed(bench, at)) return;
  bench.Fault("the clock",
              "is not asked for at " + absl::FormatTime(at) + " for " + why);
}

bool HasLauncher(const SetState& set) {
  return set.gated != nullptr || set.pinned != nullptr || set.loose != nullptr;
}

// The answers to its writes bring the next pass.
bool IsWritten(const Bench& bench, const SetState& set) {
  return std::any_of(
      bench.result->effects.begin(), bench.result->effects.end(),
      [&](const v1::Effect& effect) { return effect.set_key() == set.key; });
}

// Whether the time alone turns the node against the set, or tells another
// reason for it. In a mass loss a set stays on a node that has not kept it for
// long, and what comes last in the list of reasons changes nothing.
bool Turns(const World& world, int index, const std::string& node,
           absl::Time at) {
  World then = world;
  then.now = at;
  auto first = [&](const World& when) {
    const SetState& set = when.sets[index];
    const std::set<v1::Reason> reasons =
        GroundsAgainst(when, set, InPhase(when, set, "Bound"), node).reasons;
    return reasons.empty() ? v1::REASON_UNSPECIFIED : *reasons.begin();
  };
  return first(world) != first(then);
}

// The graces of N6: a set that the node would no longer keep then.
void JudgeKept(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  auto demand = [&](absl::Time at, const std::string& node, const char* why) {
    if (!IsMissed(bench, at) || !Turns(world, index, node, at)) return;
    Demand(bench, at, set.key + ", on " + node + why);
  };
  const Snapshot& seen = *world.snapshot;
  const std::vector<int> bound = InPhase(world, set, "Bound");
  if (set.stuck) return;
  for (const std::string& node : NodesOf(world, bound)) {
    if (!HasLauncher(set)) {
      if (FindNode(world, node) == nullptr) continue;
      for (const auto* silences : {&seen.not_ready, &seen.kubevirt_silent}) {
        if (silences == &seen.kubevirt_silent &&
            !seen.Serves(Kind::kVirtualMachineInstance)) {
          continue;
        }
        auto found = silences->find(node);
        if (found == silences->end()) continue;
        demand(found->second.since() + seen.config.not_ready_grace, node,
               " that is not Ready");
      }
      continue;
    }
    auto gone = seen.gone_since.find(node);
    if (FindNode(world, node) != nullptr || gone == seen.gone_since.end()) {
      continue;
    }
    demand(gone->second + seen.config.node_gone_grace, node, " that has gone");
  }
}

// Those that leave a short node once the grace is over.
void JudgeShortages(Bench& bench) {
  const Snapshot& seen = *bench.world.snapshot;
  for (const auto& [about, shortage] : seen.shortages) {
    const absl::Time at = shortage.since + seen.config.capacity_grace;
    if (at <= bench.world.now) continue;
    World then = bench.world;
    then.now = at;
    ChooseVictims(then);
    for (const auto& [place, keeps] : then.victims) {
      if (place.second != about.first || keeps != Keeps::kNo) continue;
      if (bench.world.victims.contains(place)) continue;
      if (IsWritten(bench, then.sets[place.first])) continue;
      Demand(bench, at,
             then.sets[place.first].key + ", on " + about.first +
                 " that is short");
    }
  }
}

void JudgeRefusalGrace(Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  if (set.pinned == nullptr || set.members.empty() ||
      MemoryOf(world, set) == nullptr) {
    return;
  }
  auto since = world.snapshot->refused_since.find(set.pinned->meta.uid);
  if (since == world.snapshot->refused_since.end() ||
      IsRecorded(world, set, set.pinned->meta.uid)) {
    return;
  }
  const absl::Time at = since->second + world.snapshot->config.refusal_grace;
  if (at <= world.now) return;
  World then = world;
  then.now = at;
  if (IsRefused(then, index)) {
    Demand(bench, at, set.key + ", that a scheduler refuses");
  }
}

// A set that waits for nothing but the end of rejections.
void JudgeRejected(Bench& bench, int index) {
  const World& world = bench.world;
  auto said = bench.said.find(index);
  if (said == bench.said.end() || bench.seen[index].empty() ||
      said->second.reasons != std::set<v1::Reason>{v1::NO_NODE_FITS}) {
    return;
  }
  const SetState& set = world.sets[index];
  for (const auto& [node, why] : bench.seen[index].back()) {
    if (why.size() != 1 || why[0].reason != v1::REJECTED_BY_NODE) continue;
    int64_t until = 0;
    for (const char digit : why[0].about) until = until * 10 + (digit - '0');
    Demand(bench, absl::FromUnixSeconds(until),
           set.key + ", that " + node + " has refused");
  }
}

void JudgeAttachmentGrace(Bench& bench, const ClaimState& state) {
  const World& world = bench.world;
  const GpuClaim& claim = *state.claim;
  if (claim.meta.deleting || !claim.attached_to.has_value() ||
      !claim.attached_to->uid.empty() ||
      !world.snapshot->Serves(Kind::kVirtualMachineInstance) ||
      VmiByName(world, claim.meta.name_space, claim.attached_to->name) !=
          nullptr) {
    return;
  }
  auto seen = world.snapshot->attached_since.find(claim.meta.uid);
  if (seen == world.snapshot->attached_since.end()) return;
  Demand(bench,
         std::max(claim.attached_to->since, seen->second) +
             world.snapshot->config.attachment_grace,
         claim.meta.name + ", whose VMI has not come");
}

}  // namespace

void JudgeClock(Bench& bench) {
  const absl::Time next = bench.result->next_timer;
  if (next != absl::InfiniteFuture()) {
    std::vector<Due> all = AllDue(bench);
    AddOwn(bench, all);
    if (next <= bench.world.now) {
      bench.Fault("the clock", "is asked for at once, and again and again");
    } else if (std::none_of(all.begin(), all.end(),
                            [&](const Due& due) { return due.at == next; })) {
      bench.Fault("the clock", "is asked for at " + absl::FormatTime(next) +
                                   ", when nothing comes due");
    }
  }
  if (!bench.world.snapshot->config.enabled) return;
  JudgeShortages(bench);
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    if (bench.world.sets[s].frozen || IsWritten(bench, bench.world.sets[s])) {
      continue;
    }
    JudgeKept(bench, static_cast<int>(s));
    JudgeRefusalGrace(bench, static_cast<int>(s));
    JudgeRejected(bench, static_cast<int>(s));
  }
  for (const ClaimState& state : bench.world.claims) {
    if (state.set >= 0 && (bench.world.sets[state.set].frozen ||
                           IsWritten(bench, bench.world.sets[state.set]))) {
      continue;
    }
    JudgeAttachmentGrace(bench, state);
  }
}

}  // namespace gpubinder::naive
