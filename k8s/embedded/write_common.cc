#include "k8s/embedded/write_common.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/object_rules.h"
#include "k8s/embedded/schema.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {

WriteResult Failed(ApiFailure failure) {
  WriteResult result;
  result.code = failure.code;
  result.failure = std::move(failure);
  return result;
}

std::optional<ApiFailure> CheckTypeAndPlace(const ObjectPlace& place,
                                            Json& body) {
  const Resource& resource = *place.resource;
  if (!body.is_object()) return BadRequest("the body is no object");
  const std::string version = TextAt(body, {"apiVersion"});
  const std::string kind = TextAt(body, {"kind"});
  if (resource.is_custom && kind.empty()) {
    return BadRequest("Object 'Kind' is missing in the body");
  }
  if ((!kind.empty() && kind != resource.kind) ||
      (!version.empty() && version != resource.GroupVersion())) {
    return BadRequest(absl::StrCat(kind, " in version \"", version,
                                   "\" cannot be handled as a ",
                                   resource.kind));
  }
  body["apiVersion"] = resource.GroupVersion();
  body["kind"] = resource.kind;
  Json& metadata = ObjectAt(body, "metadata");
  const std::string name_space = TextAt(metadata, {"namespace"});
  if (!name_space.empty() && name_space != place.name_space) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace "
        "sent on the request");
  }
  if (resource.namespaced) metadata["namespace"] = place.name_space;
  const std::string name = TextAt(metadata, {"name"});
  if (!place.name.empty() && name != place.name) {
    return BadRequest(absl::StrCat("the name of the object (", name,
                                   ") does not match the name on the URL (",
                                   place.name, ")"));
  }
  return std::nullopt;
}

std::optional<ApiFailure> PruneUnknown(const Resource& resource,
                                       const WriteOptions& options, Json& body,
                                       std::vector<std::string>& warnings) {
  if (resource.schema == nullptr) return std::nullopt;
  std::vector<std::string> unknown = PruneAndDefault(*resource.schema, body);
  for (std::string& field : unknown) {
    field = absl::StrCat("unknown field \"", field, "\"");
  }
  if (!unknown.empty() && options.strict) {
    return BadRequest(
        absl::StrCat("strict decoding error: ", absl::StrJoin(unknown, ", ")));
  }
  warnings.insert(warnings.end(), unknown.begin(), unknown.end());
  return std::nullopt;
}

std::optional<ApiFailure> CheckLease(const Resource& resource,
                                     const Json& body) {
  if (resource.kind != "Lease") return std::nullopt;
  if (const auto error = LeaseTimeError(body)) {
    return BadRequest(absl::StrCat(
        "Lease in version \"v1\" cannot be handled as a Lease: ", *error));
  }
  return std::nullopt;
}

bool HasFinalizers(const Json& object) {
  const Json& finalizers = At(object, {"metadata", "finalizers"});
  return finalizers.is_array() && !finalizers.empty();
}

bool IsBeingDeleted(const Json& object) {
  return !At(object, {"metadata", "deletionTimestamp"}).is_null();
}

}  // namespace gpubinder::embedded
