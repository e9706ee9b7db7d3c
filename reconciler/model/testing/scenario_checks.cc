#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "reconciler/model/invariants.h"
#include "reconciler/model/testing/object_event.h"
#include "reconciler/model/testing/scenario_runner.h"
#include "reconciler/naive/judge.h"

namespace gpubinder {
namespace {

std::vector<std::string> Sorted(const v1::Decision& decision) {
  std::vector<std::string> texts;
  for (const v1::Effect& effect : decision.effects()) {
    texts.push_back(effect.ShortDebugString());
  }
  for (const v1::Explanation& explanation : decision.explanations()) {
    texts.push_back(explanation.ShortDebugString());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

// Every object of the snapshot, the last by name first.
std::vector<Object> Backwards(const Snapshot& snapshot) {
  std::vector<Object> objects;
  std::apply(
      [&](const auto&... tables) {
        auto add = [&](const auto& table) {
          for (const auto& [key, row] : table.by_name()) {
            objects.emplace_back(table[row]);
          }
        };
        (add(tables), ...);
      },
      snapshot.tables);
  std::reverse(objects.begin(), objects.end());
  return objects;
}

std::string TextOf(const std::vector<SetView>& views) {
  std::string text;
  for (const SetView& view : views) {
    absl::StrAppend(&text, view.set.key(), " ", view.frozen, " ",
                    view.verdict.reason, " ", view.verdict.node, " ",
                    MessageOf(view.verdict), "\n");
  }
  return text;
}

}  // namespace

void ScenarioRunner::CheckPass(const PassResult& result,
                               const v1::Decision& decision) {
  for (const std::string& broken : BrokenInvariants(snapshot_, result)) {
    Fail(absl::StrCat("inv: ", broken));
  }
  for (const std::string& fault : JudgePass(snapshot_, now_, result)) {
    Fail(absl::StrCat("naive: ", fault));
  }
  CheckValve(decision);
  if (replays_ == Replays::kEachPass) CheckReplay(decision);
  if (replays_ == Replays::kNever) CheckFull(decision);
  if (replays_ != Replays::kNever || sequence_ % 8 == 0) {
    CheckOrder(decision);
  }
}

void ScenarioRunner::ReplayJournal() {
  Snapshot replayed;
  for (const auto& [record, object] : journal_) {
    if (record.has_decision()) {
      const v1::Decision again = ToRecord(
          RunPass(replayed, absl::FromUnixNanos(record.time_unix_nanos())),
          record.decision().pass());
      if (again.SerializeAsString() != record.decision().SerializeAsString()) {
        Fail(absl::StrCat("record ", record.sequence(),
                          " is decided otherwise when the journal is run "
                          "again"));
        return;
      }
    }
    Fold(record, object, replayed);
  }
}

// By the journal alone: no more VMIs are ended in ten minutes than may be,
// whatever the fold has kept of them.
void ScenarioRunner::CheckValve(const v1::Decision& decision) {
  std::set<std::string> ended;
  auto count = [&](const v1::Decision& decided) {
    const size_t before = ended.size();
    for (const v1::Effect& effect : decided.effects()) {
      const std::string& vmi = effect.write_claim_set().ended_vmi();
      if (!vmi.empty()) ended.insert(vmi);
    }
    return ended.size() > before;
  };
  for (const auto& [record, object] : journal_) {
    const absl::Time at = absl::FromUnixNanos(record.time_unix_nanos());
    if (at > now_ - absl::Minutes(10)) count(record.decision());
  }
  if (count(decision) &&
      static_cast<int64_t>(ended.size()) > config_.max_endings) {
    Fail(absl::StrCat(ended.size(), " VMIs are ended in ten minutes"));
  }
}

void ScenarioRunner::CheckReplay(const v1::Decision& decision) {
  Snapshot replayed;
  for (const auto& [record, object] : journal_) {
    Fold(record, object, replayed);
  }
  const v1::Decision again = ToRecord(RunPass(replayed, now_), decision.pass());
  if (again.SerializeAsString() != decision.SerializeAsString()) {
    Fail("the same records decide otherwise when they are folded again");
  }
}

// A pass changes nothing but what the next one would keep: without it this is
// a full one, over the same objects.
void ScenarioRunner::CheckFull(const v1::Decision& decision) {
  PassIndex index = std::exchange(snapshot_.index, {});
  IndexChanges changes = std::exchange(snapshot_.changes, {});
  const v1::Decision again =
      ToRecord(RunPass(snapshot_, now_), decision.pass());
  if (again.SerializeAsString() != decision.SerializeAsString()) {
    Fail(absl::StrCat(
        "a full pass decides otherwise: ", again.ShortDebugString(), " not ",
        decision.ShortDebugString()));
  }
  if (TextOf(ViewsOf(snapshot_)) != TextOf(result_.sets)) {
    Fail("a full pass leaves the sets otherwise");
  }
  snapshot_.index = std::move(index);
  snapshot_.changes = std::move(changes);
}

// Names get other numbers and rows other places; what is remembered beside
// the objects stays.
void ScenarioRunner::CheckOrder(const v1::Decision& decision) {
  Snapshot other;
  for (const Object& object : Backwards(snapshot_)) {
    v1::Record record;
    *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
    record.set_time_unix_nanos(absl::ToUnixNanos(now_));
    Fold(record, object, other);
  }
  for (const std::string& name : snapshot_.config.extra_resource_names) {
    other.names.Intern(name);
  }
  other.kinds = snapshot_.kinds;
  other.in_flight = snapshot_.in_flight;
  other.write_rates = snapshot_.write_rates;
  other.usage_writes = snapshot_.usage_writes;
  other.kubelet_refusals = snapshot_.kubelet_refusals;
  other.unlisted_refusals = snapshot_.unlisted_refusals;
  other.refused_pins = snapshot_.refused_pins;
  other.refused_since = snapshot_.refused_since;
  other.attached_since = snapshot_.attached_since;
  other.gone_since = snapshot_.gone_since;
  other.unkept_nodes = snapshot_.unkept_nodes;
  other.endings = snapshot_.endings;
  other.shortages = snapshot_.shortages;
  other.not_ready = snapshot_.not_ready;
  other.kubevirt_silent = snapshot_.kubevirt_silent;
  other.explanations = snapshot_.explanations;
  other.config = snapshot_.config;
  other.journal_uid = snapshot_.journal_uid;
  other.epoch = snapshot_.epoch;
  other.sequence = snapshot_.sequence;
  const v1::Decision again = ToRecord(RunPass(other, now_), decision.pass());
  if (Sorted(again) != Sorted(decision)) {
    Fail("the order in which objects arrived changes the decision");
  }
}

// `other` has begun as this one has, but listed the last kinds first: its first
// decision is the same.
void ScenarioRunner::CheckListOrder(Snapshot other) {
  other.epoch = snapshot_.epoch;
  other.sequence = snapshot_.sequence;
  other.journal_uid = snapshot_.journal_uid;
  Snapshot first = snapshot_;
  const v1::Decision decision = ToRecord(RunPass(first, now_), 0);
  const v1::Decision again = ToRecord(RunPass(other, now_), 0);
  if (Sorted(again) != Sorted(decision)) {
    Fail("the order in which the kinds are listed changes the decision");
  }
}

StateDigest ScenarioRunner::Digest() const {
  StateHash hash;
  AddState(server_, snapshot_, hash);
  AddConfig(config_, hash);
  hash.Add(now_);
  hash.Add(started_);
  for (const Kind kind : unserved_) hash.Add(kind);
  hash.Add(last_.effects_size());
  for (const v1::Effect& effect : last_.effects()) {
    AddEffect(effect, server_, hash);
  }
  hash.Add(unanswered_.size());
  for (const auto& [id, effect] : unanswered_) {
    AddEffect(effect, server_, hash);
  }
  return hash.digest();
}

// After every event a pass with what earlier passes have kept decides what one
// without does, and leaves the sets alike.
void ScenarioRunner::CheckIndex() {
  Snapshot kept = snapshot_;
  Snapshot anew = snapshot_;
  anew.index = {};
  anew.changes = {};
  const v1::Decision with = ToRecord(RunPass(kept, now_), 0);
  const v1::Decision without = ToRecord(RunPass(anew, now_), 0);
  if (with.SerializeAsString() != without.SerializeAsString()) {
    Fail(absl::StrCat(
        "a full pass decides otherwise: ", without.ShortDebugString(), " not ",
        with.ShortDebugString()));
  }
  if (TextOf(ViewsOf(kept)) != TextOf(ViewsOf(anew))) {
    Fail("a full pass leaves the sets otherwise");
  }
}

}  // namespace gpubinder
