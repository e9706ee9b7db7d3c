#include "k8s/embedded/api_failure.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::string_view kStale =
    "the object has been modified; please apply your changes to the latest "
    "version and try again";

ApiFailure About(const Resource& resource, absl::string_view name, int code,
                 absl::string_view reason, std::string message) {
  return {.code = code,
          .reason = std::string(reason),
          .message = std::move(message),
          .name = std::string(name),
          .group = resource.group,
          .kind = resource.plural};
}

Json DetailsOf(const ApiFailure& failure) {
  Json details = Json::object();
  if (!failure.name.empty()) details["name"] = failure.name;
  if (!failure.group.empty()) details["group"] = failure.group;
  if (!failure.kind.empty()) details["kind"] = failure.kind;
  for (const FieldError& cause : failure.causes) {
    Json one = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) one["field"] = cause.field;
    details["causes"].push_back(std::move(one));
  }
  if (failure.retry_after_seconds > 0) {
    details["retryAfterSeconds"] = failure.retry_after_seconds;
  }
  return details;
}

}  // namespace

FieldError InvalidValue(absl::string_view field, const Json& value,
                        absl::string_view why) {
  return {std::string(field), "FieldValueInvalid",
          absl::StrCat("Invalid value: ", DumpJson(value), ": ", why)};
}

FieldError Forbidden(absl::string_view field, absl::string_view why) {
  return {std::string(field), "FieldValueForbidden",
          absl::StrCat("Forbidden: ", why)};
}

FieldError Required(absl::string_view field, absl::string_view why) {
  return {
      std::string(field), "FieldValueRequired",
      why.empty() ? "Required value" : absl::StrCat("Required value: ", why)};
}

FieldError Duplicate(absl::string_view field, const Json& value) {
  return {std::string(field), "FieldValueDuplicate",
          absl::StrCat("Duplicate value: ", DumpJson(value))};
}

Json StatusObject(const ApiFailure& failure) {
  Json status = {{"kind", "Status"},           {"apiVersion", "v1"},
                 {"metadata", Json::object()}, {"status", "Failure"},
                 {"message", failure.message}, {"code", failure.code}};
  if (!failure.reason.empty()) status["reason"] = failure.reason;
  if (failure.with_details) status["details"] = DetailsOf(failure);
  if (!failure.continue_token.empty()) {
    status["metadata"]["continue"] = failure.continue_token;
  }
  return status;
}

ApiFailure NotFoundFailure(const Resource& resource, absl::string_view name) {
  return About(
      resource, name, 404, "NotFound",
      absl::StrCat(resource.QualifiedPlural(), " \"", name, "\" not found"));
}

ApiFailure ExistsFailure(const Resource& resource, absl::string_view name) {
  return About(resource, name, 409, "AlreadyExists",
               absl::StrCat(resource.QualifiedPlural(), " \"", name,
                            "\" already exists"));
}

ApiFailure StaleFailure(const Resource& resource, absl::string_view name) {
  return ConflictFailure(resource, resource.QualifiedPlural(), name, kStale);
}

ApiFailure ConflictFailure(const Resource& resource, absl::string_view what,
                           absl::string_view name, absl::string_view why) {
  return About(resource, name, 409, "Conflict",
               absl::StrCat("Operation cannot be fulfilled on ", what, " \"",
                            name, "\": ", why));
}

ApiFailure ForbiddenFailure(const Resource& resource, absl::string_view name,
                            absl::string_view why) {
  return About(resource, name, 403, "Forbidden",
               absl::StrCat(resource.QualifiedPlural(), " \"", name,
                            "\" is forbidden: ", why));
}

ApiFailure InvalidFailure(const Resource& resource, absl::string_view name,
                          FieldErrors errors) {
  const auto text = [](std::string* out, const FieldError& error) {
    absl::StrAppend(out, error.field, ": ", error.message);
  };
  std::string all = absl::StrJoin(errors, ", ", text);
  if (errors.size() > 1) all = absl::StrCat("[", all, "]");
  ApiFailure failure = About(resource, name, 422, "Invalid",
                             absl::StrCat(resource.QualifiedKind(), " \"", name,
                                          "\" is invalid: ", all));
  failure.kind = resource.kind;
  failure.causes = std::move(errors);
  return failure;
}

ApiFailure PatchFailure() {
  return {.code = 422,
          .reason = "Invalid",
          .message =
              "the server rejected our request due to an error in our "
              "request"};
}

ApiFailure BadRequest(absl::string_view message) {
  return PlainFailure(400, "BadRequest", message);
}

ApiFailure PlainFailure(int code, absl::string_view reason,
                        absl::string_view message) {
  return {.code = code,
          .reason = std::string(reason),
          .message = std::string(message),
          .with_details = false};
}

}  // namespace gpubinder::embedded
