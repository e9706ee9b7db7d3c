#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "k8s/object_codec.h"
#include "k8s/object_decoders.h"
#include "reconciler/model/config.h"

namespace gpubinder {

namespace {

// The claims that a VMI spec's volumes name: a DataVolume and its claim share
// a name. `hotplug` gets those that a pod of their own attaches later.
struct VolumeClaims {
  std::vector<std::string>* all;
  std::vector<std::string>* hotplug;  // or null
};

void AddVolumeClaim(const FieldReader& source, absl::string_view name_field,
                    const VolumeClaims& out) {
  std::string claim;
  bool hotpluggable = false;
  source.Read(name_field, &claim);
  source.Read("hotpluggable", &hotpluggable);
  if (claim.empty()) return;
  if (hotpluggable && out.hotplug != nullptr) out.hotplug->push_back(claim);
  out.all->push_back(std::move(claim));
}

void ReadVolumes(const FieldReader& vmi_spec, const VolumeClaims& out) {
  vmi_spec.ForEach("volumes", [&](const FieldReader& item) {
    AddVolumeClaim(item.Object("persistentVolumeClaim"), "claimName", out);
    AddVolumeClaim(item.Object("dataVolume"), "name", out);
    AddVolumeClaim(item.Object("memoryDump"), "claimName", out);
    const FieldReader ephemeral = item.Object("ephemeral");
    AddVolumeClaim(ephemeral.Object("persistentVolumeClaim"), "claimName", out);
  });
}

void ReadDevices(const FieldReader& devices, absl::string_view name,
                 std::vector<VirtualMachineInstance::Device>* out) {
  devices.ReadEach(
      name, out,
      [&](const FieldReader& item, VirtualMachineInstance::Device& device) {
        item.Read("name", &device.name);
        item.Read("deviceName", &device.device_name);
      });
}

void ReadClaims(const FieldReader& metadata, ClaimsAnnotation* out) {
  const FieldReader annotations = metadata.Object("annotations");
  std::optional<std::string> text;
  annotations.Read(kClaimsKey, &text);
  if (text.has_value()) *out = ParseClaimsAnnotation(*text);
}

}  // namespace

void ReadFields(const FieldReader& root, VirtualMachine* vm) {
  const FieldReader spec = root.Object("spec");
  bool running = false;
  spec.Read("running", &running);
  if (running) vm->run_strategy = "Always";
  if (!running && spec.Has("running")) vm->run_strategy = "Halted";
  // KubeVirt refuses both; should both be there, this is the newer word.
  spec.Read("runStrategy", &vm->run_strategy);

  const FieldReader vmi_template = spec.Object("template");
  const FieldReader metadata = vmi_template.Object("metadata");
  ReadClaims(metadata, &vm->claims);
  const FieldReader vmi_spec = vmi_template.Object("spec");
  ReadVolumes(vmi_spec, {.all = &vm->volume_claims, .hotplug = nullptr});

  const FieldReader status = root.Object("status");
  status.ForEach("stateChangeRequests", [&](const FieldReader& item) {
    std::string action, uid;
    item.Read("action", &action);
    item.Read("uid", &uid);
    vm->state_changes.emplace_back(std::move(action), std::move(uid));
  });
}

void ReadFields(const FieldReader& root, VirtualMachineInstance* vmi) {
  // ReadMeta has reported what is of a wrong type here.
  const auto claims = vmi->meta.annotations.find(kClaimsKey);
  if (claims != vmi->meta.annotations.end()) {
    vmi->claims = ParseClaimsAnnotation(claims->second);
  }
  const FieldReader spec = root.Object("spec");
  ReadVolumes(spec,
              {.all = &vmi->volume_claims, .hotplug = &vmi->hotplug_claims});
  const FieldReader domain = spec.Object("domain");
  const FieldReader devices = domain.Object("devices");
  ReadDevices(devices, "gpus", &vmi->gpus);
  ReadDevices(devices, "hostDevices", &vmi->host_devices);
  const FieldReader resources = domain.Object("resources");
  resources.ReadQuantities("requests", &vmi->resource_requests);
  resources.ReadQuantities("limits", &vmi->resource_limits);

  const FieldReader status = root.Object("status");
  status.Read("phase", &vmi->phase);
  status.Read("nodeName", &vmi->node_name);
  status.Read("activePods", &vmi->active_pods);
  ReadConditions(status, &vmi->conditions);
}

}  // namespace gpubinder
