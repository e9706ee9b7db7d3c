// What a node was like when it refused a set (N5): a rejection ends when this
// changes.

#ifndef RECONCILER_MODEL_FINGERPRINT_H_
#define RECONCILER_MODEL_FINGERPRINT_H_

#include <string>

#include "absl/types/span.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// The first 16 hex digits of SHA-256 over these lines, each ended by '\n':
// <resource>=<whole units> for each resource, sorted (0 where allocatable is
// absent or malformed); <key>=<value>:<effect> for each taint but the
// condition taints, sorted; Ready=<status>, Unknown without that condition.
// The order and repetition of `resources` do not matter.
std::string NodeFingerprint(const Node& node,
                            absl::Span<const std::string> resources);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FINGERPRINT_H_
