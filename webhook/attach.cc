#include "webhook/attach.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "k8s/effect_codec.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "reconciler/model/launcher.h"
#include "webhook/refusal.h"
#include "webhook/review.h"

namespace gpubinder {
namespace {

constexpr size_t kMostMessageBytes = 1024;

// Whether the object may be another by now than the one written to: a lost
// race (409), another uid or version by a failed rule (422), an object that
// has gone, an answer that did not come.
bool WantsReading(const absl::Status& write) {
  return absl::IsAborted(write) || absl::IsFailedPrecondition(write) ||
         absl::IsNotFound(write) || absl::IsDeadlineExceeded(write);
}

ReviewAnswer NotNow(int code, absl::string_view reason, std::string message) {
  return {.allowed = false,
          .code = code,
          .reason = std::string(reason),
          .message = CutTo(message, kMostMessageBytes)};
}

// One admission call; one use.
class Call {
 public:
  Call(const AdmissionRequest& request, const Admission& admission)
      : request_(request),
        admission_(admission),
        end_(admission.clock() + admission.total_timeout) {}

  ReviewAnswer Answer() {
    std::string last = "what was read contradicts the snapshot";
    for (int i = 0; i < admission_.tries; ++i) {
      ReviewAnswer answer = Review();
      const absl::StatusOr<bool> settled = Settle(answer);
      if (!settled.ok()) {
        if (!absl::IsAborted(settled.status())) {
          return NotNow(503, "ServiceUnavailable",
                        absl::StrCat(settled.status().message(),
                                     "; nothing was admitted, try again"));
        }
        last = std::string(settled.status().message());
        continue;
      }
      if (*settled) return answer;
    }
    return NotNow(
        409, "Conflict",
        absl::StrCat("the claims changed ", admission_.tries,
                     " times while they were attached, try again: ", last));
  }

 private:
  ReviewAnswer Review() const {
    ReviewAnswer answer;
    admission_.read([&](const Snapshot& snapshot) {
      answer = ReviewRequest(request_, live_, snapshot, admission_.clock());
    });
    return answer;
  }

  // Whether the answer may be given. kAborted: a write lost its race.
  absl::StatusOr<bool> Settle(const ReviewAnswer& answer) {
    if (!answer.allowed) return NothingNewOf(answer.doubtful_claims);
    absl::StatusOr<bool> settled = HoldersHaveGone(answer.unseen_holders);
    if (!settled.ok() || !*settled) return settled;
    for (const v1::Effect& effect : answer.effects) {
      if (absl::Status s = Write(effect); !s.ok()) return s;
    }
    return true;
  }

  // Reads the claims that were not read yet.
  absl::StatusOr<bool> NothingNewOf(const std::vector<std::string>& claims) {
    bool nothing_new = true;
    for (const std::string& name : claims) {
      if (live_.claims.contains(name)) continue;
      if (absl::Status s = ReadClaim(name); !s.ok()) return s;
      nothing_new = false;
    }
    return nothing_new;
  }

  absl::StatusOr<bool> HoldersHaveGone(
      const std::vector<ReviewAnswer::Holder>& holders) {
    bool gone = true;
    for (const ReviewAnswer::Holder& holder : holders) {
      const absl::StatusOr<std::optional<Object>> read =
          Read(Kind::kVirtualMachineInstance, holder.name);
      if (!read.ok()) return read.status();
      if (!read->has_value()) continue;
      const auto& vmi = std::get<VirtualMachineInstance>(**read);
      if (HasEnded(vmi)) continue;
      if (!holder.uid.empty() && vmi.meta.uid != holder.uid) continue;
      live_.living_names.insert(vmi.meta.name);
      live_.living_uids.insert(vmi.meta.uid);
      gone = false;
    }
    return gone;
  }

  absl::Status Write(const v1::Effect& effect) {
    const std::string& name = effect.target().name();
    const absl::StatusOr<std::optional<EffectRequest>> request =
        NextRequest(effect, DecisionKey(), 0, "");
    if (!request.ok()) return request.status();
    const absl::StatusOr<absl::Duration> timeout = TimeLeft();
    if (!timeout.ok()) return timeout.status();
    const absl::StatusOr<std::string> written = admission_.client->Patch(
        (*request)->path, (*request)->patch_type, (*request)->body, *timeout);
    if (written.ok()) return Remember(name, *written);
    if (!WantsReading(written.status())) {
      return Failed("attaching", Kind::kGpuClaim, name, written.status());
    }
    if (absl::Status s = ReadClaim(name); !s.ok()) return s;
    // A refusal (403, 422) of a write to what is there has another cause.
    if (absl::IsFailedPrecondition(written.status()) &&
        IsUnchanged(effect.target())) {
      return Failed("attaching", Kind::kGpuClaim, name, written.status());
    }
    return absl::AbortedError(
        Failed("attaching", Kind::kGpuClaim, name, written.status()).message());
  }

  bool IsUnchanged(const v1::Target& target) const {
    const std::optional<GpuClaim>& claim = live_.claims.at(target.name());
    return claim.has_value() && claim->meta.uid == target.uid() &&
           claim->meta.resource_version == target.resource_version();
  }

  absl::Status ReadClaim(const std::string& name) {
    absl::StatusOr<std::optional<Object>> read = Read(Kind::kGpuClaim, name);
    if (!read.ok()) return read.status();
    std::optional<GpuClaim> claim;
    if (read->has_value()) claim = std::get<GpuClaim>(**std::move(read));
    live_.claims.insert_or_assign(name, std::move(claim));
    return absl::OkStatus();
  }

  absl::Status Remember(const std::string& name, absl::string_view json) {
    absl::StatusOr<Object> object = DecodeObject(Kind::kGpuClaim, json);
    if (!object.ok()) {
      return Failed("attaching", Kind::kGpuClaim, name, object.status());
    }
    live_.claims.insert_or_assign(name, std::get<GpuClaim>(*std::move(object)));
    return absl::OkStatus();
  }

  // Nothing: there is no such object.
  absl::StatusOr<std::optional<Object>> Read(Kind kind,
                                             const std::string& name) {
    const absl::StatusOr<absl::Duration> timeout = TimeLeft();
    if (!timeout.ok()) return timeout.status();
    ResourcePath path = ResourcePathOf(kind);
    path.name_space = request_.name_space;
    path.name = name;
    const absl::StatusOr<std::string> json =
        admission_.client->Get(path, *timeout);
    if (absl::IsNotFound(json.status())) return std::optional<Object>();
    if (!json.ok()) return Failed("reading", kind, name, json.status());
    absl::StatusOr<Object> object = DecodeObject(kind, *json);
    if (!object.ok()) return Failed("reading", kind, name, object.status());
    return std::optional<Object>(*std::move(object));
  }

  absl::StatusOr<absl::Duration> TimeLeft() const {
    const absl::Duration left = end_ - admission_.clock();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat("the API did not answer within ",
                       absl::FormatDuration(admission_.total_timeout)));
    }
    return std::min(left, admission_.call_timeout);
  }

  absl::Status Failed(absl::string_view what, Kind kind, absl::string_view name,
                      const absl::Status& cause) const {
    return absl::UnavailableError(absl::StrCat(what, " ", KindName(kind), " ",
                                               request_.name_space, "/", name,
                                               ": ", cause.message()));
  }

  const AdmissionRequest& request_;
  const Admission& admission_;
  const absl::Time end_;
  LiveReads live_;
};

}  // namespace

absl::StatusOr<std::string> AdmitAndAttach(absl::string_view body,
                                           const Admission& admission) {
  const absl::StatusOr<AdmissionRequest> request = ParseReview(body);
  if (!request.ok()) return request.status();
  return ResponseJson(request->uid, Call(*request, admission).Answer());
}

}  // namespace gpubinder
