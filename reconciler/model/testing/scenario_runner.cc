#include "reconciler/model/testing/scenario_runner.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reconciler/model/by_hand.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/testing/object_event.h"
#include "reconciler/model/testing/scenario_objects.h"
#include "reconciler/model/testing/scenario_print.h"

namespace gpubinder {
namespace {

constexpr int kMostPasses = 20;

}  // namespace

ScenarioRunner::ScenarioRunner(Replays replays)
    : replays_(replays), now_(absl::FromUnixSeconds(1767225600)) {}

std::vector<std::string> ScenarioRunner::Run(absl::string_view command) {
  Words words(command);
  std::string verb = words.Next().value_or("");
  const bool seen = verb != "unseen";
  if (!seen) verb = words.Next().value_or("");
  std::vector<std::string> output = RunVerb(verb, words, seen);
  if (!words.Rest().empty()) {
    Fail(absl::StrCat("not understood: ", words.Rest(), " in: ", command));
  }
  return output;
}

std::vector<std::string> ScenarioRunner::RunVerb(const std::string& verb,
                                                 Words& words, bool seen) {
  if (const std::optional<Kind> kind = KindOfCommand(verb)) {
    DescribeObject(*kind, words, seen);
  } else if (verb == "delete" || verb == "gone") {
    RemoveObject(words, seen, verb == "gone");
  } else if (verb == "config") {
    ReadConfig(words, config_);
    if (started_) {
      v1::Record record;
      *record.mutable_config() = ConfigRecord(config_);
      Tell(std::move(record));
    }
  } else if (verb == "advance") {
    absl::Duration step;
    if (!absl::ParseDuration(words.Next().value_or(""), &step)) {
      Fail("advance takes a duration");
    }
    now_ += step;
  } else if (verb == "serve" || verb == "unserve") {
    Serve(verb == "serve", words);
  } else if (verb == "relist") {
    Relist(KindOfCommand(words.Next().value_or("")).value_or(Kind::kNode));
  } else if (verb == "pass") {
    return RunPassNow();
  } else if (verb == "settle") {
    return Settle();
  } else if (verb == "apply") {
    return Apply(ReadFates(words));
  } else if (verb == "readback") {
    return ReadBack();
  } else if (verb == "crash-after") {
    CrashAfter(static_cast<uint32_t>(NumberOf(words.Next().value_or("0"))));
  } else if (verb == "explain") {
    return Explain(words.Next().value_or(""));
  } else if (verb == "confirm") {
    return Confirm(words);
  } else if (verb == "reports") {
    return Reports();
  } else if (verb == "timer") {
    return Timer();
  } else if (verb == "show") {
    return Show(words);
  } else {
    Fail(absl::StrCat("no such command: ", verb));
  }
  return {};
}

void ScenarioRunner::Serve(bool served, Words& words) {
  const std::optional<Kind> kind = KindOfCommand(words.Next().value_or(""));
  if (!kind.has_value()) return Fail("no such kind");
  if (served) {
    unserved_.erase(*kind);
  } else {
    unserved_.insert(*kind);
  }
  if (!started_) return;
  v1::Record record;
  record.mutable_kind_served()->set_kind(std::string(KindName(*kind)));
  record.mutable_kind_served()->set_served(served);
  Tell(std::move(record));
  if (served) Relist(*kind);
}

void ScenarioRunner::DescribeObject(Kind kind, Words& words, bool seen) {
  const bool unlisted = words.TakeFlag("unlisted");
  const std::string name = words.Next().value_or("");
  Object object = Describe(kind, name, server_, now_, words);
  PutAndTell(object, seen);
  const auto [space, short_name] = NameOf(kind, name);
  const Object* stored = server_.Find(kind, space, short_name);
  const Pod* pod = std::get_if<Pod>(stored);
  if (pod == nullptr || unlisted || pod->meta.owners.empty()) return;
  const Object* vmi = server_.Find(Kind::kVirtualMachineInstance, space,
                                   pod->meta.owners[0].name);
  if (vmi == nullptr || MetaOf(*vmi).uid != pod->meta.owners[0].uid) return;
  VirtualMachineInstance listing = std::get<VirtualMachineInstance>(*vmi);
  ListPod(*pod, listing);
  if (listing != std::get<VirtualMachineInstance>(*vmi)) {
    PutAndTell(listing, seen);
  }
}

void ScenarioRunner::PutAndTell(Object object, bool seen) {
  const Object& stored = server_.Put(std::move(object));
  if (started_ && seen) TellObject(v1::ObjectEvent::MODIFIED, stored);
}

void ScenarioRunner::RemoveObject(Words& words, bool seen, bool at_once) {
  const std::optional<Kind> kind = KindOfCommand(words.Next().value_or(""));
  if (!kind.has_value()) return Fail("no such kind");
  const auto [space, name] = NameOf(*kind, words.Next().value_or(""));
  const Object* found = server_.Find(*kind, space, name);
  if (found == nullptr) return Fail(absl::StrCat("no object ", name));
  const Object before = *found;
  if (at_once) {
    server_.Erase(*kind, space, name);
  } else {
    server_.Delete(*kind, space, name, now_);
  }
  if (!started_ || !seen) return;
  const Object* left = server_.Find(*kind, space, name);
  TellObject(
      left == nullptr ? v1::ObjectEvent::DELETED : v1::ObjectEvent::MODIFIED,
      left == nullptr ? before : *left);
}

void ScenarioRunner::Decide(Checks checks) {
  Start();
  v1::Record began;
  began.mutable_pass_began()->set_time_unix_nanos(absl::ToUnixNanos(now_));
  began.mutable_pass_began()->set_through(sequence_);
  Tell(std::move(began));
  const uint64_t pass = sequence_;
  if (replays_ == Replays::kAtTheEnd) CheckIndex();
  result_ = RunPass(snapshot_, now_);
  if (checks == Checks::kAll) result_.sets = ViewsOf(snapshot_);
  last_ = ToRecord(result_, pass);
  if (checks == Checks::kAll) CheckPass(result_, last_);
  v1::Record record;
  *record.mutable_decision() = last_;
  record.set_role(v1::LEADER);
  Tell(std::move(record));
  decision_ = sequence_;
}

void ScenarioRunner::RunJudgedPass() { Decide(Checks::kNone); }

std::vector<std::string> ScenarioRunner::RunPassNow() {
  Decide(Checks::kAll);
  std::vector<std::string> lines;
  for (const v1::Effect& effect : last_.effects()) {
    lines.push_back(EffectText(effect, now_));
  }
  if (lines.empty()) lines.push_back("(no effects)");
  return lines;
}

std::vector<std::string> ScenarioRunner::Settle() {
  std::vector<std::string> lines;
  for (int i = 0; i < kMostPasses; ++i) {
    for (std::string& line : RunPassNow()) {
      if (line != "(no effects)") lines.push_back(std::move(line));
    }
    if (last_.effects().empty()) {
      lines.push_back(
          absl::StrCat("(settled in ", i, i == 1 ? " pass)" : " passes)"));
      return lines;
    }
    for (std::string& line : Apply({})) lines.push_back(std::move(line));
  }
  Fail("does not settle");
  return lines;
}

std::vector<std::string> ScenarioRunner::Explain(absl::string_view name) const {
  const auto [space, short_name] = SplitName(name);
  const std::string key = absl::StrCat(space, "/", short_name);
  for (const SetView& view : result_.sets) {
    if (view.set.key() != key) continue;
    std::vector<std::string> lines = ViewText(view);
    auto held = snapshot_.write_rates.find(key);
    if (held != snapshot_.write_rates.end()) {
      const WriteRate& rate = held->second;
      lines.push_back(absl::StrCat(
          "  held: ", rate.write, ", tried ", rate.refusals, ", ", rate.answer,
          ", again in ", absl::FormatDuration(rate.until - now_)));
    }
    return lines;
  }
  return {absl::StrCat("no set ", key)};
}

std::vector<std::string> ScenarioRunner::Timer() const {
  if (result_.next_timer == absl::InfiniteFuture()) return {"no timer"};
  return {absl::StrCat("timer in ",
                       absl::FormatDuration(result_.next_timer - now_))};
}

std::vector<std::string> ScenarioRunner::Confirm(Words& words) {
  v1::Record record;
  v1::ByHand& command = *record.mutable_by_hand();
  command.set_user("operator");
  command.mutable_confirm_mass_loss();
  while (std::optional<std::string> node = words.Next()) {
    command.mutable_confirm_mass_loss()->add_nodes(*node);
  }
  if (absl::Status s = PrepareByHand(snapshot_, command); !s.ok()) {
    return {absl::StrCat("no: ", std::string(s.message()))};
  }
  const std::string nodes =
      absl::StrJoin(command.confirm_mass_loss().nodes(), ",");
  Tell(std::move(record));
  return {absl::StrCat("confirmed: ", nodes)};
}

std::vector<std::string> ScenarioRunner::Reports() const {
  std::vector<std::string> lines;
  if (result_.mass_loss) {
    lines.push_back(
        absl::StrCat("mass loss; not keeping their sets: ",
                     absl::StrJoin(result_.unkept_nodes, ",",
                                   [](std::string* out, const auto& node) {
                                     out->append(node.first);
                                   })));
  }
  if (result_.undone.records > 0) {
    lines.push_back(absl::StrCat(
        "usage records undone by somebody: ", result_.undone.records,
        ", the first ", result_.undone.example));
  }
  if (lines.empty()) lines.push_back("nothing");
  return lines;
}

std::vector<std::string> ScenarioRunner::Show(Words& words) const {
  const std::optional<Kind> kind = KindOfCommand(words.Next().value_or(""));
  if (!kind.has_value()) return {"no such kind"};
  const std::string text = words.Next().value_or("");
  const auto [space, name] = NameOf(*kind, text);
  const Object* found = server_.Find(*kind, space, name);
  if (found == nullptr) return {absl::StrCat("no ", text)};
  return {ObjectText(*found, now_)};
}

void ScenarioRunner::Start() {
  if (started_) return;
  started_ = true;
  BecomeLeader();
  Snapshot other = snapshot_;
  for (int i = 0; i < kKinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    if (!unserved_.contains(kind)) Relist(kind);
  }
  for (int i = kKinds - 1; i >= 0; --i) {
    const Kind kind = static_cast<Kind>(i);
    if (unserved_.contains(kind)) continue;
    for (const auto& [record, object] : ListOf(kind)) {
      Fold(record, object, other);
    }
  }
  CheckListOrder(std::move(other));
}

void ScenarioRunner::BecomeLeader() {
  ++epoch_;
  v1::Record lead;
  lead.mutable_leadership()->set_leading(true);
  Tell(std::move(lead));
  v1::Record config;
  *config.mutable_config() = ConfigRecord(config_);
  Tell(std::move(config));
}

void ScenarioRunner::Relist(Kind kind) {
  for (auto& [record, object] : ListOf(kind)) {
    Tell(std::move(record), std::move(object));
  }
}

std::vector<JournalEntry> ScenarioRunner::ListOf(Kind kind) const {
  std::vector<JournalEntry> list(1);
  list[0].first.mutable_list_began()->set_kind(std::string(KindName(kind)));
  for (const auto& [key, object] : server_.objects()) {
    if (std::get<Kind>(key) != kind) continue;
    list.emplace_back(v1::Record(), object);
    *list.back().first.mutable_object() =
        EventOf(v1::ObjectEvent::LISTED, object);
  }
  list.emplace_back();
  list.back().first.mutable_list_ended()->set_kind(std::string(KindName(kind)));
  for (JournalEntry& entry : list) {
    entry.first.set_time_unix_nanos(absl::ToUnixNanos(now_));
  }
  return list;
}

void ScenarioRunner::Tell(v1::Record record, std::optional<Object> object) {
  record.set_sequence(++sequence_);
  record.set_time_unix_nanos(absl::ToUnixNanos(now_));
  record.set_journal_uid("0000cafe");
  record.set_epoch(epoch_);
  Fold(record, object, snapshot_);
  if (replays_ == Replays::kNever) return;
  journal_.emplace_back(std::move(record), std::move(object));
  if (started_ && replays_ == Replays::kEachPass) CheckIndex();
}

void ScenarioRunner::TellObject(v1::ObjectEvent::Type type,
                                const Object& object) {
  v1::Record record;
  *record.mutable_object() = EventOf(type, object);
  Tell(std::move(record), object);
}

void ScenarioRunner::TellOutcome(EffectId id, v1::Outcome::Kind kind,
                                 const Answer& answer) {
  v1::Record record;
  v1::Outcome& outcome = *record.mutable_outcome();
  outcome.set_decision(id.first);
  outcome.set_effect(id.second);
  outcome.set_kind(kind);
  outcome.set_code(answer.code);
  outcome.set_message(answer.message);
  if (answer.object.has_value()) {
    *outcome.mutable_object() =
        EventOf(v1::ObjectEvent::MODIFIED, *answer.object);
  } else if (kind == v1::Outcome::READ_BACK) {
    outcome.mutable_object();  // no name: it is gone
  }
  Tell(std::move(record), answer.object);
}

}  // namespace gpubinder
