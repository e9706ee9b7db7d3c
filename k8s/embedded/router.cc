#include "k8s/embedded/router.h"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "k8s/embedded/discovery.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/read.h"
#include "k8s/embedded/request_target.h"
#include "k8s/embedded/write.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr size_t kMaxBody = 3 * 1024 * 1024;

ApiFailure MethodNotAllowed() {
  ApiFailure failure = PlainFailure(
      405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource");
  failure.with_details = true;
  return failure;
}

ApiFailure NoSuchResource() {
  ApiFailure failure = PlainFailure(
      404, "NotFound", "the server could not find the requested resource");
  failure.with_details = true;
  return failure;
}

ApiAnswer Refusal(const ApiFailure& failure) {
  return {FailureResponse(failure), nullptr};
}

bool AcceptsJson(const std::string& accept) {
  return accept.empty() || absl::StrContains(accept, "json") ||
         absl::StrContains(accept, "*/*") ||
         absl::StrContains(accept, "application/*");
}

// The first alternative that we can write decides.
Form FormOf(const std::string& accept) {
  for (absl::string_view part : absl::StrSplit(accept, ',')) {
    if (!absl::StrContains(part, "json")) continue;
    if (absl::StrContains(part, "as=Table") &&
        absl::StrContains(part, "v=v1;g=meta.k8s.io")) {
      return Form::kTable;
    }
    if (absl::StrContains(part, "as=Table") &&
        absl::StrContains(part, "g=meta.k8s.io") &&
        absl::StrContains(part, "v=v1") &&
        !absl::StrContains(part, "v=v1beta1")) {
      return Form::kTable;
    }
    if (!absl::StrContains(part, "as=")) return Form::kObject;
  }
  return Form::kObject;
}

// One request on its way through.
struct Call {
  Backend& backend;
  const ApiRequest& request;
  RequestTarget target;
  ObjectPlace place;
  WriteOptions options;
  Form form = Form::kObject;
};

ApiAnswer Written(const Call& call, WriteResult result) {
  ApiResponse response =
      result.ok() ? ObjectResponse(call.backend, call.place, call.target,
                                   call.form, result.object)
                  : FailureResponse(*result.failure);
  if (result.ok()) response.code = result.code;
  response.warnings = std::move(result.warnings);
  return {std::move(response), nullptr};
}

// The body as JSON, or the refusal it gets.
std::optional<ApiFailure> ReadBody(const Call& call, Json& body) {
  const std::string& type = call.request.content_type;
  if (!type.empty() && !absl::StartsWith(type, "application/json")) {
    return PlainFailure(
        415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media "
        "types include: application/json");
  }
  absl::StatusOr<Json> parsed = ParseJson(call.request.body);
  if (!parsed.ok()) {
    return BadRequest(
        absl::StrCat("the object provided is unrecognized (must be of type ",
                     call.place.resource->kind,
                     "): couldn't get version/kind; json parse "
                     "error: ",
                     std::string(parsed.status().message())));
  }
  body = *std::move(parsed);
  return std::nullopt;
}

ApiAnswer Get(const Call& call) {
  if (call.place.name.empty() || call.target.Says("watch")) {
    return call.target.Says("watch")
               ? OpenWatch(call.backend, call.place, call.target, call.form)
               : ListObjects(call.backend, call.place, call.target, call.form);
  }
  const JsonPtr object = ReadObject(call.backend, *call.place.resource,
                                    call.place.name_space, call.place.name);
  if (object == nullptr) {
    return Refusal(NotFoundFailure(*call.place.resource, call.place.name));
  }
  return {
      ObjectResponse(call.backend, call.place, call.target, call.form, object),
      nullptr};
}

ApiAnswer Post(const Call& call) {
  Json body;
  if (auto failed = ReadBody(call, body)) return Refusal(*failed);
  if (call.place.subresource == "binding") {
    WriteResult bound =
        BindPod(call.backend, call.place, TextAt(body, {"target", "name"}));
    return Written(call, std::move(bound));
  }
  if (!call.place.name.empty()) return Refusal(MethodNotAllowed());
  return Written(call, CreateObject(call.backend, call.place, std::move(body),
                                    call.options));
}

ApiAnswer Put(const Call& call) {
  Json body;
  if (call.place.name.empty()) return Refusal(MethodNotAllowed());
  if (auto failed = ReadBody(call, body)) return Refusal(*failed);
  return Written(call, ReplaceObject(call.backend, call.place, std::move(body),
                                     call.options));
}

ApiAnswer Patch(const Call& call) {
  if (call.place.name.empty()) return Refusal(MethodNotAllowed());
  const std::string& type = call.request.content_type;
  PatchKind kind;
  if (absl::StartsWith(type, "application/json-patch+json")) {
    kind = PatchKind::kJson;
  } else if (absl::StartsWith(type, "application/merge-patch+json")) {
    kind = PatchKind::kMerge;
  } else if (absl::StartsWith(type, "application/strategic-merge-patch+json")) {
    kind = PatchKind::kStrategic;
  } else {
    return Refusal(PlainFailure(415, "UnsupportedMediaType",
                                "415: Unsupported Media Type"));
  }
  const absl::StatusOr<Json> patch = ParseJson(call.request.body);
  if (!patch.ok()) {
    return Refusal(BadRequest(absl::StrCat(
        "error decoding patch: ", std::string(patch.status().message()))));
  }
  return Written(
      call, PatchObject(call.backend, call.place, kind, *patch, call.options));
}

ApiAnswer Delete(Call& call) {
  if (call.place.name.empty() || !call.place.subresource.empty()) {
    return Refusal(MethodNotAllowed());
  }
  Json body = Json::object();
  if (!call.request.body.empty()) {
    if (auto failed = ReadBody(call, body)) return Refusal(*failed);
  }
  if (!body.is_object()) return Refusal(BadRequest("the body is no object"));
  int64_t grace = 0;
  if (Member(body, "gracePeriodSeconds").is_null() &&
      absl::SimpleAtoi(call.target.Query("gracePeriodSeconds"), &grace)) {
    body["gracePeriodSeconds"] = grace;
  }
  const std::string policy = call.target.Query("propagationPolicy");
  if (!policy.empty() && Member(body, "propagationPolicy").is_null()) {
    body["propagationPolicy"] = policy;
  }
  call.options.dry_run =
      call.options.dry_run || HasText(Member(body, "dryRun"), "All");
  return Written(call,
                 DeleteObject(call.backend, call.place, body, call.options));
}

bool IsServed(const ObjectPlace& place) {
  if (place.subresource.empty()) return true;
  if (place.subresource == "status") return place.resource->has_status;
  if (place.subresource == "finalize") {
    return place.resource->kind == "Namespace";
  }
  return place.subresource == "binding" && place.resource->kind == "Pod";
}

std::optional<ApiFailure> CheckCall(const Call& call) {
  if (!IsServed(call.place)) return NoSuchResource();
  if (!AcceptsJson(call.request.accept)) {
    return PlainFailure(
        406, "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json");
  }
  const std::string dry_run = call.target.Query("dryRun");
  if (!dry_run.empty() && dry_run != "All") {
    return PlainFailure(422, "Invalid",
                        absl::StrCat("dryRun: Unsupported value: \"", dry_run,
                                     "\": supported values: \"All\""));
  }
  // An object of a namespaced kind has a namespace in its path.
  if (call.place.resource->namespaced && call.place.name_space.empty() &&
      (!call.place.name.empty() || call.request.method == "POST")) {
    return call.request.method == "POST" ? MethodNotAllowed()
                                         : NoSuchResource();
  }
  return std::nullopt;
}

ApiAnswer Route(Backend& backend, const ApiRequest& request) {
  if (request.body.size() > kMaxBody) {
    return Refusal(PlainFailure(
        413, "RequestEntityTooLarge",
        absl::StrCat("Request entity too large: limit is ", kMaxBody)));
  }
  std::optional<RequestTarget> target = ParseTarget(request.target);
  if (!target.has_value()) return Refusal(BadRequest("malformed target"));
  if (request.method == "GET") {
    if (auto document = DiscoveryDocument(*target)) {
      ApiResponse response;
      response.body = *std::move(document) + "\n";
      return {std::move(response), nullptr};
    }
  }
  std::optional<ObjectPlace> place = PlaceOf(*target);
  if (!place.has_value()) {
    // A group that is not there answers in plain text, as the real one does.
    ApiResponse response;
    response.code = 404;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "404 page not found\n";
    return {std::move(response), nullptr};
  }
  Call call{backend, request, *std::move(target), *std::move(place)};
  call.options.user = request.user.empty() ? "system:admin" : request.user;
  call.options.dry_run = call.target.Query("dryRun") == "All";
  call.options.strict = call.target.Query("fieldValidation") == "Strict";
  call.form = FormOf(request.accept);
  if (auto failed = CheckCall(call)) return Refusal(*failed);
  if (request.method == "GET") return Get(call);
  if (request.method == "POST") return Post(call);
  if (request.method == "PUT") return Put(call);
  if (request.method == "PATCH") return Patch(call);
  if (request.method == "DELETE") return Delete(call);
  return Refusal(MethodNotAllowed());
}

}  // namespace

ApiAnswer HandleRequest(Backend& backend, const ApiRequest& request) {
  // The JSON library throws on a value of a type that nothing above expected.
  try {
    return Route(backend, request);
  } catch (const std::exception& error) {
    return Refusal(
        PlainFailure(500, "InternalError",
                     absl::StrCat("Internal error occurred: ", error.what())));
  }
}

}  // namespace gpubinder::embedded
