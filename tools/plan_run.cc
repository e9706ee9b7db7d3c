#include "tools/plan_run.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/api_client.h"
#include "k8s/effect_codec.h"
#include "proto/journal.pb.h"
#include "reconciler/model/effect_text.h"
#include "reconciler/model/fold.h"
#include "tools/planned_cluster.h"

namespace gpubinder {
namespace {

constexpr size_t kChangesBetweenNews = 1000;

class Runner {
 public:
  explicit Runner(const PlanOptions& options)
      : options_(options), cluster_(options.now) {}

  absl::Status Load(const Input& input) {
    Tell({});
    for (const InputObject& object : input.objects) {
      if (absl::Status s = cluster_.Add(object); !s.ok()) return s;
    }
    v1::Record config;
    *config.mutable_config() = ConfigRecord(options_.config);
    FoldNext(std::move(config), std::nullopt);
    v1::Record leadership;
    leadership.mutable_leadership()->set_leading(true);
    FoldNext(std::move(leadership), std::nullopt);
    for (int i = 0; i < kKinds; ++i) {
      if (input.served[i]) FoldList(static_cast<Kind>(i));
    }
    return absl::OkStatus();
  }

  void RunPasses() {
    while (run_.passes < options_.most_passes && !run_.settled) {
      ++run_.passes;
      Tell({.pass = run_.passes});
      PassResult result = RunPass(run_.snapshot, options_.now);
      result.sets = ViewsOf(run_.snapshot);
      if (options_.on_pass) {
        options_.on_pass(run_.passes, run_.snapshot, result);
      }
      Keep(result);
      v1::Record record;
      *record.mutable_decision() = ToRecord(result, sequence_);
      const uint64_t decision = FoldNext(std::move(record), std::nullopt);
      run_.settled = result.effects.empty();
      Send(result.effects, decision);
    }
  }

  PlanRun Finish() && {
    RefreshIndex(run_.snapshot);
    return std::move(run_);
  }

 private:
  void Tell(const PlanProgress& progress) const {
    if (options_.on_progress) options_.on_progress(progress);
  }

  uint64_t FoldNext(v1::Record record, std::optional<Object> object) {
    record.set_sequence(++sequence_);
    record.set_time_unix_nanos(absl::ToUnixNanos(options_.now));
    record.set_role(v1::LEADER);
    record.set_epoch(1);
    record.set_journal_uid("00000000");
    Fold(record, std::move(object), run_.snapshot);
    return sequence_;
  }

  void FoldList(Kind kind) {
    const std::string name(KindName(kind));
    v1::Record began;
    began.mutable_list_began()->set_kind(name);
    FoldNext(std::move(began), std::nullopt);
    cluster_.ForEach(kind,
                     [&](ObjectState state) { FoldState(std::move(state)); });
    v1::Record ended;
    ended.mutable_list_ended()->set_kind(name);
    FoldNext(std::move(ended), std::nullopt);
  }

  void FoldState(ObjectState state) {
    v1::Record record;
    *record.mutable_object() = std::move(state.event);
    FoldNext(std::move(record), std::move(state.object));
  }

  // Takes the views over: with many sets and nodes they are large.
  void Keep(PassResult& result) {
    for (SetView& view : result.sets) {
      const std::string key = view.set.key();
      if (view.verdict.reason != v1::REASON_UNSPECIFIED) {
        run_.verdicts[key] = {.reason = view.verdict.reason,
                              .message = MessageOf(view.verdict)};
      }
      if (!view.verdict.judged.empty()) {
        run_.judged[key] = std::move(view.verdict.judged);
      }
    }
    result.sets = {};
  }

  // As the effector sends them: a write that fails ends the rest of its set.
  void Send(const std::vector<v1::Effect>& effects, uint64_t decision) {
    std::set<std::string> ended;
    std::map<std::string, std::string> versions;
    for (size_t i = 0; i < effects.size(); ++i) {
      if (i % kChangesBetweenNews == 0) {
        Tell({.pass = run_.passes, .sent = i, .of = effects.size()});
      }
      run_.effects.push_back({.pass = run_.passes, .effect = effects[i]});
      v1::Effect effect = effects[i];
      v1::Record record;
      v1::Outcome& outcome = *record.mutable_outcome();
      outcome.set_decision(decision);
      outcome.set_effect(static_cast<uint32_t>(i));
      std::vector<ObjectState> changes;
      if (ended.contains(effect.set_key())) {
        outcome.set_kind(v1::Outcome::SKIPPED);
      } else {
        auto newer = versions.find(effect.target().uid());
        if (newer != versions.end()) {
          effect.mutable_target()->set_resource_version(newer->second);
        }
        changes = SendOne(effect, decision, outcome);
        if (outcome.kind() == v1::Outcome::REFUSED &&
            !effect.set_key().empty()) {
          ended.insert(effect.set_key());
        }
      }
      FoldNext(std::move(record), std::nullopt);
      for (ObjectState& change : changes) {
        versions[change.event.uid()] = change.event.resource_version();
        FoldState(std::move(change));
      }
    }
  }

  std::vector<ObjectState> SendOne(const v1::Effect& effect, uint64_t decision,
                                   v1::Outcome& outcome) {
    const DecisionKey key = {
        .journal = "00000000", .epoch = 1, .sequence = decision};
    std::vector<ObjectState> changes;
    std::string answer;
    outcome.set_kind(v1::Outcome::APPLIED);
    for (int done = 0;; ++done) {
      const absl::StatusOr<std::optional<EffectRequest>> request =
          NextRequest(effect, key, done, answer);
      if (!request.ok()) {
        Refuse(effect, request.status(), outcome);
        break;
      }
      if (!request->has_value()) break;
      absl::StatusOr<PlannedCluster::Answer> got = cluster_.Send(**request);
      if (!got.ok()) {
        Refuse(effect, got.status(), outcome);
        break;
      }
      answer = std::move(got->json);
      std::move(got->changes.begin(), got->changes.end(),
                std::back_inserter(changes));
    }
    return changes;
  }

  void Refuse(const v1::Effect& effect, const absl::Status& status,
              v1::Outcome& outcome) {
    outcome.set_kind(v1::Outcome::REFUSED);
    outcome.set_code(ApiErrorOf(status).code);
    outcome.set_message(std::string(status.message()));
    run_.refusals.push_back(absl::StrCat(
        "pass ", run_.passes, ": ", WriteText(effect), ": ", status.message()));
  }

  const PlanOptions& options_;
  PlannedCluster cluster_;
  PlanRun run_;
  uint64_t sequence_ = 0;
};

}  // namespace

absl::StatusOr<PlanRun> RunPlanPasses(const Input& input,
                                      const PlanOptions& options) {
  Runner runner(options);
  if (absl::Status s = runner.Load(input); !s.ok()) return s;
  runner.RunPasses();
  return std::move(runner).Finish();
}

}  // namespace gpubinder
