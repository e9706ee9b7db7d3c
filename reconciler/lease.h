// The record in a coordination.k8s.io/v1 Lease, with client-go's fields, so
// that client-go's and this election can share one. Fields that this build
// does not know are sent back as they came.

#ifndef RECONCILER_LEASE_H_
#define RECONCILER_LEASE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gpubinder {

inline constexpr char kLeaseName[] = "gpubinder.gpu.cozystack.io";
inline constexpr char kEpochAnnotation[] = "gpu.cozystack.io/epoch";
// "true": the holder had to wait before it may lead, and has not led yet.
// Whoever takes the Lease then waits too, also when it was released.
inline constexpr char kUnsettledAnnotation[] = "gpu.cozystack.io/unsettled";
// One more each second would take longer than there are GPUs. A number above
// is not one that a binder wrote, and is not counted from.
inline constexpr uint64_t kMostEpoch = uint64_t{1} << 53;

// A Lease as the server has it.
struct Lease {
  std::string json;         // whole
  std::string record;       // its spec: what a change is seen by
  std::string holder;       // empty: released
  absl::Duration duration;  // zero: not said
  uint64_t epoch = 0;       // of the annotation; 0: none, or unreadable
  bool unsettled = false;
};

// kDataLoss for a text that is no Lease.
absl::StatusOr<Lease> ParseLease(absl::string_view json);

// What to write.
struct LeaseHold {
  std::string name_space;
  std::string holder;       // empty: release
  absl::Duration duration;  // whole seconds
  absl::Time at;            // wall clock
  uint64_t epoch = 0;
  bool unsettled = false;
};

// The body of the PUT that changes `lease` (its resource version is the
// precondition), or of the POST where there is none. The time of acquisition
// and the count of transitions move only when the holder changes.
std::string LeaseBody(const std::optional<Lease>& lease, const LeaseHold& hold);

}  // namespace gpubinder

#endif  // RECONCILER_LEASE_H_
