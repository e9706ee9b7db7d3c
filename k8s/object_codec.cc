#include "k8s/object_codec.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "k8s/field_reader.h"
#include "k8s/json_value.h"
#include "k8s/kinds.h"
#include "k8s/object_decoders.h"
#include "proto/check.h"
#include "reconciler/model/config.h"

namespace gpubinder {

namespace {

template <typename T>
Object DecodeAs(JsonValue json) {
  // In its place from the start: moving one costs as much as some fields.
  Object object(std::in_place_type<T>);
  T& fields = std::get<T>(object);
  const FieldReader root(json, &fields.meta.problems);
  ReadMeta(root, &fields.meta);
  ReadFields(root, &fields);
  return object;
}

Object DecodeValue(Kind kind, JsonValue json) {
  switch (kind) {
    case Kind::kNode:
      return DecodeAs<Node>(json);
    case Kind::kGpuClass:
      return DecodeAs<GpuClass>(json);
    case Kind::kGpuClaim:
      return DecodeAs<GpuClaim>(json);
    case Kind::kGpuClaimSet:
      return DecodeAs<GpuClaimSet>(json);
    case Kind::kVirtualMachine:
      return DecodeAs<VirtualMachine>(json);
    case Kind::kVirtualMachineInstance:
      return DecodeAs<VirtualMachineInstance>(json);
    case Kind::kPod:
      return DecodeAs<Pod>(json);
    case Kind::kNamespace:
      return DecodeAs<Namespace>(json);
    case Kind::kResourceQuota:
      return DecodeAs<ResourceQuota>(json);
    case Kind::kPersistentVolumeClaim:
      return DecodeAs<PersistentVolumeClaim>(json);
    case Kind::kPersistentVolume:
      return DecodeAs<PersistentVolume>(json);
    case Kind::kSchedulingClass:
      return DecodeAs<SchedulingClass>(json);
    case Kind::kWorkload:
      return DecodeAs<Workload>(json);
    case Kind::kConfigMap:
      return DecodeAs<ConfigMap>(json);
  }
  CheckFailed("a kind of the enum", __FILE__, __LINE__);
}

absl::StatusOr<JsonDocument> ParseObject(absl::string_view json) {
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(json);
  if (document.ok() && document->root().type() != JsonValue::Type::kObject) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", DescribeValue(document->root()), ", want a JSON object"));
  }
  return document;
}

absl::string_view GroupOf(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == absl::string_view::npos ? absl::string_view()
                                          : api_version.substr(0, slash);
}

std::optional<Kind> KindInGroup(absl::string_view kind,
                                absl::string_view group) {
  const std::optional<Kind> found = KindByName(kind);
  if (!found.has_value() || PlaceOf(*found).group != group) return std::nullopt;
  return found;
}

absl::string_view TextOf(JsonValue value) {
  return value.type() == JsonValue::Type::kText ? value.text()
                                                : absl::string_view();
}

}  // namespace

Object DecodeObject(Kind kind, JsonValue json) {
  BINDER_CHECK(json.type() == JsonValue::Type::kObject);
  return DecodeValue(kind, json);
}

absl::StatusOr<Object> DecodeObject(Kind kind, absl::string_view json) {
  absl::StatusOr<JsonDocument> document = ParseObject(json);
  if (!document.ok()) return document.status();
  return DecodeValue(kind, document->root());
}

absl::StatusOr<AnyObject> DecodeAnyObject(absl::string_view json) {
  absl::StatusOr<JsonDocument> document = ParseObject(json);
  if (!document.ok()) return document.status();
  const JsonValue root = document->root();
  const JsonValue metadata = root.Field("metadata");
  AnyObject any;
  any.api_version = std::string(TextOf(root.Field("apiVersion")));
  any.kind = std::string(TextOf(root.Field("kind")));
  any.name_space = std::string(TextOf(metadata.Field("namespace")));
  any.name = std::string(TextOf(metadata.Field("name")));
  for (absl::string_view field : {"apiVersion", "kind"}) {
    if (!TextOf(root.Field(field)).empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("object \"", any.name, "\" has no ", field, ": found ",
                     DescribeValue(root.Field(field)), ", want a text"));
  }
  const std::optional<Kind> kind =
      KindInGroup(any.kind, GroupOf(any.api_version));
  const bool of_others = kind == Kind::kConfigMap && any.name != kSettingsName;
  if (kind.has_value() && !of_others) any.object = DecodeValue(*kind, root);
  if (any.kind == "CustomResourceDefinition" &&
      GroupOf(any.api_version) == "apiextensions.k8s.io") {
    const JsonValue spec = root.Field("spec");
    any.defines = KindInGroup(TextOf(spec.Field("names").Field("kind")),
                              TextOf(spec.Field("group")));
  }
  return any;
}

}  // namespace gpubinder
