// H3: the conditions that the pass writes of its verdicts, on claims and
// classes.

#include <algorithm>

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

bool IsSuccess(v1::Reason reason) {
  return reason == v1::PLACED || reason == v1::SERVING;
}

bool IsLoss(const std::string& reason) {
  for (const v1::Reason loss :
       {v1::NODE_GONE, v1::NODE_LOST_CAPACITY, v1::NODE_TAINTED,
        v1::NODE_MISMATCH, v1::NODE_UNAVAILABLE, v1::NO_NODE_FITS}) {
    if (reason == ReasonWord(loss)) return true;
  }
  return false;
}

const Condition* Find(const std::vector<Condition>& conditions,
                      const std::string& type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

// The whole list that the write leaves; nothing for one without.
template <typename Write>
void Overwrite(const Write& write, std::vector<Condition>& conditions) {
  if (write.conditions().empty()) return;
  conditions.clear();
  for (const v1::ConditionEntry& entry : write.conditions()) {
    conditions.push_back({.type = entry.type(),
                          .status = entry.status(),
                          .reason = entry.reason(),
                          .message = entry.message(),
                          .observed_generation = entry.observed_generation()});
  }
}

std::vector<Condition> ConditionsAfter(Bench& bench, const std::string& key,
                                       const std::string& uid,
                                       std::vector<Condition> conditions) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() != uid) continue;
    if (effect.has_bind_claim()) Overwrite(effect.bind_claim(), conditions);
    if (effect.has_lose_claim()) Overwrite(effect.lose_claim(), conditions);
    if (!effect.has_set_condition()) continue;
    const v1::SetCondition& write = effect.set_condition();
    const Condition* before = Find(conditions, write.type());
    if (before != nullptr && before->status == write.status() &&
        before->reason == ReasonWord(write.reason()) &&
        WithoutNumbers(before->message) == WithoutNumbers(write.message()) &&
        effect.target().kind() == "GPUClaim") {
      bench.Fault(key, "H3: " + write.type() + " is written, and means what " +
                           "it did: " + write.message());
    }
    Overwrite(write, conditions);
    const Condition* after = Find(conditions, write.type());
    if (after == nullptr || after->status != write.status() ||
        after->reason != ReasonWord(write.reason())) {
      bench.Fault(key, "H3: the list holds another " + write.type());
    }
  }
  return conditions;
}

void ExpectCondition(Bench& bench, const std::string& key,
                     const std::string& of, const Condition* found,
                     const std::string& status, const std::string& reason) {
  if (found != nullptr && found->status == status && found->reason == reason) {
    return;
  }
  bench.Fault(
      key,
      "H3: " + of + " is to be " + status + "/" + reason + ", it is " +
          (found == nullptr ? "absent" : found->status + "/" + found->reason));
}

void JudgeBoundCondition(Bench& bench, const SetState& set,
                         const ClaimState& state, v1::Reason reason,
                         const Condition* bound) {
  const std::string of = state.claim->meta.name + " Bound";
  if (state.phase == "Pending") {
    // What is told behind a gate that somebody else took off is not said.
    const bool ungated = set.loose != nullptr && set.loose->node_name.empty();
    if (IsSuccess(reason) || ungated) return;
    ExpectCondition(bench, set.key, of, bound, "False", ReasonWord(reason));
  } else if (state.phase == "Lost") {
    const Condition* before = Find(state.claim->conditions, "Bound");
    if (bound == nullptr || bound->status != "False" ||
        !IsLoss(bound->reason)) {
      ExpectCondition(bench, set.key, of, bound, "False", "(its loss)");
    } else if (before != nullptr && before->status == "False" &&
               state.claim->phase == "Lost" && IsLoss(before->reason) &&
               before->reason != bound->reason) {
      bench.Fault(set.key, "H3: " + of + " forgets the reason of its loss");
    }
  } else if (!set.stuck) {
    ExpectCondition(bench, set.key, of, bound, "True", "Placed");
  }
}

void JudgeGathered(Bench& bench, const SetState& set, const ClaimState& state,
                   v1::Reason reason, const Condition* gathered) {
  const std::string of = state.claim->meta.name + " Gathered";
  const Condition* before = Find(state.claim->conditions, "Gathered");
  const bool placed =
      reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE;
  if (set.gated != nullptr && !placed && !set.vmi->meta.deleting) {
    return ExpectCondition(bench, set.key, of, gathered, "False",
                           ReasonWord(reason));
  }
  // Whether one waits whose VMI is being deleted is not said.
  const bool may_wait = set.gated != nullptr && !placed;
  if (before == nullptr && gathered != nullptr && !may_wait) {
    return bench.Fault(set.key, "H3: " + of + ", and it never waited");
  }
}

bool IsServed(const World& world, const GpuClass& of) {
  for (const Node* node : world.nodes) {
    if (ServesClass(world, of, *node)) return true;
  }
  return false;
}

// Its finalizer is being written: the rest may follow.
bool IsProtected(const Bench& bench, const GpuClass& of) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() == of.meta.uid &&
        (effect.has_add_finalizer() || effect.has_remove_finalizer())) {
      return true;
    }
  }
  return false;
}

void JudgeClass(Bench& bench, const GpuClass& of) {
  const World& world = bench.world;
  const std::string key = "class " + of.meta.name;
  const std::vector<Condition> after =
      ConditionsAfter(bench, key, of.meta.uid, of.conditions);
  const Condition* before = Find(of.conditions, "Ready");
  const Condition* ready = Find(after, "Ready");
  int writes = 0;
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() == of.meta.uid && effect.has_set_condition()) {
      ++writes;
    }
  }
  const bool served = IsServed(world, of);
  const std::string status = served ? "True" : "False";
  const std::string reason =
      ReasonWord(served ? v1::SERVING : v1::NO_SERVING_NODE);
  const bool right =
      before != nullptr && before->status == status &&
      before->reason == reason &&
      before->observed_generation == of.meta.generation &&
      (served ? before->message == reason
              : before->message.find(of.resource_name) != std::string::npos);
  if (writes > (right ? 0 : 1)) {
    bench.Fault(key, "H3: Ready is written, and means what it did");
  }
  // A write that is without answer, or has to wait, is no step's to repeat; a
  // class that cannot be read serves nothing, whether it says so is not said.
  if (of.meta.deleting || !of.meta.problems.empty() || IsProtected(bench, of) ||
      HasToWait(world, "GPUClass", "", of.meta.name, of.meta.uid)) {
    return;
  }
  if (right || (writes == 1 && ready != nullptr && ready->status == status &&
                ready->reason == reason &&
                ready->observed_generation == of.meta.generation)) {
    return;
  }
  bench.Fault(
      key,
      "H3: is to be Ready=" + status + "/" + reason + ", it is " +
          (ready == nullptr ? "absent" : ready->status + "/" + ready->reason));
}

}  // namespace

void JudgeConditions(Bench& bench, const SetState& set, v1::Reason reason) {
  // What waits beside a claim that this pass places or loses, or in a VM that
  // it ends, is told of it by the next pass at the latest.
  const bool moved =
      std::any_of(set.members.begin(), set.members.end(),
                  [&](int member) { return bench.deeds.contains(member); }) ||
      std::any_of(bench.result->effects.begin(), bench.result->effects.end(),
                  [&](const v1::Effect& effect) {
                    return effect.set_key() == set.key && IsEndingCall(effect);
                  });
  for (const int member : set.members) {
    const ClaimState& state = bench.world.claims[member];
    const std::vector<Condition> after = ConditionsAfter(
        bench, set.key, state.claim->meta.uid, state.claim->conditions);
    if (reason == v1::REASON_UNSPECIFIED) continue;
    if (!moved || bench.deeds.contains(member)) {
      JudgeBoundCondition(bench, set, state, reason, Find(after, "Bound"));
    }
    if (moved && reason != v1::PLACED) continue;
    JudgeGathered(bench, set, state, reason, Find(after, "Gathered"));
  }
}

void JudgeClasses(Bench& bench) {
  for (const GpuClass* of : bench.world.classes) JudgeClass(bench, *of);
}

}  // namespace gpubinder::naive
