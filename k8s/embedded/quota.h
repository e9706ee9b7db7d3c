// ResourceQuota as the API server's admission counts it, for pods.

#ifndef K8S_EMBEDDED_QUOTA_H_
#define K8S_EMBEDDED_QUOTA_H_

#include <optional>
#include <string>
#include <vector>

#include "k8s/embedded/store.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Why `pod` does not fit ("exceeded quota: q, requested: ..."); nothing when
// it does. `quotas` and `pods` are those of its namespace. Gated pods count,
// finished ones do not. Keys: pods, cpu, memory, requests.*, limits.cpu,
// limits.memory; others are not enforced.
std::optional<std::string> QuotaRefusal(const std::vector<JsonPtr>& quotas,
                                        const std::vector<JsonPtr>& pods,
                                        const nlohmann::json& pod);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_QUOTA_H_
