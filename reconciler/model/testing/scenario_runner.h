// Runs the commands of a scenario: a small cluster, a binder's snapshot that
// sees it through journal records, and a clock that only `advance` moves.
//
// After every pass it checks what must always hold (invariants.h), that the
// same records give the same decision again, and that the order in which
// objects arrived does not matter; when a leader begins, nor that in which it
// lists the kinds. scenario_test.cc lists the commands.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_RUNNER_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_RUNNER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/scenario_server.h"
#include "reconciler/model/testing/scenario_words.h"
#include "reconciler/model/testing/state_digest.h"

namespace gpubinder {

// When the records are folded again and decide again: after each pass, which
// costs O(passes squared), or all of them when the journal ends. Then a full
// pass is compared with each pass, not after each event. Or never: each pass is
// decided once more without what earlier ones have kept, and in one of
// eight with the objects in another order. Then no journal is held, and a copy
// of the runner costs the same however long its history is.
enum class Replays { kEachPass, kAtTheEnd, kNever };

using JournalEntry = std::pair<v1::Record, std::optional<Object>>;

class ScenarioRunner {
 public:
  ScenarioRunner() : ScenarioRunner(Replays::kEachPass) {}
  explicit ScenarioRunner(Replays replays);

  // The output of one command, line by line.
  std::vector<std::string> Run(absl::string_view command);

  // A pass over a state that was judged before: without any check.
  void RunJudgedPass();

  // Two runners of one digest go on alike (state_digest.h).
  StateDigest Digest() const;

  // For kAtTheEnd: every pass since the last crash, once. A crash does it too.
  void ReplayJournal();

  // The cluster as it is, seen or not.
  const ScenarioServer& server() const { return server_; }
  // Whether a write is without answer, or has to wait before it is tried again.
  bool waits() const;
  // Of the last pass, those not sent yet.
  int effects() const { return last_.effects_size(); }
  const v1::Decision& decided() const { return last_; }

  // Commands that could not be read, and checks that failed.
  const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  // What becomes of one effect on its way: nothing special, refused with a
  // code, applied without an answer, or lost before it was applied.
  struct Fate {
    enum Kind { kApplied, kRefused, kUnanswered, kLost } kind = kApplied;
    int code = 0;
  };
  using Fates = std::map<uint32_t, Fate>;
  using Object3 = std::tuple<std::string, std::string, std::string>;

  void Serve(bool served, Words& words);
  void DescribeObject(Kind kind, Words& words, bool seen);
  void PutAndTell(Object object, bool seen);
  void RemoveObject(Words& words, bool seen, bool at_once);
  enum class Checks { kNone, kAll };
  void Decide(Checks checks);
  std::vector<std::string> RunPassNow();
  std::vector<std::string> Apply(const Fates& fates);
  std::string Send(uint32_t index, const Fate& fate, const Object3& about,
                   std::map<Object3, std::string>& versions);
  std::vector<std::string> ReadBack();
  std::vector<std::string> Settle();
  std::vector<std::string> Confirm(Words& words);
  std::vector<std::string> Reports() const;
  void CrashAfter(uint32_t applied);
  std::vector<std::string> Explain(absl::string_view name) const;
  std::vector<std::string> Timer() const;
  std::vector<std::string> Show(Words& words) const;
  Fates ReadFates(Words& words);
  std::vector<std::string> RunVerb(const std::string& verb, Words& words,
                                   bool seen);

  void Start();
  void BecomeLeader();
  void Relist(Kind kind);
  // A complete list of the kind as records, without sequence.
  std::vector<JournalEntry> ListOf(Kind kind) const;
  void Tell(v1::Record record, std::optional<Object> object = std::nullopt);
  void TellObject(v1::ObjectEvent::Type type, const Object& object);
  void TellOutcome(EffectId id, v1::Outcome::Kind kind, const Answer& answer);
  void CheckPass(const PassResult& result, const v1::Decision& decision);
  void CheckReplay(const v1::Decision& decision);
  void CheckFull(const v1::Decision& decision);
  void CheckOrder(const v1::Decision& decision);
  void CheckListOrder(Snapshot other);
  void CheckIndex();
  void CheckValve(const v1::Decision& decision);
  void Fail(std::string mistake) { mistakes_.push_back(std::move(mistake)); }

  Replays replays_;
  absl::Time now_;
  ScenarioServer server_;
  Snapshot snapshot_;
  Config config_;
  // Few scenarios are about what the others would only repeat.
  std::set<Kind> unserved_ = {Kind::kWorkload, Kind::kConfigMap};
  bool started_ = false;
  uint64_t sequence_ = 0, epoch_ = 0;
  std::vector<JournalEntry> journal_;
  uint64_t decision_ = 0;  // the sequence of the last one
  v1::Decision last_;
  PassResult result_;
  std::map<EffectId, v1::Effect> unanswered_;
  std::vector<std::string> mistakes_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_RUNNER_H_
