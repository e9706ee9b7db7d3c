#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/effect_json.h"
#include "k8s/effect_requests.h"
#include "nlohmann/json.hpp"

namespace gpubinder {

namespace {

using Json = nlohmann::json;
using Verb = EffectRequest::Verb;
using v1::Effect;
using v1::Target;

// A JSON pointer: the key's slash is written ~1.
constexpr char kMonitorLabelPath[] =
    "/metadata/labels/workloads.cozystack.io~1monitor";

}  // namespace

EffectRequest PinPodRequest(const Effect& effect) {
  return JsonPatchRequest(effect.target(), "",
                          PinPatch(effect.target(), effect.pin_pod()));
}

// Bound to the version of the VM and to the VMI by its uid: KubeVirt drops
// requests that name another VMI, so it can be repeated. It goes by `test`, as
// KubeVirt's own restart does.
EffectRequest RestartVmRequest(const Effect& effect) {
  const Target& vm = effect.target();
  const std::string& vmi_uid = effect.restart_vm().vmi_uid();
  return JsonPatchRequest(
      vm, "status",
      Json::array(
          {{{"op", "test"},
            {"path", "/metadata/resourceVersion"},
            {"value", vm.resource_version()}},
           {{"op", "add"},
            {"path", "/status/stateChangeRequests"},
            {"value", Json::array({{{"action", "Stop"}, {"uid", vmi_uid}},
                                   {{"action", "Start"}}})}}}));
}

// The old form of Event: the server checks eventTime and its companions only
// where eventTime is set.
EffectRequest EmitWarningRequest(const Effect& effect) {
  const v1::EmitWarning& write = effect.emit_warning();
  const Target& vmi = effect.target();
  const std::string time = TimestampText(write.time_unix_seconds());
  const Json body = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", write.name()}, {"namespace", vmi.namespace_()}}},
      {"involvedObject",
       {{"apiVersion", "kubevirt.io/v1"},
        {"kind", vmi.kind()},
        {"namespace", vmi.namespace_()},
        {"name", vmi.name()},
        {"uid", vmi.uid()}}},
      {"type", "Warning"},
      {"reason", ReasonJson(write.reason())},
      {"message", write.note()},
      {"source", {{"component", "gpubinder"}}},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
  return {.verb = Verb::kCreate,
          .path = {.version = "v1",
                   .plural = "events",
                   .name_space = vmi.namespace_()},
          .body = JsonText(body)};
}

// A usage record has no status subresource.
EffectRequest WriteUsageRecordRequest(const Effect& effect) {
  const v1::WriteUsageRecord& write = effect.write_usage_record();
  const Target& record = effect.target();
  Json status = {
      {"kind", "gpu"},
      {"type", write.class_name()},
      {"resources", {{write.resource(), absl::StrCat(write.units())}}},
      {"operational", true}};
  if (!record.uid().empty()) {
    Json patch = GuardedPatch(record);
    if (write.set_owner()) {
      patch.push_back({{"op", "add"},
                       {"path", "/metadata/ownerReferences"},
                       {"value", OwnerReferences(write.owner())}});
    }
    if (write.remove_monitor_label()) {
      patch.push_back({{"op", "remove"}, {"path", kMonitorLabelPath}});
    }
    patch.push_back(
        {{"op", "add"}, {"path", "/status"}, {"value", std::move(status)}});
    return JsonPatchRequest(record, "", patch);
  }
  return CreateRequest(record,
                       {{"apiVersion", "cozystack.io/v1alpha1"},
                        {"kind", "Workload"},
                        {"metadata",
                         {{"name", record.name()},
                          {"namespace", record.namespace_()},
                          {"ownerReferences", OwnerReferences(write.owner())}}},
                        {"status", std::move(status)}});
}

EffectRequest AddFinalizerRequest(const Effect& effect) {
  const v1::AddFinalizer& write = effect.add_finalizer();
  Json patch = GuardedPatch(effect.target());
  if (write.list_absent()) {
    patch.push_back({{"op", "add"},
                     {"path", "/metadata/finalizers"},
                     {"value", Json::array({write.finalizer()})}});
  } else {
    patch.push_back({{"op", "add"},
                     {"path", "/metadata/finalizers/-"},
                     {"value", write.finalizer()}});
  }
  return JsonPatchRequest(effect.target(), "", patch);
}

EffectRequest RemoveFinalizerRequest(const Effect& effect) {
  const v1::RemoveFinalizer& write = effect.remove_finalizer();
  const std::string path = absl::StrCat("/metadata/finalizers/", write.index());
  Json patch = GuardedPatch(effect.target());
  patch.push_back(
      {{"op", "test"}, {"path", path}, {"value", write.finalizer()}});
  patch.push_back({{"op", "remove"}, {"path", path}});
  return JsonPatchRequest(effect.target(), "", patch);
}

EffectRequest WriteSettingsRequest(const Effect& effect) {
  const v1::WriteSettings& write = effect.write_settings();
  const Target& settings = effect.target();
  Json body = {{"data",
                {{"resourceNames", write.resource_names()},
                 {"rawResourceNames", write.raw_resource_names()}}}};
  if (!settings.uid().empty()) {
    for (const std::string& key : write.remove_keys()) {
      body["data"][key] = nullptr;
    }
    return MergePatch(settings, "", std::move(body));
  }
  body["apiVersion"] = "v1";
  body["kind"] = "ConfigMap";
  body["metadata"] = {{"name", settings.name()},
                      {"namespace", settings.namespace_()}};
  return CreateRequest(settings, body);
}

}  // namespace gpubinder
