#include "webhook/review.h"

namespace gpubinder {

ReviewAnswer ReviewRequest(const AdmissionRequest& request,
                           const LiveReads& live, const Snapshot& snapshot,
                           absl::Time now) {
  // Gates and gpus entries can be given at creation only.
  if (!request.creates) return {};
  if (std::holds_alternative<Pod>(request.object)) {
    return ReviewPod(request, live, snapshot);
  }
  return ReviewVmi(request, live, snapshot, now);
}

absl::StatusOr<std::string> Review(absl::string_view body,
                                   const Snapshot& snapshot, absl::Time now) {
  const absl::StatusOr<AdmissionRequest> request = ParseReview(body);
  if (!request.ok()) return request.status();
  return ResponseJson(request->uid,
                      ReviewRequest(*request, LiveReads(), snapshot, now));
}

}  // namespace gpubinder
