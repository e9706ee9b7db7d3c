// AdmissionReview v1: the request out of the bytes, the response into them.
//
// The bytes may be anything. What is no review of ours is an error that the
// caller answers with a 4xx; no input is an error of another kind.

#ifndef WEBHOOK_ADMISSION_REVIEW_H_
#define WEBHOOK_ADMISSION_REVIEW_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"
#include "reconciler/model/objects.h"
#include "webhook/json_patch.h"

namespace gpubinder {

inline constexpr size_t kMostReviewBytes = size_t{8} << 20;

// A review as the rules see it.
struct AdmissionRequest {
  std::string uid;
  std::string name_space;
  std::string user;
  bool creates = false;  // operation CREATE
  bool dry_run = false;
  // The object as it would be stored; its namespace is the request's. Its name
  // may be empty (generateName). Default where the request has no object.
  std::variant<VirtualMachineInstance, Pod> object;
  // The lists that a patch appends to, as the object has them: of a VMI
  // spec.domain.devices.gpus, of a pod spec.schedulingGates and
  // spec.tolerations.
  ListPlace gpus, gates, tolerations;

  // Empty for a pod.
  absl::string_view vmi_name() const;
};

// O(size of the text). kInvalidArgument: no AdmissionReview of
// admission.k8s.io/v1, or of another kind than VirtualMachineInstance and Pod,
// or with a field of the request that has a wrong type, or an operation that
// there is not. kResourceExhausted: more than kMostReviewBytes.
absl::StatusOr<AdmissionRequest> ParseReview(absl::string_view body);

// The status of an HTTP answer to a body that ParseReview refused: 413 or 400.
int HttpCodeOf(const absl::Status& refused);

// What the webhook says to a request. `code`, `reason` and `message` are set
// when it is not allowed, `patch` and `effects` only when it is.
struct ReviewAnswer {
  bool allowed = true;
  int code = 0;  // 4xx or 5xx
  std::string reason, message;
  std::vector<std::string> warnings;
  std::string patch;  // a JSON Patch; empty: the object stays as it is
  // Rule W4: the attachments to write before the answer is given. Each carries
  // the claim's uid and version as its precondition.
  std::vector<v1::Effect> effects;

  // What the answer rests on and the snapshot may be behind about. Held claims
  // because of which it refuses:
  std::vector<std::string> doubtful_claims;
  // VMIs whose hold on a claim the effects overwrite, since the snapshot has
  // no VMI of that name:
  struct Holder {
    std::string name, uid;  // uid may be empty
    bool operator==(const Holder&) const = default;
  };
  std::vector<Holder> unseen_holders;
};

// The object `response`: the uid echoed; patch and patchType together or
// neither of them.
std::string InnerResponseJson(absl::string_view uid,
                              const ReviewAnswer& answer);

// The whole AdmissionReview around it, the body of an HTTP 200.
std::string ResponseJson(absl::string_view uid, const ReviewAnswer& answer);

}  // namespace gpubinder

#endif  // WEBHOOK_ADMISSION_REVIEW_H_
