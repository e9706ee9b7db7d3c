// The writes of the API, with the rules of the API server around them.
//
// Every function locks the backend itself and is atomic; admission is called
// before the lock is taken.

#ifndef K8S_EMBEDDED_WRITE_H_
#define K8S_EMBEDDED_WRITE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "k8s/embedded/api_failure.h"
#include "k8s/embedded/backend.h"
#include "k8s/embedded/resource_table.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct WriteOptions {
  bool dry_run = false;
  bool strict = false;  // fieldValidation=Strict
  std::string user;
};

struct WriteResult {
  int code = 200;
  JsonPtr object;  // as stored, or a Status that says it is gone
  std::optional<ApiFailure> failure;
  std::vector<std::string> warnings;
  bool ok() const { return !failure.has_value(); }
};

// Where an object is. Empty name_space for cluster-scoped kinds.
struct ObjectPlace {
  const Resource* resource = nullptr;
  std::string name_space, name;
  std::string subresource;  // status, finalize, or empty
};

enum class PatchKind { kJson, kMerge, kStrategic };

// `place.name` is not looked at. The body may have generateName.
WriteResult CreateObject(Backend& backend, const ObjectPlace& place,
                         nlohmann::json body, const WriteOptions& options);
WriteResult ReplaceObject(Backend& backend, const ObjectPlace& place,
                          nlohmann::json body, const WriteOptions& options);
WriteResult PatchObject(Backend& backend, const ObjectPlace& place,
                        PatchKind kind, const nlohmann::json& patch,
                        const WriteOptions& options);
// `delete_options`: a DeleteOptions object, or null.
WriteResult DeleteObject(Backend& backend, const ObjectPlace& place,
                         const nlohmann::json& delete_options,
                         const WriteOptions& options);
// POST pods/NAME/binding.
WriteResult BindPod(Backend& backend, const ObjectPlace& place,
                    absl::string_view node);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_WRITE_H_
