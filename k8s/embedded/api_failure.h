// A refusal of the API server and the Status object that tells it.

#ifndef K8S_EMBEDDED_API_FAILURE_H_
#define K8S_EMBEDDED_API_FAILURE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "k8s/embedded/resource_table.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// One field error. `message` is complete: "Invalid value: 0: must be ...".
struct FieldError {
  std::string field;
  std::string reason;  // FieldValueInvalid, FieldValueForbidden, ...
  std::string message;
};
using FieldErrors = std::vector<FieldError>;

FieldError InvalidValue(absl::string_view field, const nlohmann::json& value,
                        absl::string_view why);
FieldError Forbidden(absl::string_view field, absl::string_view why);
FieldError Required(absl::string_view field, absl::string_view why);
FieldError Duplicate(absl::string_view field, const nlohmann::json& value);

struct ApiFailure {
  int code = 500;
  std::string reason, message;
  std::string name, group, kind;  // details
  FieldErrors causes;
  int retry_after_seconds = 0;
  std::string continue_token;  // of a 410: goes on at the newest version
  bool with_details = true;
};

// The Status object of a failure.
nlohmann::json StatusObject(const ApiFailure& failure);

ApiFailure NotFoundFailure(const Resource& resource, absl::string_view name);
ApiFailure ExistsFailure(const Resource& resource, absl::string_view name);
// 409 on a stale resourceVersion.
ApiFailure StaleFailure(const Resource& resource, absl::string_view name);
// 409 "Operation cannot be fulfilled on WHAT "NAME": WHY".
ApiFailure ConflictFailure(const Resource& resource, absl::string_view what,
                           absl::string_view name, absl::string_view why);
ApiFailure ForbiddenFailure(const Resource& resource, absl::string_view name,
                            absl::string_view why);
// 422 with the field errors in order.
ApiFailure InvalidFailure(const Resource& resource, absl::string_view name,
                          FieldErrors errors);
// 422 as a failed JSON patch gets: the text says nothing.
ApiFailure PatchFailure();
ApiFailure BadRequest(absl::string_view message);
// A failure without an object: code, reason and text.
ApiFailure PlainFailure(int code, absl::string_view reason,
                        absl::string_view message);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_API_FAILURE_H_
