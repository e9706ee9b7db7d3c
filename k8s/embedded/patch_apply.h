// Applies the three kinds of patches that the API server takes.
//
// JSON Patch follows the evanphx dialect of the API server, not RFC 6902 to
// the letter; each difference is in patch_apply_test.cc.

#ifndef K8S_EMBEDDED_PATCH_APPLY_H_
#define K8S_EMBEDDED_PATCH_APPLY_H_

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// kInvalidArgument: the patch is no list of operations (400).
// kFailedPrecondition: an operation failed (422); `document` is then as it was.
absl::Status ApplyJsonPatch(const nlohmann::json& patch,
                            nlohmann::json& document);

// RFC 7386. kInvalidArgument: the patch is no object.
absl::Status ApplyMergePatch(const nlohmann::json& patch,
                             nlohmann::json& document);

// Strategic merge for the lists of built-in kinds that are merged by key:
// containers, conditions, schedulingGates, taints, volumes, owner references.
// Directives: $patch delete, replace and merge; $setElementOrder and
// $retainKeys are dropped. Every other list is replaced.
absl::Status ApplyStrategicMergePatch(const nlohmann::json& patch,
                                      nlohmann::json& document);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_PATCH_APPLY_H_
