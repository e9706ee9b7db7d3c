// Which nodes refused which VM, and until when (rules N5 and R3).

#ifndef RECONCILER_MODEL_REJECTION_H_
#define RECONCILER_MODEL_REJECTION_H_

#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// A set remembers at most this many nodes; the oldest lapse first.
inline constexpr size_t kMostRejections = 64;

// Whether an entry that has not lapsed by time still speaks against this
// node: it is the same object and looks as it did.
bool StillRejects(const RejectedNode& entry, const Node& node);

// `entries` with `fresh` among them, as it is to be written: lapsed entries
// and an older one of the same node left out, the others' `until` extended to
// the new one's, since KubeVirt's growing backoff would otherwise let the
// first lapse before the last node was tried. Sorted by time, then node.
std::vector<RejectedNode> WithRejection(std::vector<RejectedNode> entries,
                                        const RejectedNode& fresh,
                                        const Snapshot& snapshot,
                                        absl::Time now);

bool HasRejectionOf(const std::vector<RejectedNode>& entries,
                    absl::string_view pod_uid);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_REJECTION_H_
