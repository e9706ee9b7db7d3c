// Calls the admission hook for a create and applies its patch.

#ifndef K8S_EMBEDDED_ADMISSION_CALL_H_
#define K8S_EMBEDDED_ADMISSION_CALL_H_

#include <optional>
#include <string>
#include <vector>

#include "k8s/embedded/api_failure.h"
#include "k8s/embedded/backend.h"
#include "k8s/embedded/write.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Changes `object` as the hook asks, twice where it applies; for a VMI with
// what KubeVirt's own webhook does in between. Appends the hook's warnings.
std::optional<ApiFailure> AdmitCreate(Backend& backend,
                                      const ObjectPlace& place,
                                      const WriteOptions& options,
                                      nlohmann::json& object,
                                      std::vector<std::string>& warnings);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_ADMISSION_CALL_H_
