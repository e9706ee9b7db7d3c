#include "k8s/embedded/launcher_pod.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/quantity_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int64_t kOverheadMi = 288;
constexpr int64_t kDeviceOverheadMi = 1024;  // VFIO maps the guest's memory
constexpr int64_t kGracePadding = 30;
constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

Json LabelsOf(const Json& vmi) {
  Json labels = At(vmi, {"metadata", "labels"});
  if (!labels.is_object()) labels = Json::object();
  const std::string name = TextAt(vmi, {"metadata", "name"});
  labels["kubevirt.io"] = "virt-launcher";
  labels["kubevirt.io/created-by"] = TextAt(vmi, {"metadata", "uid"});
  labels["vm.kubevirt.io/name"] = name.substr(0, 63);
  labels["vmi.kubevirt.io/id"] = name.substr(0, 63);
  return labels;
}

Json AnnotationsOf(const Json& vmi) {
  Json out = {{"kubevirt.io/domain", TextAt(vmi, {"metadata", "name"})},
              {"kubevirt.io/migrationTransportUnix", "true"},
              {"kubectl.kubernetes.io/default-container", "compute"},
              {"descheduler.alpha.kubernetes.io/request-evict-only", ""}};
  const Json& own = At(vmi, {"metadata", "annotations"});
  if (!own.is_object()) return out;
  for (const auto& [key, value] : own.items()) {
    if (absl::StartsWith(key, "kubectl.kubernetes.io") ||
        key == "kubevirt.io/latest-observed-api-version" ||
        key == "kubevirt.io/storage-observed-api-version") {
      continue;
    }
    out[key] = value;
  }
  return out;
}

Json NodeSelectorOf(const Json& spec) {
  Json selector = {{"kubernetes.io/arch", "amd64"},
                   {"kubevirt.io/schedulable", "true"},
                   {"machine-type.node.kubevirt.io/q35", "true"}};
  const Json& own = Member(spec, "nodeSelector");
  if (own.is_object()) selector.update(own);
  const std::string model = TextAt(spec, {"domain", "cpu", "model"});
  if (!model.empty() && model != "host-model" && model != "host-passthrough") {
    selector["cpu-model.node.kubevirt.io/" + model] = "true";
  }
  return selector;
}

// KubeVirt appends its expression to every required term unless the CPU model
// is named or passed through; an empty user term does not stay empty then.
Json AffinityOf(const Json& spec) {
  Json affinity = Member(spec, "affinity");
  const std::string model = TextAt(spec, {"domain", "cpu", "model"});
  if (!model.empty() && model != "host-model") return affinity;
  const Json obsolete = {
      {"key", "node-labeller.kubevirt.io/obsolete-host-model"},
      {"operator", "DoesNotExist"}};
  Json& terms = ObjectAt(ObjectAt(affinity, "nodeAffinity"),
                         kRequired)["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) {
    terms = Json::array({Json::object()});
  }
  for (Json& term : terms) {
    if (!term.is_object()) term = Json::object();
    Json& expressions = term["matchExpressions"];
    if (!expressions.is_array()) expressions = Json::array();
    expressions.push_back(obsolete);
  }
  return affinity;
}

std::map<std::string, int64_t> DevicesOf(const Json& spec) {
  std::map<std::string, int64_t> units;
  for (const char* list : {"gpus", "hostDevices"}) {
    for (const Json& one : At(spec, {"domain", "devices", list})) {
      const std::string device = TextAt(one, {"deviceName"});
      if (!device.empty() && Member(one, "claimName").is_null()) {
        ++units[device];
      }
    }
  }
  return units;
}

int64_t GuestMi(const Json& spec) {
  std::string text = TextAt(spec, {"domain", "memory", "guest"});
  if (text.empty()) {
    text = TextAt(spec, {"domain", "resources", "requests", "memory"});
  }
  const absl::int128 bytes = MilliOf(text).value_or(0) / 1000;
  const auto mi = static_cast<int64_t>(bytes / (1024 * 1024));
  return mi > 0 ? mi : 1024;
}

int64_t CpusOf(const Json& spec) {
  int64_t cpus = 1;
  for (const char* field : {"cores", "sockets", "threads"}) {
    cpus *= std::max<int64_t>(NumberAt(spec, {"domain", "cpu", field}, 1), 1);
  }
  return cpus;
}

Json ResourcesOf(const Json& spec) {
  const std::map<std::string, int64_t> devices = DevicesOf(spec);
  const int64_t memory =
      GuestMi(spec) + kOverheadMi + (devices.empty() ? 0 : kDeviceOverheadMi);
  Json requests = {{"cpu", absl::StrCat(100 * CpusOf(spec), "m")},
                   {"memory", absl::StrCat(memory, "Mi")},
                   {"ephemeral-storage", "50M"}};
  Json limits = Json::object();
  const auto set = [&](const std::string& name, const std::string& amount) {
    requests[name] = amount;
    limits[name] = amount;
  };
  for (const char* device : {"kvm", "tun", "vhost-net"}) {
    set(absl::StrCat("devices.kubevirt.io/", device), "1");
  }
  for (const auto& [name, units] : devices) set(name, absl::StrCat(units));
  // A value that the user gave for the same resource wins.
  for (auto& [list, target] :
       {std::pair<const char*, Json*>{"requests", &requests},
        {"limits", &limits}}) {
    const Json& own = At(spec, {"domain", "resources", list});
    if (!own.is_object()) continue;
    for (const auto& [name, amount] : own.items()) {
      if (name != "cpu" && name != "memory") (*target)[name] = amount;
    }
  }
  return {{"requests", std::move(requests)}, {"limits", std::move(limits)}};
}

Json VolumesOf(const Json& spec) {
  Json volumes = Json::array();
  for (const Json& volume : Member(spec, "volumes")) {
    std::string claim = TextAt(volume, {"persistentVolumeClaim", "claimName"});
    if (claim.empty()) claim = TextAt(volume, {"dataVolume", "name"});
    if (claim.empty()) continue;
    volumes.push_back({{"name", TextAt(volume, {"name"})},
                       {"persistentVolumeClaim", {{"claimName", claim}}}});
  }
  return volumes;
}

Json SpecOf(const Json& vmi) {
  const Json& spec = Member(vmi, "spec");
  Json pod = {
      {"restartPolicy", "Never"},
      {"terminationGracePeriodSeconds",
       NumberAt(spec, {"terminationGracePeriodSeconds"}, 5) + kGracePadding},
      {"nodeSelector", NodeSelectorOf(spec)},
      {"readinessGates",
       Json::array(
           {{{"conditionType", "kubevirt.io/virtual-machine-unpaused"}}})},
      {"containers", Json::array({{{"name", "compute"},
                                   {"image", "virt-launcher"},
                                   {"resources", ResourcesOf(spec)}}})},
      {"initContainers", Json::array({{{"name", "guest-console-log"},
                                       {"image", "virt-launcher"},
                                       {"restartPolicy", "Always"}}})}};
  Json affinity = AffinityOf(spec);
  if (affinity.is_object() && !affinity.empty()) {
    pod["affinity"] = std::move(affinity);
  }
  if (Member(spec, "tolerations").is_array()) {
    pod["tolerations"] = spec["tolerations"];
  }
  Json volumes = VolumesOf(spec);
  if (!volumes.empty()) pod["volumes"] = std::move(volumes);
  for (const char* field : {"schedulerName", "priorityClassName"}) {
    const std::string value = TextAt(spec, {field});
    if (!value.empty()) pod[field] = value;
  }
  return pod;
}

}  // namespace

Json LauncherPodFor(const Json& vmi) {
  const Json owner = {{"apiVersion", "kubevirt.io/v1"},
                      {"kind", "VirtualMachineInstance"},
                      {"name", TextAt(vmi, {"metadata", "name"})},
                      {"uid", TextAt(vmi, {"metadata", "uid"})},
                      {"controller", true},
                      {"blockOwnerDeletion", true}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"generateName", absl::StrCat("virt-launcher-",
                                      TextAt(vmi, {"metadata", "name"}), "-")},
        {"labels", LabelsOf(vmi)},
        {"annotations", AnnotationsOf(vmi)},
        {"ownerReferences", Json::array({owner})}}},
      {"spec", SpecOf(vmi)}};
}

}  // namespace gpubinder::embedded
