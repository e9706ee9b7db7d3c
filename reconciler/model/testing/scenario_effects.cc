#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reconciler/model/testing/scenario_print.h"
#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder {

ScenarioRunner::Fates ScenarioRunner::ReadFates(Words& words) {
  Fates fates;
  while (std::optional<std::string> number = words.Next()) {
    const std::string word = words.Next().value_or("");
    Fate fate;
    if (word == "refused") {
      fate = {.kind = Fate::kRefused,
              .code = static_cast<int>(NumberOf(words.Next().value_or("")))};
    } else if (word == "unknown") {
      fate.kind = Fate::kUnanswered;
    } else if (word == "lost") {
      fate.kind = Fate::kLost;
    } else {
      Fail(absl::StrCat("an effect is refused, unknown or lost, not ", word));
    }
    fates[static_cast<uint32_t>(NumberOf(*number)) - 1] = fate;
  }
  return fates;
}

// Sends the effects of the last decision in order. What follows a failure in
// the same set is not sent.
std::vector<std::string> ScenarioRunner::Apply(const Fates& fates) {
  std::vector<std::string> lines;
  std::set<std::string> stopped;
  std::map<Object3, std::string> versions;
  for (int i = 0; i < last_.effects_size(); ++i) {
    const v1::Effect& effect = last_.effects(i);
    const uint32_t index = static_cast<uint32_t>(i);
    if (!effect.set_key().empty() && stopped.contains(effect.set_key())) {
      TellOutcome({decision_, index}, v1::Outcome::SKIPPED, {});
      lines.push_back(absl::StrCat("  skipped: ", EffectText(effect, now_)));
      continue;
    }
    auto fate = fates.find(index);
    const Object3 about{effect.target().kind(), effect.target().namespace_(),
                        effect.target().name()};
    const std::string fault = Send(
        index, fate == fates.end() ? Fate{} : fate->second, about, versions);
    if (fault.empty()) continue;
    stopped.insert(effect.set_key());
    lines.push_back(absl::StrCat("  ", fault, ": ", EffectText(effect, now_)));
  }
  last_.clear_effects();
  // A copy of the runner is to be cheap.
  if (replays_ == Replays::kNever) result_ = {};
  return lines;
}

std::string ScenarioRunner::Send(uint32_t index, const Fate& fate,
                                 const Object3& about,
                                 std::map<Object3, std::string>& versions) {
  const v1::Effect& effect = last_.effects(static_cast<int>(index));
  if (fate.kind == Fate::kRefused) {
    TellOutcome({decision_, index}, v1::Outcome::REFUSED,
                {.code = fate.code, .message = "refused by the scenario"});
    return absl::StrCat("refused ", fate.code);
  }
  if (fate.kind == Fate::kLost) {
    unanswered_[{decision_, index}] = effect;
    TellOutcome({decision_, index}, v1::Outcome::UNKNOWN, {});
    return "unknown";
  }
  auto known = versions.find(about);
  const Object* found =
      server_.Find(*KindByName(effect.target().kind()),
                   effect.target().namespace_(), effect.target().name());
  const std::optional<Object> before =
      found == nullptr ? std::nullopt : std::optional<Object>(*found);
  const Answer answer =
      server_.Apply(effect,
                    known == versions.end() ? effect.target().resource_version()
                                            : known->second,
                    now_);
  if (fate.kind == Fate::kUnanswered) {
    unanswered_[{decision_, index}] = effect;
    TellOutcome({decision_, index}, v1::Outcome::UNKNOWN, {});
    return "unknown";
  }
  if (!answer.ok()) {
    TellOutcome({decision_, index}, v1::Outcome::REFUSED, answer);
    return absl::StrCat("refused ", answer.code, " ", answer.message);
  }
  TellOutcome({decision_, index}, v1::Outcome::APPLIED, answer);
  if (answer.object.has_value()) {
    versions[about] = MetaOf(*answer.object).resource_version;
    // The watch tells the same once more.
    TellObject(v1::ObjectEvent::MODIFIED, *answer.object);
  } else if (before.has_value() && !effect.has_emit_warning()) {
    TellObject(v1::ObjectEvent::DELETED, *before);
  }
  return "";
}

std::vector<std::string> ScenarioRunner::ReadBack() {
  for (const auto& [id, effect] : unanswered_) {
    const Object* found =
        server_.Find(*KindByName(effect.target().kind()),
                     effect.target().namespace_(), effect.target().name());
    Answer answer;
    if (found != nullptr) answer.object = *found;
    TellOutcome(id, v1::Outcome::READ_BACK, answer);
  }
  unanswered_.clear();
  return {};
}

bool ScenarioRunner::waits() const {
  return !unanswered_.empty() || !snapshot_.in_flight.empty() ||
         std::any_of(
             snapshot_.write_rates.begin(), snapshot_.write_rates.end(),
             [&](const auto& rate) { return rate.second.until > now_; });
}

// The process dies after some of the effects were applied, with no answer
// journaled; another replica leads and lists everything.
void ScenarioRunner::CrashAfter(uint32_t applied) {
  std::map<Object3, std::string> versions;
  for (uint32_t i = 0; i < applied; ++i) {
    if (static_cast<int>(i) >= last_.effects_size()) break;
    const v1::Effect& effect = last_.effects(static_cast<int>(i));
    const Object3 about{effect.target().kind(), effect.target().namespace_(),
                        effect.target().name()};
    auto known = versions.find(about);
    const Answer answer = server_.Apply(effect,
                                        known == versions.end()
                                            ? effect.target().resource_version()
                                            : known->second,
                                        now_);
    if (answer.object.has_value()) {
      versions[about] = MetaOf(*answer.object).resource_version;
    }
  }
  last_.clear_effects();
  unanswered_.clear();
  if (replays_ == Replays::kAtTheEnd) ReplayJournal();
  journal_.clear();
  snapshot_ = Snapshot();
  started_ = false;
  Start();
}

}  // namespace gpubinder
