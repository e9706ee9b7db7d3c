#include "k8s/effect_codec.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "k8s/effect_requests.h"
#include "k8s/json_value.h"
#include "reconciler/model/effect_text.h"

namespace gpubinder {

namespace {

using v1::Effect;
using v1::Target;

absl::Status Incomplete(const Effect& effect, absl::string_view what) {
  const Target& target = effect.target();
  return absl::InternalError(
      absl::StrCat("effect ", EffectKindName(effect), " on ", target.kind(),
                   " ", target.namespace_(), "/", target.name(), " ", what));
}

// What the effect has to name before it may be written.
enum class Precondition { kNone, kUid, kUidAndVersion };

Precondition PreconditionOf(const Effect& effect) {
  switch (effect.write_case()) {
    case Effect::kCreateTemplateClaim:
      return Precondition::kNone;
    case Effect::kWriteClaimSet:
    case Effect::kWriteUsageRecord:
    case Effect::kWriteSettings:
      // Without uid they create.
      return effect.target().uid().empty() ? Precondition::kNone
                                           : Precondition::kUidAndVersion;
    case Effect::kEmitWarning:
    case Effect::kDeletePod:
    case Effect::kDeleteVmi:
    case Effect::kDeleteTemplateClaim:
    case Effect::kDeleteUsageRecord:
      return Precondition::kUid;
    default:
      return Precondition::kUidAndVersion;
  }
}

absl::Status Check(const Effect& effect) {
  const Target& target = effect.target();
  if (effect.write_case() == Effect::WRITE_NOT_SET) {
    return Incomplete(effect, "has no write");
  }
  if (CollectionOf(target).plural.empty()) {
    return Incomplete(effect, "is of a kind that is never written");
  }
  if (target.name().empty()) return Incomplete(effect, "has no name");
  const Precondition precondition = PreconditionOf(effect);
  if (precondition != Precondition::kNone && target.uid().empty()) {
    return Incomplete(effect, "has no uid");
  }
  if (precondition == Precondition::kUidAndVersion &&
      target.resource_version().empty()) {
    return Incomplete(effect, "has no resourceVersion");
  }
  // Written without its list, the object would lose what is there.
  if (effect.has_set_condition() &&
      effect.set_condition().conditions().empty()) {
    return Incomplete(effect, "has no conditions to write");
  }
  if (effect.has_record_rejection() &&
      effect.record_rejection().list().empty()) {
    return Incomplete(effect, "has no rejections to write");
  }
  return absl::OkStatus();
}

// The effect on the object that the request before was answered with.
absl::StatusOr<Effect> After(const Effect& effect, absl::string_view answer) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(answer);
  Effect next = effect;
  if (document.ok()) {
    const JsonValue metadata = document->root().Field("metadata");
    const JsonValue uid = metadata.Field("uid");
    const JsonValue version = metadata.Field("resourceVersion");
    if (uid.type() == JsonValue::Type::kText &&
        version.type() == JsonValue::Type::kText) {
      next.mutable_target()->set_uid(std::string(uid.text()));
      next.mutable_target()->set_resource_version(std::string(version.text()));
      return next;
    }
  }
  return absl::DataLossError(
      absl::StrCat("the answer to the write of ", effect.target().kind(), " ",
                   effect.target().namespace_(), "/", effect.target().name(),
                   " is no object with uid and resourceVersion"));
}

absl::StatusOr<std::optional<EffectRequest>> NextOfClaimSet(
    const Effect& effect, const DecisionKey& key, int done,
    absl::string_view answer) {
  const bool exists = !effect.target().uid().empty();
  const bool spec = HasClaimSetSpec(effect);
  const bool status = HasClaimSetStatus(effect);
  const int halves = (spec ? 1 : 0) + (status ? 1 : 0);
  if (done >= halves) return std::nullopt;
  if (done == 0) {
    const bool status_first = status && (exists || !spec);
    return status_first ? ClaimSetStatusRequest(effect, key)
                        : ClaimSetSpecRequest(effect);
  }
  const absl::StatusOr<Effect> next = After(effect, answer);
  if (!next.ok()) return next.status();
  return exists ? ClaimSetSpecRequest(*next)
                : ClaimSetStatusRequest(*next, key);
}

EffectRequest OnlyRequest(const Effect& effect, const DecisionKey& key) {
  switch (effect.write_case()) {
    case Effect::kCreateTemplateClaim:
      return CreateClaimRequest(effect);
    case Effect::kBindClaim:
      return BindClaimRequest(effect, key);
    case Effect::kLoseClaim:
      return LoseClaimRequest(effect, key);
    case Effect::kPinPod:
      return PinPodRequest(effect);
    case Effect::kRecordRejection:
      return RecordRejectionRequest(effect);
    case Effect::kRestartVm:
      return RestartVmRequest(effect);
    case Effect::kAttachClaim:
      return AttachClaimRequest(effect);
    case Effect::kReleaseClaim:
      return ReleaseClaimRequest(effect);
    case Effect::kSetCondition:
      return SetConditionRequest(effect);
    case Effect::kEmitWarning:
      return EmitWarningRequest(effect);
    case Effect::kWriteUsageRecord:
      return WriteUsageRecordRequest(effect);
    case Effect::kAddFinalizer:
      return AddFinalizerRequest(effect);
    case Effect::kRemoveFinalizer:
      return RemoveFinalizerRequest(effect);
    case Effect::kWriteSettings:
      return WriteSettingsRequest(effect);
    default:
      return DeleteRequest(effect.target());
  }
}

}  // namespace

absl::StatusOr<std::optional<EffectRequest>> NextRequest(
    const Effect& effect, const DecisionKey& key, int done,
    absl::string_view answer) {
  if (absl::Status s = Check(effect); !s.ok()) return s;
  if (effect.has_write_claim_set()) {
    return NextOfClaimSet(effect, key, done, answer);
  }
  if (done > 0) return std::nullopt;
  return OnlyRequest(effect, key);
}

}  // namespace gpubinder
