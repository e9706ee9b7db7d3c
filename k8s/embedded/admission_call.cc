#include "k8s/embedded/admission_call.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/patch_apply.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kClaims[] = "gpu.cozystack.io/claims";
constexpr char kForeground[] = "kubevirt.io/foregroundDeleteVirtualMachine";

struct Webhook {
  std::string name, path;
};

// The match rules of the two webhook configurations.
std::optional<Webhook> WebhookFor(const Resource& resource,
                                  const Json& object) {
  if (At(object, {"metadata", "annotations", kClaims}).is_null()) {
    return std::nullopt;
  }
  if (resource.kind == "VirtualMachineInstance") {
    return Webhook{"vmi.gpu.cozystack.io", "/mutate-vmi"};
  }
  if (resource.kind == "Pod" &&
      TextAt(object, {"metadata", "labels", "kubevirt.io"}) ==
          "virt-launcher") {
    return Webhook{"pod.gpu.cozystack.io", "/mutate-pod"};
  }
  return std::nullopt;
}

Json ReviewOf(const ObjectPlace& place, const WriteOptions& options,
              const std::string& uid, const Json& object) {
  const Resource& resource = *place.resource;
  const Json kind = {{"group", resource.group},
                     {"version", resource.version},
                     {"kind", resource.kind}};
  const Json plural = {{"group", resource.group},
                       {"version", resource.version},
                       {"resource", resource.plural}};
  Json groups = {"system:authenticated"};
  if (options.user == "system:admin") groups.push_back("system:masters");
  Json request = {
      {"uid", uid},
      {"kind", kind},
      {"resource", plural},
      {"requestKind", kind},
      {"requestResource", plural},
      {"name", TextAt(object, {"metadata", "name"})},
      {"namespace", place.name_space},
      {"operation", "CREATE"},
      {"userInfo", {{"username", options.user}, {"groups", groups}}},
      {"object", object},
      {"oldObject", nullptr},
      {"dryRun", options.dry_run},
      {"options",
       {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}};
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request", std::move(request)}};
}

ApiFailure CallFailed(const Webhook& webhook, absl::string_view why) {
  return PlainFailure(
      500, "InternalError",
      absl::StrCat("Internal error occurred: failed calling webhook \"",
                   webhook.name, "\": ", why));
}

ApiFailure Denied(const Webhook& webhook, const Json& response) {
  const Json& status = Member(response, "status");
  const auto code = static_cast<int>(NumberAt(status, {"code"}, 403));
  const std::string message = TextAt(status, {"message"});
  std::string text = absl::StrCat("admission webhook \"", webhook.name,
                                  "\" denied the request");
  absl::StrAppend(&text, message.empty() ? " without explanation"
                                         : absl::StrCat(": ", message));
  return PlainFailure(code < 400 ? 400 : code, TextAt(status, {"reason"}),
                      text);
}

std::optional<ApiFailure> ApplyAnswer(const Webhook& webhook,
                                      const std::string& uid,
                                      const Json& answer, Json& object,
                                      std::vector<std::string>& warnings) {
  const Json& response = Member(answer, "response");
  if (TextAt(answer, {"kind"}) != "AdmissionReview" ||
      TextAt(answer, {"apiVersion"}) != "admission.k8s.io/v1" ||
      TextAt(response, {"uid"}) != uid) {
    return CallFailed(webhook, "expected response.uid and kind of the review");
  }
  for (const Json& warning : Member(response, "warnings")) {
    if (warning.is_string()) warnings.push_back(warning.get<std::string>());
  }
  if (Member(response, "allowed") != true) return Denied(webhook, response);
  const std::string encoded = TextAt(response, {"patch"});
  const std::string type = TextAt(response, {"patchType"});
  if (encoded.empty() && type.empty()) return std::nullopt;
  std::string decoded;
  if (encoded.empty() || type != "JSONPatch" ||
      !absl::Base64Unescape(encoded, &decoded)) {
    return CallFailed(webhook, "patch and patchType JSONPatch go together");
  }
  const absl::StatusOr<Json> patch = ParseJson(decoded);
  if (!patch.ok()) return CallFailed(webhook, "the patch is no JSON");
  // AR-5: a patch that does not apply is a 500, whatever the failure policy.
  if (absl::Status s = ApplyJsonPatch(*patch, object); !s.ok()) {
    return PlainFailure(
        500, "InternalError",
        absl::StrCat("Internal error occurred: ", std::string(s.message())));
  }
  return std::nullopt;
}

std::optional<ApiFailure> CallOnce(Backend& backend, const ObjectPlace& place,
                                   const WriteOptions& options, Json& object,
                                   std::vector<std::string>& warnings) {
  const std::optional<Webhook> webhook = WebhookFor(*place.resource, object);
  if (!webhook.has_value() || !backend.admission) return std::nullopt;
  std::string uid;
  {
    absl::MutexLock lock(&backend.mutex);
    uid = backend.ids.Uid();
  }
  const absl::StatusOr<std::string> answer = backend.admission(
      {webhook->path, DumpJson(ReviewOf(place, options, uid, object))});
  if (!answer.ok()) {
    return CallFailed(*webhook, std::string(answer.status().message()));
  }
  const absl::StatusOr<Json> parsed = ParseJson(*answer);
  if (!parsed.ok()) return CallFailed(*webhook, "the answer is no JSON");
  return ApplyAnswer(*webhook, uid, *parsed, object, warnings);
}

// What virt-api's mutator does to a new VMI: its finalizer, phase Pending.
void DefaultVmi(Json& object) {
  Json& metadata = ObjectAt(object, "metadata");
  Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (!HasText(finalizers, kForeground)) finalizers.push_back(kForeground);
  ObjectAt(object, "status")["phase"] = "Pending";
}

}  // namespace

std::optional<ApiFailure> AdmitCreate(Backend& backend,
                                      const ObjectPlace& place,
                                      const WriteOptions& options, Json& object,
                                      std::vector<std::string>& warnings) {
  if (auto failed = CallOnce(backend, place, options, object, warnings)) {
    return failed;
  }
  if (place.resource->kind == "VirtualMachineInstance") DefaultVmi(object);
  return CallOnce(backend, place, options, object, warnings);
}

}  // namespace gpubinder::embedded
