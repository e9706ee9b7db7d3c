#include "reconciler/model/write_rate.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/utf8.h"
#include "reconciler/model/effect_text.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kSlowest = absl::Seconds(30);
// The same write again within this time has not stuck.
constexpr absl::Duration kRepeat = absl::Minutes(1);

// What a write sets, its times aside.
std::string ContentOf(const v1::Effect& effect) {
  switch (effect.write_case()) {
    case v1::Effect::kBindClaim:
      return effect.bind_claim().node_name();
    case v1::Effect::kSetCondition: {
      const v1::SetCondition& condition = effect.set_condition();
      return absl::StrCat(condition.status(), " ", condition.reason(), " ",
                          condition.message());
    }
    case v1::Effect::kWriteClaimSet: {
      const v1::WriteClaimSet& write = effect.write_claim_set();
      return absl::StrCat(write.node_name(), " ", write.vmi_uid(), " ",
                          write.pod_uid(), " ", write.reason(), " ",
                          write.message(), " ",
                          absl::StrJoin(write.claims(), ","));
    }
    case v1::Effect::kRecordRejection:
      return effect.record_rejection().entry().pod_uid();
    case v1::Effect::kAttachClaim:
      return effect.attach_claim().uid();
    case v1::Effect::kAddFinalizer:
      return effect.add_finalizer().finalizer();
    case v1::Effect::kWriteSettings:
      return absl::StrCat(effect.write_settings().resource_names(), " ",
                          effect.write_settings().raw_resource_names());
    default:
      return "";
  }
}

// Writes that undo each other go to one place, so that the second of two
// bindings to a node with a loss between them is no repeat.
v1::Effect::WriteCase UndoneWith(v1::Effect::WriteCase write) {
  switch (write) {
    case v1::Effect::kLoseClaim:
      return v1::Effect::kBindClaim;
    case v1::Effect::kReleaseClaim:
      return v1::Effect::kAttachClaim;
    case v1::Effect::kRemoveFinalizer:
      return v1::Effect::kAddFinalizer;
    default:
      return write;
  }
}

// Of the places of an object that such writes go to.
std::string PrefixOf(const v1::Effect& effect, v1::Effect::WriteCase write) {
  return absl::StrCat(WrittenObject(effect.target()), "/",
                      static_cast<int>(write), "/");
}

// One place of an object that writes go to.
std::string PlaceOf(const v1::Effect& effect) {
  return absl::StrCat(PrefixOf(effect, UndoneWith(effect.write_case())),
                      effect.set_condition().type());
}

void Forget(const std::string& prefix, Snapshot& snapshot) {
  auto& writes = snapshot.applied_writes;
  std::string end = prefix;
  ++end.back();
  writes.erase(writes.lower_bound(prefix), writes.lower_bound(end));
}

// Whether the very same write was applied a moment ago.
bool DidNotStick(const v1::Effect& effect, absl::Time at, Snapshot& snapshot) {
  if (effect.target().uid().empty() && !effect.has_write_settings()) {
    return false;
  }
  // They carry the claim's conditions, and may undo what was written of them.
  if (effect.has_bind_claim() || effect.has_lose_claim()) {
    Forget(PrefixOf(effect, v1::Effect::kSetCondition), snapshot);
  }
  AppliedWrite write{.content = ContentOf(effect), .at = at};
  auto [last, first] = snapshot.applied_writes.emplace(PlaceOf(effect), write);
  if (first) return false;
  const bool repeated =
      last->second.content == write.content && at - last->second.at < kRepeat;
  last->second = std::move(write);
  return repeated;
}

std::string AnswerText(const v1::Outcome& outcome) {
  if (outcome.kind() == v1::Outcome::APPLIED) return "done, and undone since";
  return absl::StrCat(outcome.code(), " ",
                      Utf8Within(outcome.message(), kMostRefusalBytes));
}

}  // namespace

std::string WrittenObject(const v1::Target& target) {
  return target.uid().empty()
             ? WrittenObject(target.kind(), target.namespace_(), target.name())
             : target.uid();
}

std::string WrittenObject(absl::string_view kind, absl::string_view name_space,
                          absl::string_view name) {
  return absl::StrCat(kind, " ", name_space, " ", name);
}

void NoteRate(const v1::Effect& effect, const v1::Outcome& outcome,
              absl::Time at, Snapshot& snapshot) {
  const std::string key = effect.set_key().empty()
                              ? WrittenObject(effect.target())
                              : effect.set_key();
  if (outcome.kind() == v1::Outcome::APPLIED) {
    // A Warning that is there already says nothing of the write behind it.
    if (effect.has_emit_warning()) return;
    if (effect.has_write_usage_record() ||  // has a pause of its own
        effect.has_delete_usage_record() ||
        !DidNotStick(effect, at, snapshot)) {
      snapshot.write_rates.erase(key);
      return;
    }
  } else if (outcome.kind() != v1::Outcome::REFUSED) {
    return;
  }
  WriteRate& rate = snapshot.write_rates[key];
  const bool conflict = outcome.code() == 409 && rate.refusals == 0;
  ++rate.refusals;
  rate.write = WriteText(effect);
  rate.answer = AnswerText(outcome);
  const int64_t doublings = std::min<int64_t>(rate.refusals - 1, 5);
  absl::Duration wait =
      conflict ? absl::ZeroDuration()
               : std::min(absl::Seconds(int64_t{1} << doublings), kSlowest);
  wait = std::max(wait, absl::Seconds(outcome.retry_after_seconds()));
  rate.until = at + wait;
}

void ForgetWrites(const std::string& uid, Snapshot& snapshot) {
  Forget(uid + "/", snapshot);
}

void NoteUsageWrite(const v1::Effect& effect, const v1::Outcome& outcome,
                    absl::Time at, Snapshot& snapshot) {
  // One that was read back may have been applied and undone since.
  if (outcome.kind() != v1::Outcome::APPLIED &&
      outcome.kind() != v1::Outcome::READ_BACK) {
    return;
  }
  const std::string key =
      NameKey(effect.target().namespace_(), effect.target().name());
  if (effect.has_write_usage_record()) snapshot.usage_writes[key] = at;
  if (effect.has_delete_usage_record()) snapshot.usage_writes.erase(key);
}

void ForgetUsageWrites(absl::Time at, Snapshot& snapshot) {
  auto& writes = snapshot.usage_writes;
  for (auto it = writes.begin(); it != writes.end();) {
    it =
        it->second + kUsageRecordPause <= at ? writes.erase(it) : std::next(it);
  }
}

}  // namespace gpubinder
