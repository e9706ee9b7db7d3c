// What was considered for a set and the verdict on each node, in the forms it
// is told in: the group form of the record, the lines of a summary, one line
// of text.

#ifndef RECONCILER_MODEL_EXPLANATION_H_
#define RECONCILER_MODEL_EXPLANATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"
#include "reconciler/model/judged_nodes.h"

namespace gpubinder {

// Texts of conditions and events are at most this many bytes.
inline constexpr size_t kMostMessageBytes = 1024;
// Lines in GPUClaimSet's status.summary.
inline constexpr size_t kMostSummaryLines = 16;

// The verdict on one set in one pass.
struct Verdict {
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  std::vector<v1::ReasonDetail> details;  // set-level reasons
  JudgedNodes judged;                     // when a step looked at the nodes
  std::string node;                       // where it was placed
};

// The set-level reason of several: the first in the order of the closed list,
// NoNodeFits last.
v1::Reason FirstReason(const std::vector<v1::ReasonDetail>& details);

// One line per reason and thing it is about, over all nodes, in the order of
// the closed list.
std::vector<v1::SummaryLine> Summarize(const Verdict& verdict);

// "NoNodeFits: 2 nodes InsufficientUnits h100 (most free 3, wanted 4), 1 node
// UntoleratedTaint". At most kMostMessageBytes, cut at a whole character.
std::string MessageOf(const Verdict& verdict);

// What a message means, whatever its counts: equal for two messages that
// differ in numbers only. Conditions are written anew when this changes.
std::string MeaningOf(absl::string_view message);

// Whether they differ in numbers at most.
bool MeanTheSame(absl::string_view one, absl::string_view other);

// The set-level reasons and the node groups of a record.
void FillGroups(const Verdict& verdict, v1::Explanation& explanation);
// Whether FillGroups would fill in what the record has: its set-level reasons,
// and its groups. O(those).
bool HasReasons(const v1::Explanation& explanation, const Verdict& verdict);
bool HasGroups(const v1::Explanation& explanation, const JudgedNodes& judged);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_EXPLANATION_H_
