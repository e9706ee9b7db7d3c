// What the webhooks answer: rules W1 to W7, as functions of the request and of
// a snapshot. Pure: the attachments of W4 come back as effects; attach.h writes
// them before the answer is given.
//
// /mutate-vmi checks what the claims annotation names, gives the VMI one gpus
// entry per unit and attaches the held claims. /mutate-pod gates the launcher.
// Both may be called again for their own result, which they leave as it is.
//
// The snapshot must be synced: a kind that is not yet listed reads as empty.

#ifndef WEBHOOK_REVIEW_H_
#define WEBHOOK_REVIEW_H_

#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "webhook/admission_review.h"

namespace gpubinder {

// What was read past the snapshot for one request; it goes before what the
// snapshot says.
struct LiveReads {
  // Claims of the request's namespace by name; nothing: there is none.
  absl::btree_map<std::string, std::optional<GpuClaim>> claims;
  // VMIs of the namespace that were found alive, as "name" and as "uid".
  absl::btree_set<std::string> living_names, living_uids;
};

// Calls the review that fits the request's object. Allowed unchanged: anything
// but a CREATE. O(entries x log objects + classes).
ReviewAnswer ReviewRequest(const AdmissionRequest& request,
                           const LiveReads& live, const Snapshot& snapshot,
                           absl::Time now);

// W1 to W6, for a request to create a VMI. Allowed unchanged: one without the
// claims annotation. A refusal's reason is of the closed list, or Invalid for
// a field of the VMI itself; its message names each entry at fault. With the
// feature off an annotated VMI is refused; with `observe` its claims are
// checked and its entries added, but nothing is attached.
ReviewAnswer ReviewVmi(const AdmissionRequest& request, const LiveReads& live,
                       const Snapshot& snapshot, absl::Time now);

// W7, for a request to create a pod. Allowed unchanged: one that is no
// launcher, or has no claims annotation; a migration target that KubeVirt's
// controller makes; and, with the feature off or with `observe`, every pod. An
// annotation that cannot be read still gets its gate, and a warning.
ReviewAnswer ReviewPod(const AdmissionRequest& request, const LiveReads& live,
                       const Snapshot& snapshot);

// A body in, a body out, without a write: what a dry run or `gpubinder admit`
// shows. Errors are those of ParseReview.
absl::StatusOr<std::string> Review(absl::string_view body,
                                   const Snapshot& snapshot, absl::Time now);

}  // namespace gpubinder

#endif  // WEBHOOK_REVIEW_H_
