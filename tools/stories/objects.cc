#include "tools/stories/objects.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace gpubinder {

using Json = nlohmann::json;

Json NamespaceObject(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata", {{"name", name}}}};
}

Json NodeObject(const std::string& name,
                const std::map<std::string, int64_t>& units) {
  Json amounts = {{"cpu", "64"},
                  {"memory", "256Gi"},
                  {"ephemeral-storage", "1Ti"},
                  {"pods", "110"},
                  {"devices.kubevirt.io/kvm", "1k"},
                  {"devices.kubevirt.io/tun", "1k"},
                  {"devices.kubevirt.io/vhost-net", "1k"}};
  for (const auto& [resource, count] : units) {
    amounts[resource] = absl::StrCat(count);
  }
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name},
            {"labels",
             {{"kubernetes.io/arch", "amd64"},
              {"kubernetes.io/hostname", name},
              {"kubevirt.io/schedulable", "true"},
              {"machine-type.node.kubevirt.io/q35", "true"}}}}},
          {"status",
           {{"allocatable", amounts},
            {"conditions",
             Json::array({{{"type", "Ready"}, {"status", "True"}}})}}}};
}

Json ClassObject(const std::string& name, const std::string& resource) {
  return {{"apiVersion", "gpu.cozystack.io/v1alpha1"},
          {"kind", "GPUClass"},
          {"metadata", {{"name", name}}},
          {"spec", {{"resourceName", resource}}}};
}

Json ClaimObject(const std::string& name, const std::string& class_name,
                 int64_t units) {
  return {{"apiVersion", "gpu.cozystack.io/v1alpha1"},
          {"kind", "GPUClaim"},
          {"metadata", {{"name", name}, {"namespace", kTenant}}},
          {"spec", {{"className", class_name}, {"count", units}}}};
}

Json MachineObject(const std::string& name, const std::string& strategy,
                   const std::string& claims) {
  return {{"apiVersion", "kubevirt.io/v1"},
          {"kind", "VirtualMachine"},
          {"metadata", {{"name", name}, {"namespace", kTenant}}},
          {"spec",
           {{"runStrategy", strategy},
            {"template",
             {{"metadata",
               {{"annotations", {{"gpu.cozystack.io/claims", claims}}}}},
              {"spec", {{"domain", {{"devices", Json::object()}}}}}}}}}};
}

std::string Held(const std::string& claim) {
  return Json::array({{{"claimName", claim}}}).dump();
}

std::string FromTemplate(const std::string& class_name, int64_t units) {
  return Json::array({{{"claimTemplate",
                        {{"className", class_name}, {"count", units}}}}})
      .dump();
}

}  // namespace gpubinder
