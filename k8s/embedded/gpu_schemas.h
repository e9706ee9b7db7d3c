// The schemas of our three kinds, as their CRDs have them.

#ifndef K8S_EMBEDDED_GPU_SCHEMAS_H_
#define K8S_EMBEDDED_GPU_SCHEMAS_H_

#include <memory>

#include "nlohmann/json_fwd.hpp"

namespace gpubinder {

// Structural OpenAPI v3 schemas. Never null.
std::shared_ptr<const nlohmann::json> GpuClassSchema();
std::shared_ptr<const nlohmann::json> GpuClaimSchema();
std::shared_ptr<const nlohmann::json> GpuClaimSetSchema();

}  // namespace gpubinder

#endif  // K8S_EMBEDDED_GPU_SCHEMAS_H_
