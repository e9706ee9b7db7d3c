// The whole of an admission call: review, write the attachments of rule W4,
// answer. Whatever serves the webhooks calls this and nothing else.
//
//   Admission admission{.read = with_latest_snapshot, .client = &client,
//                       .clock = absl::Now};
//   absl::StatusOr<std::string> answer = AdmitAndAttach(body, admission);
//   // An HTTPS server: 200 with *answer, or HttpCodeOf(answer.status()) with
//   // its message. The embedded server's hook: the same StatusOr.
//
// Order: the answer is computed; holders that it would displace and that the
// snapshot does not know are looked up; the attachments are written, each on
// the uid and version the answer rests on; only then is the answer given. When
// a write loses its race, or may have been applied, the claims are read past
// any cache and the request is reviewed again, a bounded number of times. So
// is a refusal that rests on a held claim, once: the snapshot may be behind
// (a claim and its VM are often applied together). Attachments that were
// written before a refusal stay, and rule A1 clears them.

#ifndef WEBHOOK_ATTACH_H_
#define WEBHOOK_ATTACH_H_

#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Calls `use` once with the latest synced snapshot, under whatever lock keeps
// it still. It is called without a lock held and `use` makes no calls.
using SnapshotReader =
    std::function<void(absl::FunctionRef<void(const Snapshot&)> use)>;

struct Admission {
  SnapshotReader read;
  ApiClient* client = nullptr;  // not owned
  std::function<absl::Time()> clock;
  // How often a request is reviewed at most.
  int tries = 4;
  // Of one call to the API, and of all of them for a request: the API server
  // waits 10 s for a webhook, and two calls may be due for one create.
  absl::Duration call_timeout = absl::Seconds(2);
  absl::Duration total_timeout = absl::Seconds(4);
};

// The AdmissionReview that answers `body`. What goes wrong with the API makes
// it a refusal that may be tried again: 409 Conflict when each try lost its
// race, 503 ServiceUnavailable when the API did not answer. Errors are those
// of ParseReview, and mean that the body is no review. Thread-safe as far as
// `admission` is; blocks for total_timeout and one call_timeout at most.
absl::StatusOr<std::string> AdmitAndAttach(absl::string_view body,
                                           const Admission& admission);

}  // namespace gpubinder

#endif  // WEBHOOK_ATTACH_H_
