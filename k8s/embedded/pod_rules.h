// What the API server demands of pods, above all of gated ones.
//
// Rule ids (GP-1 and so on) are those of the project's fact sheet on
// Kubernetes; pod_rules_test.cc has one case for each.

#ifndef K8S_EMBEDDED_POD_RULES_H_
#define K8S_EMBEDDED_POD_RULES_H_

#include "k8s/embedded/api_failure.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Sets what the server sets at creation: defaults of the spec, the two
// tolerations that admission adds, requests from limits.
void DefaultPod(nlohmann::json& pod);
// Status of a new pod: Pending, and PodScheduled=False when it is gated.
nlohmann::json NewPodStatus(const nlohmann::json& pod, const std::string& now);

// A pod as created or updated, on its own.
FieldErrors CheckPod(const nlohmann::json& pod);
// SG-1, SG-2: rules of creation only.
FieldErrors CheckPodCreate(const nlohmann::json& pod);
// What an update of the main resource may change (PU, GP rules).
FieldErrors CheckPodUpdate(const nlohmann::json& old,
                           const nlohmann::json& pod);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_POD_RULES_H_
