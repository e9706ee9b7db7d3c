#include "reconciler/naive/judge.h"

#include <algorithm>

#include "reconciler/naive/bench.h"

namespace gpubinder {
namespace naive {

void Bench::Fault(const std::string& key, const std::string& text) {
  faults.push_back(key + ": " + text);
}

bool Bench::Does(int claim) const {
  auto deed = deeds.find(claim);
  return deed != deeds.end() && !deed->second.judged;
}

bool Bench::IsMoved(int set) const {
  return touched.contains(set) || followed.contains(set);
}

bool Bench::IsRefused(const SetState& set) const {
  return world.new_rejections.contains(set.key) || called.contains(set.key);
}

bool Bench::Loses(int claim) const {
  return Does(claim) && deeds.at(claim).node.empty();
}

void Bench::Follow(int claim) {
  auto found = deeds.find(claim);
  if (found == deeds.end() || found->second.judged) return;
  Deed& deed = found->second;
  deed.judged = true;
  ClaimState& state = world.claims[claim];
  touched.insert(state.set);
  if (deed.node.empty()) {
    state.phase = "Lost";
    state.node.clear();
    return;
  }
  state.phase = "Bound";
  state.node = deed.node;
  state.counts_on.insert(deed.node);
  const GpuClass* of = FindClass(world, state.claim->class_name);
  if (of != nullptr) state.resource = of->resource_name;
}

void Bench::ExpectBind(int claim, const std::string& node, const char* rule) {
  const ClaimState& state = world.claims[claim];
  if (state.phase == "Bound" && state.node == node) return;
  const std::string& key = world.sets[state.set].key;
  const std::string name = state.claim->meta.name;
  if (!Does(claim)) {
    Fault(key, std::string(rule) + " binds " + name + " to " + node +
                   ", the pass does not");
    return;
  }
  const Deed& deed = deeds.at(claim);
  if (deed.node != node) {
    Fault(key, std::string(rule) + " binds " + name + " to " + node +
                   ", the pass " +
                   (deed.node.empty() ? "loses it" : "to " + deed.node));
  }
  if (deed.effect < floor) {
    Fault(key, std::string(rule) + " comes too early for " + name);
  }
  last_effect = std::max(last_effect, deed.effect);
  Follow(claim);
}

void Bench::ExpectLose(int claim, const std::set<v1::Reason>& reasons,
                       const char* rule) {
  // M4's safety valve: nothing goes Lost.
  if (result->mass_loss) return;
  const ClaimState& state = world.claims[claim];
  if (state.phase != "Bound") return;
  const std::string& key = world.sets[state.set].key;
  const std::string name = state.claim->meta.name;
  if (!Loses(claim)) {
    Fault(key, std::string(rule) + " makes " + name + " Lost, the pass " +
                   (Does(claim) ? "binds it to " + deeds.at(claim).node
                                : "does not"));
  } else if (!reasons.contains(deeds.at(claim).reason)) {
    Fault(key, std::string(rule) + " loses " + name + " for another reason" +
                   " than " + v1::Reason_Name(deeds.at(claim).reason));
  }
  Follow(claim);
}

void Bench::ExpectPin(const SetState& set, const std::string& node,
                      const char* rule) {
  auto found = pins.find(set.gated->meta.uid);
  if (found == pins.end()) {
    return Fault(set.key, std::string(rule) + " pins " + set.gated->meta.name +
                              " to " + node + ", the pass does not");
  }
  Deed& deed = found->second;
  deed.judged = true;
  if (deed.node != node) {
    Fault(set.key, std::string(rule) + " pins " + set.gated->meta.name +
                       " to " + node + ", the pass to " + deed.node);
  }
  if (deed.effect < last_effect) {
    Fault(set.key, "the pin comes before a binding or out of turn");
  }
  last_effect = std::max(last_effect, deed.effect);
}

Choice Bench::Look(const Ask& ask) {
  Choice choice = Choose(world, ask);
  seen[ask.set].push_back(choice.nodes);
  return choice;
}

void Bench::LookFrom(Ask ask, const Node& own) {
  const std::vector<Why> lack = LackOfUnits(world, ask, own);
  seen[ask.set].push_back({{own.meta.name, lack}});
  const Pod* pod = ask.pod;
  for (const bool rules : {false, true}) {
    for (const bool rejections : {false, true}) {
      ask.pod_rules = rules ? pod : nullptr;
      ask.rejections = rejections;
      std::map<std::string, std::vector<Why>> nodes = Choose(world, ask).nodes;
      seen[ask.set].push_back(nodes);
      nodes[own.meta.name] = lack;
      seen[ask.set].push_back(nodes);
    }
  }
}

int IndexOf(const World& world, const std::string& key) {
  for (size_t s = 0; s < world.sets.size(); ++s) {
    if (world.sets[s].key == key) return static_cast<int>(s);
  }
  return -1;
}

std::vector<int> InPhase(const World& world, const SetState& set,
                         const std::string& phase) {
  std::vector<int> claims;
  for (const int claim : set.members) {
    if (world.claims[claim].phase == phase) claims.push_back(claim);
  }
  return claims;
}

std::vector<int> OnNode(const World& world, const std::vector<int>& claims,
                        const std::string& node) {
  std::vector<int> there;
  for (const int claim : claims) {
    if (world.claims[claim].node == node) there.push_back(claim);
  }
  return there;
}

std::set<std::string> NodesOf(const World& world,
                              const std::vector<int>& claims) {
  std::set<std::string> nodes;
  for (const int claim : claims) nodes.insert(world.claims[claim].node);
  return nodes;
}

namespace {

void ReadDeeds(Bench& bench) {
  for (size_t i = 0; i < bench.result->effects.size(); ++i) {
    const v1::Effect& effect = bench.result->effects[i];
    const std::string& uid = effect.target().uid();
    Deed deed{.effect = static_cast<int>(i)};
    if (effect.has_pin_pod()) {
      deed.node = effect.pin_pod().node_name();
      if (bench.pins.contains(uid)) bench.Fault(uid, "is pinned twice");
      bench.pins[uid] = deed;
    }
    if (effect.has_create_template_claim()) {
      bench.made[effect.set_key()].insert(effect.target().name());
    }
    if (!effect.has_bind_claim() && !effect.has_lose_claim()) continue;
    deed.node = effect.bind_claim().node_name();
    deed.reason = effect.lose_claim().reason();
    for (size_t c = 0; c < bench.world.claims.size(); ++c) {
      if (bench.world.claims[c].claim->meta.uid != uid) continue;
      if (bench.deeds.contains(static_cast<int>(c))) {
        bench.Fault(effect.set_key(), "a claim is placed twice");
      }
      bench.deeds[static_cast<int>(c)] = deed;
    }
  }
}

// C10: a set with a write that has no outcome must not be touched, and
// neither must one whose writes the rate holds back.
void ReadFrozen(Bench& bench) {
  for (const SetView& view : bench.result->sets) {
    bench.views[view.set.key()] = &view;
  }
  for (SetState& set : bench.world.sets) {
    auto view = bench.views.find(set.key);
    set.frozen = view != bench.views.end() && view->second->frozen;
    for (const auto& [id, effect] : bench.world.snapshot->in_flight) {
      if (effect.set_key() == set.key && !set.frozen &&
          view != bench.views.end()) {
        bench.Fault(set.key, "is not frozen by " + effect.ShortDebugString());
      }
    }
  }
}

void JudgeRest(Bench& bench) {
  for (const auto& [claim, deed] : bench.deeds) {
    if (deed.judged) continue;
    const ClaimState& state = bench.world.claims[claim];
    bench.Fault(state.set < 0 ? "no set" : bench.world.sets[state.set].key,
                "no rule lets the pass " +
                    (deed.node.empty() ? "lose " + state.claim->meta.name
                                       : "bind " + state.claim->meta.name +
                                             " to " + deed.node));
  }
  for (const auto& [uid, deed] : bench.pins) {
    if (!deed.judged) {
      bench.Fault(uid, "no rule lets the pass pin it to " + deed.node);
    }
  }
}

}  // namespace
}  // namespace naive

std::vector<std::string> JudgePass(const Snapshot& snapshot, absl::Time now,
                                   const PassResult& result) {
  naive::Bench bench{.world = naive::WorldOf(snapshot, now), .result = &result};
  naive::ReadDeeds(bench);
  naive::ReadFrozen(bench);
  naive::JudgeSets(bench);
  if (snapshot.config.enabled) {
    naive::JudgeMassLoss(bench);
    naive::JudgeFollow(bench);
    naive::JudgeRepair(bench);
    naive::JudgeRefusals(bench);
    naive::JudgeStarts(bench);
    naive::ChooseVictims(bench.world);
    naive::JudgeMoves(bench);
    naive::JudgeEndings(bench);
    naive::JudgeLost(bench);
    naive::JudgeOrders(bench);
    naive::JudgeVerdicts(bench);
  }
  naive::JudgeAttachments(bench);
  naive::JudgeRest(bench);
  if (snapshot.config.enabled) naive::JudgeTold(bench);
  naive::JudgeWrites(bench);
  naive::JudgeRecords(bench);
  naive::JudgeClock(bench);
  return bench.faults;
}

}  // namespace gpubinder
