// Steps that creates, updates and deletes share. Internal to write.h.

#ifndef K8S_EMBEDDED_WRITE_COMMON_H_
#define K8S_EMBEDDED_WRITE_COMMON_H_

#include <optional>
#include <string>
#include <vector>

#include "k8s/embedded/write.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

WriteResult Failed(ApiFailure failure);

// apiVersion, kind, namespace and name of a body against the request. Sets
// what is missing where the server does.
std::optional<ApiFailure> CheckTypeAndPlace(const ObjectPlace& place,
                                            nlohmann::json& body);
// Prunes unknown fields of kinds with a schema: a warning each, or 400 when
// strict.
std::optional<ApiFailure> PruneUnknown(const Resource& resource,
                                       const WriteOptions& options,
                                       nlohmann::json& body,
                                       std::vector<std::string>& warnings);
// 400 for a Lease with times in the wrong form.
std::optional<ApiFailure> CheckLease(const Resource& resource,
                                     const nlohmann::json& body);
bool HasFinalizers(const nlohmann::json& object);
bool IsBeingDeleted(const nlohmann::json& object);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_WRITE_COMMON_H_
