// A structural schema applied to a custom resource: prune, default, check.
//
// Known keywords: type, required, properties, additionalProperties, items,
// enum, minimum, maximum, minLength, maxLength, pattern, format date-time,
// maxItems, maxProperties, default, x-kubernetes-preserve-unknown-fields,
// x-kubernetes-list-type map. There is no CEL here: the rules of our CRDs are
// known by their text, and IsKnownRule says which.

#ifndef K8S_EMBEDDED_SCHEMA_H_
#define K8S_EMBEDDED_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "k8s/embedded/api_failure.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Takes away the fields that the schema does not have and returns their paths
// ("spec.zzz"); sets defaults. apiVersion, kind and metadata are left alone.
std::vector<std::string> PruneAndDefault(const nlohmann::json& schema,
                                         nlohmann::json& object);

// What is wrong with `object`. `old` is null on create.
FieldErrors CheckSchema(const nlohmann::json& schema,
                        const nlohmann::json& object,
                        const nlohmann::json& old);

// Whether a rule of x-kubernetes-validations is evaluated; others are not.
bool IsKnownRule(absl::string_view rule);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_SCHEMA_H_
