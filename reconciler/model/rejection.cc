#include "reconciler/model/rejection.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reconciler/model/fingerprint.h"
#include "reconciler/model/planted.h"

namespace gpubinder {

bool StillRejects(const RejectedNode& entry, const Node& node) {
  if (entry.node_name != node.meta.name) return false;
  if (!entry.node_uid.empty() && entry.node_uid != node.meta.uid) {
    return Planted(Bug::kRejectionOutlivesNode);
  }
  return entry.fingerprint.empty() ||
         entry.fingerprint == NodeFingerprint(node, entry.resources);
}

std::vector<RejectedNode> WithRejection(std::vector<RejectedNode> entries,
                                        const RejectedNode& fresh,
                                        const Snapshot& snapshot,
                                        absl::Time now) {
  std::vector<RejectedNode> result;
  for (RejectedNode& entry : entries) {
    if (entry.node_name == fresh.node_name || entry.until <= now) continue;
    const Node* node = snapshot.nodes().Find("", entry.node_name);
    if (node != nullptr && !StillRejects(entry, *node)) continue;
    if (!Planted(Bug::kFirstRejectionLapses)) {
      entry.until = std::max(entry.until, fresh.until);
    }
    result.push_back(std::move(entry));
  }
  result.push_back(fresh);
  std::sort(result.begin(), result.end(),
            [](const RejectedNode& a, const RejectedNode& b) {
              return std::tie(a.rejected_at, a.node_name) <
                     std::tie(b.rejected_at, b.node_name);
            });
  if (result.size() > kMostRejections) {
    result.erase(result.begin(), result.end() - kMostRejections);
  }
  return result;
}

bool HasRejectionOf(const std::vector<RejectedNode>& entries,
                    absl::string_view pod_uid) {
  return std::any_of(
      entries.begin(), entries.end(),
      [&](const RejectedNode& entry) { return entry.pod_uid == pod_uid; });
}

}  // namespace gpubinder
