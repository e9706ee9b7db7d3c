// The rules that hold for every kind: names, metadata, finalizers, times.

#ifndef K8S_EMBEDDED_OBJECT_RULES_H_
#define K8S_EMBEDDED_OBJECT_RULES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "k8s/embedded/api_failure.h"
#include "k8s/embedded/resource_table.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// A label key or a finalizer: "[prefix/]name". A label value: up to 63.
bool IsQualifiedName(absl::string_view text);
bool IsLabelValue(absl::string_view text);

// Metadata of a new object: name, labels, owners, finalizers.
FieldErrors CheckMetadata(const Resource& resource,
                          const nlohmann::json& object);
// What may not change in metadata, and FZ-1: no new finalizer on an object
// that is being deleted. Both are complete objects.
FieldErrors CheckMetadataUpdate(const nlohmann::json& old,
                                const nlohmann::json& object);

// A Lease whose acquireTime or renewTime has not exactly six decimals: the
// text of the parse error.
std::optional<std::string> LeaseTimeError(const nlohmann::json& lease);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_OBJECT_RULES_H_
