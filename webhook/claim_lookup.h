// The claims and classes a request can name, from the snapshot and from what
// was read past it.

#ifndef WEBHOOK_CLAIM_LOOKUP_H_
#define WEBHOOK_CLAIM_LOOKUP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "reconciler/model/snapshot.h"
#include "webhook/review.h"

namespace gpubinder {

// Valid as long as what it was made of. O(log objects) a call.
class ClaimLookup {
 public:
  ClaimLookup(absl::string_view name_space, const LiveReads& live,
              const Snapshot& snapshot)
      : name_space_(name_space), live_(live), snapshot_(snapshot) {}

  // Null: there is none of that name.
  const GpuClaim* Claim(absl::string_view name) const {
    auto read = live_.claims.find(name);
    if (read != live_.claims.end()) {
      return read->second.has_value() ? &*read->second : nullptr;
    }
    return snapshot_.claims().Find(name_space_, name);
  }
  const GpuClass* Class(absl::string_view name) const {
    return snapshot_.classes().Find("", name);
  }

 private:
  std::string name_space_;
  const LiveReads& live_;
  const Snapshot& snapshot_;
};

}  // namespace gpubinder

#endif  // WEBHOOK_CLAIM_LOOKUP_H_
