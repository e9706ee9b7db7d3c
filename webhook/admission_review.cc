#include "webhook/admission_review.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "k8s/json_value.h"
#include "k8s/object_codec.h"
#include "nlohmann/json.hpp"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using Type = JsonValue::Type;

constexpr char kApiVersion[] = "admission.k8s.io/v1";
constexpr char kReview[] = "AdmissionReview";
constexpr size_t kMostUidBytes = 256;
constexpr size_t kShownBytes = 64;

// What was found, short enough for a message.
std::string Found(JsonValue value) {
  switch (value.type()) {
    case Type::kAbsent:
      return "nothing";
    case Type::kText: {
      absl::string_view text = value.text();
      size_t size = text.size();
      if (size > kShownBytes) {
        size = kShownBytes;
        while (size > 0 && (text[size] & 0xc0) == 0x80) --size;
      }
      return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, size)),
                          size < text.size() ? "...\"" : "\"");
    }
    case Type::kBool:
      return value.boolean() ? "true" : "false";
    case Type::kInteger:
    case Type::kNumber:
      return absl::StrCat("the number ", value.number_text());
    case Type::kList:
      return "a list";
    case Type::kObject:
      return "an object";
  }
  return "";
}

absl::Status Wrong(absl::string_view field, JsonValue found,
                   absl::string_view want) {
  return absl::InvalidArgumentError(absl::StrCat(
      "admission review: ", field, ": found ", Found(found), ", want ", want));
}

// An optional text: absent reads as empty.
absl::Status ReadText(JsonValue parent, absl::string_view name,
                      absl::string_view field, std::string* out) {
  const JsonValue value = parent.Field(name);
  if (!value.present()) return absl::OkStatus();
  if (value.type() != Type::kText) return Wrong(field, value, "a text");
  *out = std::string(value.text());
  return absl::OkStatus();
}

absl::Status ReadEnvelope(JsonValue root) {
  if (root.type() != Type::kObject) return Wrong("body", root, "an object");
  std::string api_version, kind;
  if (absl::Status s = ReadText(root, "apiVersion", "apiVersion", &api_version);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = ReadText(root, "kind", "kind", &kind); !s.ok()) return s;
  if (api_version != kApiVersion) {
    return Wrong("apiVersion", root.Field("apiVersion"), kApiVersion);
  }
  if (kind != kReview) return Wrong("kind", root.Field("kind"), kReview);
  if (root.Field("request").type() != Type::kObject) {
    return Wrong("request", root.Field("request"), "an object");
  }
  return absl::OkStatus();
}

absl::Status ReadRequest(JsonValue request, AdmissionRequest* out) {
  const JsonValue uid = request.Field("uid");
  if (uid.type() != Type::kText || uid.text().empty() ||
      uid.text().size() > kMostUidBytes) {
    return Wrong("request.uid", uid,
                 absl::StrCat("a text of 1 to ", kMostUidBytes, " bytes"));
  }
  out->uid = std::string(uid.text());
  if (absl::Status s =
          ReadText(request, "namespace", "request.namespace", &out->name_space);
      !s.ok()) {
    return s;
  }
  std::string operation;
  if (absl::Status s =
          ReadText(request, "operation", "request.operation", &operation);
      !s.ok()) {
    return s;
  }
  if (operation != "CREATE" && operation != "UPDATE" && operation != "DELETE" &&
      operation != "CONNECT") {
    return Wrong("request.operation", request.Field("operation"),
                 "CREATE, UPDATE, DELETE or CONNECT");
  }
  out->creates = operation == "CREATE";
  const JsonValue user = request.Field("userInfo");
  if (user.present() && user.type() != Type::kObject) {
    return Wrong("request.userInfo", user, "an object");
  }
  if (absl::Status s =
          ReadText(user, "username", "request.userInfo.username", &out->user);
      !s.ok()) {
    return s;
  }
  const JsonValue dry_run = request.Field("dryRun");
  if (dry_run.present() && dry_run.type() != Type::kBool) {
    return Wrong("request.dryRun", dry_run, "true or false");
  }
  out->dry_run = dry_run.present() && dry_run.boolean();
  return absl::OkStatus();
}

// The API server converts the object to the kind its webhook asked for, so
// `kind` is what it is, whatever the client sent.
absl::StatusOr<Kind> ReviewedKind(JsonValue request) {
  const JsonValue kind = request.Field("kind");
  std::string group, name, subresource;
  if (kind.type() != Type::kObject) {
    return Wrong("request.kind", kind, "an object");
  }
  if (absl::Status s = ReadText(kind, "group", "request.kind.group", &group);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = ReadText(kind, "kind", "request.kind.kind", &name);
      !s.ok()) {
    return s;
  }
  if (absl::Status s =
          ReadText(request, "subResource", "request.subResource", &subresource);
      !s.ok()) {
    return s;
  }
  if (!subresource.empty()) {
    return Wrong("request.subResource", request.Field("subResource"),
                 "none: only whole objects are reviewed");
  }
  if (group == "kubevirt.io" && name == "VirtualMachineInstance") {
    return Kind::kVirtualMachineInstance;
  }
  if (group.empty() && name == "Pod") return Kind::kPod;
  return Wrong("request.kind.kind", kind.Field("kind"),
               "VirtualMachineInstance of kubevirt.io, or Pod");
}

ListPlace Locate(JsonValue object, std::vector<std::string> steps) {
  ListPlace place{.steps = std::move(steps)};
  JsonValue at = object;
  for (size_t i = 0; i < place.steps.size(); ++i) {
    at = at.Field(place.steps[i]);
    if (i + 1 < place.steps.size()) {
      if (at.type() != Type::kObject) break;
      ++place.present;
      continue;
    }
    bool holds = false;
    at.ForEachItem([&](JsonValue) { holds = true; });
    if (holds) ++place.present;
  }
  return place;
}

absl::Status ReadObject(JsonValue request, Kind kind, AdmissionRequest* out) {
  const JsonValue json = request.Field("object");
  if (kind == Kind::kPod) out->object = Pod();
  if (!json.present() && !out->creates) return absl::OkStatus();
  if (json.type() != Type::kObject) {
    return Wrong("request.object", json, "an object");
  }
  Object object = DecodeObject(kind, json);
  if (kind == Kind::kPod) {
    out->object = std::get<Pod>(std::move(object));
    out->gates = Locate(json, {"spec", "schedulingGates"});
    out->tolerations = Locate(json, {"spec", "tolerations"});
  } else {
    out->object = std::get<VirtualMachineInstance>(std::move(object));
    out->gpus = Locate(json, {"spec", "domain", "devices", "gpus"});
  }
  std::visit([&](auto& plain) { plain.meta.name_space = out->name_space; },
             out->object);
  return absl::OkStatus();
}

}  // namespace

absl::string_view AdmissionRequest::vmi_name() const {
  const auto* vmi = std::get_if<VirtualMachineInstance>(&object);
  return vmi == nullptr ? absl::string_view() : vmi->meta.name;
}

absl::StatusOr<AdmissionRequest> ParseReview(absl::string_view body) {
  if (body.size() > kMostReviewBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("admission review: found ", body.size(),
                     " bytes, want at most ", kMostReviewBytes));
  }
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(body);
  if (!document.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("admission review: ", document.status().message()));
  }
  const JsonValue root = document->root();
  if (absl::Status s = ReadEnvelope(root); !s.ok()) return s;
  const JsonValue from = root.Field("request");
  const absl::StatusOr<Kind> kind = ReviewedKind(from);
  if (!kind.ok()) return kind.status();
  AdmissionRequest request;
  if (absl::Status s = ReadRequest(from, &request); !s.ok()) return s;
  if (absl::Status s = ReadObject(from, *kind, &request); !s.ok()) return s;
  return request;
}

int HttpCodeOf(const absl::Status& refused) {
  return absl::IsResourceExhausted(refused) ? 413 : 400;
}

namespace {

Json InnerJson(absl::string_view uid, const ReviewAnswer& answer) {
  Json response = {{"uid", std::string(uid)}, {"allowed", answer.allowed}};
  if (!answer.allowed) {
    response["status"] = {{"status", "Failure"},
                          {"code", answer.code},
                          {"reason", answer.reason},
                          {"message", answer.message}};
  }
  if (answer.allowed && !answer.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = absl::Base64Escape(answer.patch);
  }
  if (!answer.warnings.empty()) response["warnings"] = answer.warnings;
  return response;
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string InnerResponseJson(absl::string_view uid,
                              const ReviewAnswer& answer) {
  return Text(InnerJson(uid, answer));
}

std::string ResponseJson(absl::string_view uid, const ReviewAnswer& answer) {
  return Text({{"apiVersion", kApiVersion},
               {"kind", kReview},
               {"response", InnerJson(uid, answer)}});
}

}  // namespace gpubinder
