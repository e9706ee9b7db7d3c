#include "k8s/object_filter.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "k8s/json_value.h"
#include "reconciler/model/config.h"

namespace gpubinder {

namespace {

constexpr char kManagedFields[] = "metadata>managedFields";
constexpr char kLastApplied[] =
    "metadata>annotations>kubectl.kubernetes.io/last-applied-configuration";

const PathTree& CommonRemovals() {
  static const PathTree* const tree =
      new PathTree{kManagedFields, kLastApplied};
  return *tree;
}

const PathTree& VirtualMachineRemovals() {
  static const PathTree* const tree =
      new PathTree{kManagedFields,
                   kLastApplied,
                   "spec>template>metadata>managedFields",
                   "spec>template>metadata>annotations>"
                   "kubectl.kubernetes.io/last-applied-configuration",
                   "spec>template>spec>volumes>cloudInitNoCloud",
                   "spec>template>spec>volumes>cloudInitConfigDrive",
                   "spec>template>spec>volumes>sysprep",
                   "spec>template>spec>accessCredentials",
                   "spec>dataVolumeTemplates>metadata>managedFields",
                   "spec>dataVolumeTemplates>metadata>annotations>"
                   "kubectl.kubernetes.io/last-applied-configuration",
                   "spec>dataVolumeTemplates>spec>source>http>extraHeaders"};
  return *tree;
}

const PathTree& InstanceRemovals() {
  static const PathTree* const tree =
      new PathTree{kManagedFields,
                   kLastApplied,
                   "spec>volumes>cloudInitNoCloud",
                   "spec>volumes>cloudInitConfigDrive",
                   "spec>volumes>sysprep",
                   "spec>accessCredentials"};
  return *tree;
}

const PathTree& PodRemovals() {
  static const PathTree* const tree = new PathTree{
      kManagedFields, kLastApplied, "spec>containers>env>value",
      "spec>containers>command", "spec>containers>args",
      "spec>containers>lifecycle", "spec>containers>livenessProbe",
      "spec>containers>readinessProbe", "spec>containers>startupProbe",
      "spec>initContainers>env>value", "spec>initContainers>command",
      "spec>initContainers>args", "spec>initContainers>lifecycle",
      "spec>initContainers>livenessProbe", "spec>initContainers>readinessProbe",
      "spec>initContainers>startupProbe",
      // Debug containers: nothing of them is read.
      "spec>ephemeralContainers"};
  return *tree;
}

const PathTree& RemovalsOf(Kind kind) {
  switch (kind) {
    case Kind::kVirtualMachine:
      return VirtualMachineRemovals();
    case Kind::kVirtualMachineInstance:
      return InstanceRemovals();
    case Kind::kPod:
      return PodRemovals();
    default:
      return CommonRemovals();
  }
}

// Kubernetes' rule for names of extended resources, less KubeVirt's own
// devices, which every launcher asks for and no class serves.
bool IsOfConcern(absl::string_view resource) {
  return absl::StrContains(resource, "/") &&
         !absl::StrContains(resource, "kubernetes.io/") &&
         !absl::StartsWith(resource, "requests.") &&
         !absl::StartsWith(resource, "devices.kubevirt.io/");
}

bool AsksForDevices(JsonValue resource_list) {
  bool asks = false;
  resource_list.ForEachField([&](absl::string_view resource, JsonValue) {
    asks = asks || IsOfConcern(resource);
  });
  return asks;
}

bool IsPodOfConcern(JsonValue pod) {
  const JsonValue label =
      pod.Field("metadata").Field("labels").Field("kubevirt.io");
  if (label.type() == JsonValue::Type::kText &&
      label.text() == "virt-launcher") {
    return true;
  }
  const JsonValue spec = pod.Field("spec");
  bool asks = AsksForDevices(spec.Field("overhead"));
  for (absl::string_view list : {"containers", "initContainers"}) {
    spec.Field(list).ForEachItem([&](JsonValue container) {
      const JsonValue resources = container.Field("resources");
      asks = asks || AsksForDevices(resources.Field("requests")) ||
             AsksForDevices(resources.Field("limits"));
    });
  }
  return asks;
}

bool IsOfConcern(Kind kind, JsonValue object) {
  const JsonValue name = object.Field("metadata").Field("name");
  const absl::string_view text =
      name.type() == JsonValue::Type::kText ? name.text() : absl::string_view();
  switch (kind) {
    case Kind::kPod:
      return IsPodOfConcern(object);
    case Kind::kWorkload:  // those of Cozystack itself are many
      return absl::StartsWith(text, kUsageRecordPrefix);
    case Kind::kConfigMap:
      return text == kSettingsName;
    default:
      return true;
  }
}

}  // namespace

std::optional<std::string> FilterForJournal(Kind kind, absl::string_view json) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(json);
  if (!document.ok() || document->root().type() != JsonValue::Type::kObject) {
    return std::nullopt;
  }
  if (!IsOfConcern(kind, document->root())) return std::nullopt;
  return WriteJson(document->root(), RemovalsOf(kind));
}

}  // namespace gpubinder
