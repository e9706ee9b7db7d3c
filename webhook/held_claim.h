// Rule W4: whether a held claim is free for the VMI that names it.

#ifndef WEBHOOK_HELD_CLAIM_H_
#define WEBHOOK_HELD_CLAIM_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "webhook/review.h"

namespace gpubinder {

struct HoldVerdict {
  // Why the claim is another's; empty: it is free or the VMI's own.
  std::string elsewhere;
  // The attachment that taking it overwrites, if the snapshot does not prove
  // that its VMI has gone.
  std::optional<ReviewAnswer::Holder> unseen_holder;
};

// O(log VMIs). `vmi_name` may be empty.
HoldVerdict JudgeHold(const GpuClaim& claim, absl::string_view vmi_name,
                      const LiveReads& live, const Snapshot& snapshot,
                      absl::Time now);

}  // namespace gpubinder

#endif  // WEBHOOK_HELD_CLAIM_H_
