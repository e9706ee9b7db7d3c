// Taints and tolerations as the scheduler reads them, less the taints that
// the binder judges by other rules (N8): readiness and cordon.

#ifndef RECONCILER_MODEL_TAINT_H_
#define RECONCILER_MODEL_TAINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

inline constexpr char kTaintNotReady[] = "node.kubernetes.io/not-ready";
inline constexpr char kTaintUnreachable[] = "node.kubernetes.io/unreachable";
inline constexpr char kTaintUnschedulable[] =
    "node.kubernetes.io/unschedulable";

// Which effects block. PreferNoSchedule never does.
enum class TaintScope : uint8_t {
  kScheduling,  // NoSchedule and NoExecute: for whom is yet to be placed
  kRunning,     // NoExecute only: for a launcher that has a nodeName (N6)
};

// Whether it is one of the three keys above, whatever its value and effect:
// it says readiness or cordon and is no taint to the rules about taints (N8).
bool IsConditionTaint(const Taint& taint);

// Whether this toleration tolerates this taint. Operators other than "",
// Equal and Exists never do (Lt and Gt are behind an alpha gate).
bool Tolerates(const Toleration& toleration, const Taint& taint);

// The taints within the scope that no toleration tolerates, in their order,
// condition taints left out. The pointers point into `taints`.
std::vector<const Taint*> AllUntolerated(
    absl::Span<const Taint> taints, absl::Span<const Toleration> tolerations,
    TaintScope scope);

// The first of them or nullptr, without allocating.
const Taint* FirstUntolerated(absl::Span<const Taint> taints,
                              absl::Span<const Toleration> tolerations,
                              TaintScope scope);

// key=value:effect, and key:effect when there is no value.
std::string TaintText(const Taint& taint);

// Those of `want` that `have` lacks, in their order, each once and as it was
// written. Two are the same when all fields are, except that operator "" is
// Equal. A wider toleration in `have` does not make a narrower one present.
std::vector<Toleration> MissingTolerations(absl::Span<const Toleration> have,
                                           absl::Span<const Toleration> want);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TAINT_H_
