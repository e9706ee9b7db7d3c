// The judge at work: the World as the pass under judgement changes it, what
// is expected of it, and the faults found. One judge_*.cc a group of steps.

#ifndef RECONCILER_NAIVE_BENCH_H_
#define RECONCILER_NAIVE_BENCH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/model/pass.h"
#include "reconciler/naive/rules.h"

namespace gpubinder::naive {

// What the pass does with one claim's place, or one pod's gate.
struct Deed {
  int effect = -1;   // index into the result's effects
  std::string node;  // empty: the claim goes Lost
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  bool judged = false;
};

// Which of the reasons a set may give; empty: not judged.
struct Said {
  std::set<v1::Reason> reasons;
  bool details = false;   // the problems of the set must be told, all of them
  std::vector<Why> over;  // and these
};

// How many, where the rules leave some open.
struct Bounds {
  int64_t least = 0, most = 0;
  void Add(Keeps keeps) {
    if (keeps == Keeps::kNo) ++least;
    if (keeps == Keeps::kNo || keeps == Keeps::kUnsure) ++most;
  }
};

// Endings and lost nodes count for so long (M4).
inline constexpr absl::Duration kValveSpan = absl::Minutes(10);

struct Bench {
  World world;
  const PassResult* result = nullptr;
  std::vector<std::string> faults;
  std::map<std::string, const SetView*> views;        // by set key
  std::map<int, Deed> deeds;                          // by claim
  std::map<std::string, Deed> pins;                   // by pod uid
  std::map<std::string, std::set<std::string>> made;  // template names by set
  int last_effect = -1;          // the latest effect judged
  int floor = -1;                // that of the sets and steps judged before
  std::set<int> touched;         // sets whose place an earlier step has changed
  std::set<int> followed;        // by C6
  std::set<std::string> called;  // sets whose VM is brought back (R4)
  std::set<int> waiting;         // gated, and no node fits (G9)
  std::map<int, Said> said;      // by set
  // Every evaluation of the nodes for a set, the last one last.
  std::map<int, std::vector<std::map<std::string, std::vector<Why>>>> seen;

  void Fault(const std::string& key, const std::string& text);
  // The place that a rule demands of a claim; the world follows the pass.
  void ExpectBind(int claim, const std::string& node, const char* rule);
  void ExpectLose(int claim, const std::set<v1::Reason>& reasons,
                  const char* rule);
  void ExpectPin(const SetState& set, const std::string& node,
                 const char* rule);
  // Takes over what the pass does with the claim, where rules leave a choice.
  void Follow(int claim);
  bool Does(int claim) const;
  bool Loses(int claim) const;
  // An earlier step has moved a part of the set: the rest may be the next
  // pass's.
  bool IsMoved(int set) const;
  // A rejection of the set is being written, or its VM is brought back: the
  // rest may be the next pass's.
  bool IsRefused(const SetState& set) const;
  Choice Look(const Ask& ask);
  // As a set that can only stay with its launcher may be told of the nodes.
  void LookFrom(Ask ask, const Node& own);
};

// judge_steps.cc, judge_lost.cc
void JudgeFollow(Bench& bench);
void JudgeRepair(Bench& bench);
void JudgeMoves(Bench& bench);
void JudgeLost(Bench& bench);
void JudgeOrders(Bench& bench);
// The claims of one list and then those of the other.
std::vector<int> Both(std::vector<int> a, const std::vector<int>& b);
// A launcher that somebody else took the gate off, and that has no node yet:
// the pod is not touched, but what its claims may do is not said.
void FollowLoose(Bench& bench, int index, const std::vector<int>& claims);
// The step on every set that it may change, oldest first.
template <typename Step>
void ForEachSet(Bench& bench, Step step) {
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    const int index = static_cast<int>(s);
    if (bench.world.sets[s].frozen || bench.followed.contains(index)) continue;
    bench.floor = bench.last_effect;
    step(bench, index);
  }
}
// judge_mass_loss.cc, judge_endings.cc: M4, M5.
void JudgeMassLoss(Bench& bench);
void JudgeEndings(Bench& bench);
// M4: asked to end, and it has not yet, so that nothing of it moves. What a
// launcher at its gate gets is G's.
bool IsToEnd(const World& world, const SetState& set);
// A call that ends a VMI for another cause than a refusal.
bool IsEndingCall(const v1::Effect& effect);
// Why a launcher that is pinned to the node and has not been scheduled cannot
// start there for good (M5).
// `pod_rules`: also by what its pod asks of a node.
std::set<v1::Reason> OfPinned(const World& world, const SetState& set,
                              const std::string& node, bool pod_rules);
// judge_start.cc
void JudgeStarts(Bench& bench);
// What M does with a set whose launcher G has left at its gate.
void LeaveGated(Bench& bench, int index, const std::vector<int>& bound);
// judge_refusals.cc: R.
void JudgeRefusals(Bench& bench);
// R1, at the time of the world.
bool IsRefused(const World& world, int set);
// Whether the set's memory holds the entry, or this pass writes it.
bool IsRecorded(const World& world, const SetState& set,
                const std::string& pod_uid);
// The call that brings a refused VM back; empty for any other effect.
std::string CallOf(const v1::Effect& effect);
// judge_writes.cc: attachments, and what every effect must obey.
void JudgeAttachments(Bench& bench);
void JudgeWrites(Bench& bench);
// judge_records.cc: usage records and settings.
void JudgeRecords(Bench& bench);
// Whether a write to the object is without answer, or was refused and waits.
bool HasToWait(const World& world, const char* kind,
               const std::string& name_space, const std::string& name,
               const std::string& uid);
// judge_told.cc: conditions, memories and Warnings.
void JudgeTold(Bench& bench);
// Each number that is no part of a name becomes #, so that what is left is what
// the text is about.
std::string WithoutNumbers(const std::string& text);
// judge_conditions.cc, for the former.
void JudgeConditions(Bench& bench, const SetState& set, v1::Reason reason);
void JudgeClasses(Bench& bench);
// The reason as users see it.
std::string ReasonWord(v1::Reason reason);
// judge_clock.cc: when the pass wants to run again.
void JudgeClock(Bench& bench);
// judge_words.cc: sets and verdicts.
void JudgeSets(Bench& bench);
void JudgeVerdicts(Bench& bench);

// The set's place in the world; -1: there is none of that key.
int IndexOf(const World& world, const std::string& key);
std::vector<int> InPhase(const World& world, const SetState& set,
                         const std::string& phase);
// Those of the claims that are on the node.
std::vector<int> OnNode(const World& world, const std::vector<int>& claims,
                        const std::string& node);
std::set<std::string> NodesOf(const World& world,
                              const std::vector<int>& claims);

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_BENCH_H_
