#include "reconciler/audit.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/invariants.h"
#include "reconciler/model/pass.h"
#include "reconciler/naive/judge.h"
#include "reconciler/record_fold.h"

namespace gpubinder {
namespace {

using Target3 = std::tuple<std::string, std::string, std::string>;

Target3 TargetOf(const v1::Effect& effect) {
  return {effect.target().kind(), effect.target().namespace_(),
          effect.target().name()};
}

// An Event is an object of its own, whatever it is about.
bool WritesTarget(const v1::Effect& effect) {
  return !effect.has_emit_warning();
}

class Auditor {
 public:
  Auditor(const AuditOptions& options, AuditReport& report)
      : options_(options), report_(report) {}

  void Take(const v1::Record& record, std::optional<Object> object) {
    sequence_ = record.sequence();
    ++report_.records;
    CheckTime(record);
    if (record.has_pass_began()) {
      began_ = record;
    } else if (record.has_decision()) {
      CheckDecision(record);
    } else if (record.has_outcome()) {
      ++report_.outcomes;
      CheckOutcome(record.outcome());
    } else if (record.has_leadership()) {
      // A new reign begins with lists; answers to the last one may still come.
      late_.merge(awaited_);
      awaited_.clear();
      unknown_.clear();
    }
    Fold(record, std::move(object), snapshot_);
  }

 private:
  void Say(const std::string& text) {
    ++report_.faults;
    options_.on_fault(sequence_, text);
  }

  void CheckTime(const v1::Record& record) {
    if (record.time_unix_nanos() < time_) {
      Say(absl::StrCat(
          "R4: the time runs backwards, from ",
          absl::FormatTime(absl::FromUnixNanos(time_), absl::UTCTimeZone()),
          " to ",
          absl::FormatTime(absl::FromUnixNanos(record.time_unix_nanos()),
                           absl::UTCTimeZone())));
    }
    time_ = record.time_unix_nanos();
  }

  void CheckDecision(const v1::Record& record) {
    const v1::Decision& decision = record.decision();
    if (!began_.has_pass_began() || decision.pass() != began_.sequence() ||
        decision.pass() + 1 != sequence_ ||
        began_.pass_began().through() + 1 != decision.pass()) {
      return Say(absl::StrCat("J3: the decision is of a pass that began in ",
                              "record ", decision.pass(),
                              ", which is not the one before it"));
    }
    if (record.role() == v1::LEADER) Await(decision);
    if (record.model_version() != kModelVersion) {
      ++report_.skipped;
      return;
    }
    ++report_.passes;
    report_.effects += static_cast<uint64_t>(decision.effects_size());
    const absl::Time now =
        absl::FromUnixNanos(began_.pass_began().time_unix_nanos());
    PassResult result = RunPass(snapshot_, now);
    if (ToRecord(result, decision.pass()).SerializeAsString() !=
        decision.SerializeAsString()) {
      Say("J3: the pass gives another result when it is run again; "
          "gpubinder replay shows the difference");
    }
    result.sets = ViewsOf(snapshot_);
    // Judged is what was recorded, and may have been sent.
    result.effects = {decision.effects().begin(), decision.effects().end()};
    for (const std::string& broken : BrokenInvariants(snapshot_, result)) {
      Say(broken);
    }
    for (const std::string& fault : JudgePass(snapshot_, now, result)) {
      Say(absl::StrCat("naive model: ", fault));
    }
  }

  void Await(const v1::Decision& decision) {
    std::set<Target3> busy;
    for (const auto& [id, effect] : awaited_) {
      if (WritesTarget(effect)) busy.insert(TargetOf(effect));
    }
    for (int i = 0; i < decision.effects_size(); ++i) {
      const v1::Effect& effect = decision.effects(i);
      if (WritesTarget(effect) && busy.contains(TargetOf(effect))) {
        Say(absl::StrCat("F5: ", effect.target().kind(), " ",
                         effect.target().name(),
                         ": written while an earlier write has no answer"));
      }
      if (effect.has_bind_claim()) CheckBoundAt(effect);
      awaited_[{sequence_, static_cast<uint32_t>(i)}] = effect;
    }
  }

  // Rule O3.
  void CheckBoundAt(const v1::Effect& effect) {
    int64_t& last = bound_at_[effect.target().uid()];
    const int64_t at = effect.bind_claim().bound_at_unix_seconds();
    if (at < last) {
      Say(absl::StrCat("O3: GPUClaim ", effect.target().name(),
                       ": boundAt runs backwards, from ", last, " to ", at));
    }
    last = at;
  }

  void CheckOutcome(const v1::Outcome& outcome) {
    if (late_.erase({outcome.decision(), outcome.effect()}) > 0) return;
    auto found = awaited_.find({outcome.decision(), outcome.effect()});
    if (found == awaited_.end()) {
      return Say(absl::StrCat("J1: an answer to effect ", outcome.effect(),
                              " of record ", outcome.decision(),
                              ", which was not sent or is answered already"));
    }
    const bool read_back = outcome.kind() == v1::Outcome::READ_BACK;
    if (read_back != unknown_.contains(found->first)) {
      Say(absl::StrCat("F5: ", found->second.target().kind(), " ",
                       found->second.target().name(),
                       read_back ? ": read back without an unknown outcome"
                                 : ": answered after an unknown outcome"));
    }
    if (outcome.kind() == v1::Outcome::UNKNOWN) {
      unknown_.insert(found->first);
      return;
    }
    if (outcome.kind() == v1::Outcome::APPLIED &&
        found->second.has_delete_pod() &&
        !deleted_pods_.insert(found->second.target().uid()).second) {
      Say(absl::StrCat("P6: Pod ", found->second.target().name(),
                       ": a second delete of its uid was applied"));
    }
    unknown_.erase(found->first);
    awaited_.erase(found);
  }

  const AuditOptions& options_;
  AuditReport& report_;
  Snapshot snapshot_;
  uint64_t sequence_ = 0;
  int64_t time_ = 0;
  v1::Record began_;
  // Sent and not answered for good, by decision and index; those of an earlier
  // reign apart.
  std::map<std::pair<uint64_t, uint32_t>, v1::Effect> awaited_, late_;
  std::set<std::pair<uint64_t, uint32_t>> unknown_;
  std::set<std::string> deleted_pods_;       // uids
  std::map<std::string, int64_t> bound_at_;  // by claim uid
};

}  // namespace

AuditReport Audit(const Journal& journal, const AuditOptions& options) {
  AuditReport report;
  Auditor auditor(options, report);
  report.read =
      ReadDecoded(journal, journal.first_sequence(),
                  [&](const v1::Record& record, std::optional<Object> object) {
                    if (options.on_record) options.on_record(record.sequence());
                    auditor.Take(record, std::move(object));
                    return true;
                  });
  report.last_digest = absl::BytesToHexString(journal.last_digest());
  return report;
}

}  // namespace gpubinder
