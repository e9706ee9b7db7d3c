#include "reconciler/model/write_rate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
    default:
      return "";
  }
}

// One place of an object that writes go to.
std::string PlaceOf(const v1::Effect& effect) {
  return absl::StrCat(effect.target().uid(), "/",
                      static_cast<int>(effect.write_case()), "/",
                      effect.set_condition().type());
}

// Whether the very same write was applied a moment ago.
bool DidNotStick(const v1::Effect& effect, absl::Time at, Snapshot& snapshot) {
  if (effect.target().uid().empty()) return false;
  AppliedWrite write{.content = ContentOf(effect), .at = at};
  auto [last, first] = snapshot.applied_writes.emplace(PlaceOf(effect), write);
  if (first) return false;
  const bool repeated =
      last->second.content == write.content && at - last->second.at < kRepeat;
  last->second = std::move(write);
  return repeated;
}

}  // namespace

void NoteRate(const v1::Effect& effect, const v1::Outcome& outcome,
              absl::Time at, Snapshot& snapshot) {
  const std::string& key =
      effect.set_key().empty() ? effect.target().uid() : effect.set_key();
  if (outcome.kind() == v1::Outcome::APPLIED) {
    // A Warning that is there already says nothing of the write behind it.
    if (effect.has_emit_warning()) return;
    if (!DidNotStick(effect, at, snapshot)) {
      snapshot.write_rates.erase(key);
      return;
    }
  } else if (outcome.kind() != v1::Outcome::REFUSED) {
    return;
  }
  WriteRate& rate = snapshot.write_rates[key];
  const bool conflict = outcome.code() == 409 && rate.refusals == 0;
  ++rate.refusals;
  const int64_t doublings = std::min<int64_t>(rate.refusals - 1, 5);
  absl::Duration wait =
      conflict ? absl::ZeroDuration()
               : std::min(absl::Seconds(int64_t{1} << doublings), kSlowest);
  wait = std::max(wait, absl::Seconds(outcome.retry_after_seconds()));
  rate.until = at + wait;
}

void ForgetWrites(const std::string& uid, Snapshot& snapshot) {
  auto& writes = snapshot.applied_writes;
  // '0' follows '/'.
  writes.erase(writes.lower_bound(uid + "/"), writes.lower_bound(uid + "0"));
}

}  // namespace gpubinder
