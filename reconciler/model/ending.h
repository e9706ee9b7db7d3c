// Ending VMIs whose node cannot keep their claims (rule M4), and how many may
// be ended.

#ifndef RECONCILER_MODEL_ENDING_H_
#define RECONCILER_MODEL_ENDING_H_

#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// How many VMIs may still be ended: on a node at a time, and in ten minutes
// over all. O(VMIs + sets) for the first one that is asked for.
class EndingValve {
 public:
  explicit EndingValve(Plan& plan) : plan_(plan) {}

  // Whether one more may be ended on that node; then it is counted. Else the
  // plan wakes when the ten minutes are over.
  bool Take(const std::string& node, const std::string& vmi_uid);

 private:
  void Count();

  Plan& plan_;
  bool counted_ = false;
  // Uids of VMIs that are being ended or deleted, by node.
  absl::btree_map<std::string, absl::btree_set<std::string>> ending_;
  absl::btree_set<std::string> recent_;  // of the last ten minutes
  absl::Time next_ = absl::InfiniteFuture();
};

// Whether the VM holds a request to stop this VMI: then it is on its way.
bool IsRestarting(const VirtualMachine& vm, const std::string& vmi_uid);

// Whether the set's VMI lives and was asked to end: the call is repeated as
// long as its launcher is pinned, whatever its node does.
bool WasAskedToEnd(const ClaimSet& set, const Plan& plan);

// Whether the set stays as it is until then: nothing of it moves, is placed or
// is lost. What a launcher at its gate gets is told by its own rules (G).
bool AwaitsEnd(const ClaimSet& set, const Plan& plan);

// Ends the VMI of a set with a pinned launcher, when the valve lets it: the
// uid is written to the set's memory first. Sets the verdict. A set whose
// memory is not yet written for this VMI waits for a later pass.
void EndVmi(size_t set, const v1::ReasonDetail& why, EndingValve& valve,
            Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_ENDING_H_
