#include <string>

#include "reconciler/model/testing/scenario_objects.h"

namespace gpubinder {

void Fill(const ScenarioServer& server, Words& words, Workload& record) {
  if (auto type = words.Take("type")) record.type = *type;
  if (auto kind = words.Take("kind")) record.kind = *kind;
  if (auto claim = words.Take("claim")) {
    const auto [space, name] = SplitName(*claim);
    const Object* owner = server.Find(Kind::kGpuClaim, space, name);
    record.meta.owners = {
        {.api_version = "gpu.cozystack.io/v1alpha1",
         .kind = "GPUClaim",
         .name = name,
         .uid = owner == nullptr ? "claim-gone" : MetaOf(*owner).uid}};
  }
  if (record.meta.uid.empty()) record.operational = true;
  if (words.TakeFlag("stopped")) record.operational = false;
  for (const auto& [name, units] : words.TakeResources()) {
    record.resources[name] = units;
  }
}

void Fill(const ScenarioServer&, Words& words, ConfigMap& map) {
  if (auto data = words.Take("data")) {
    for (const auto& [key, value] : LabelsOf(*data)) map.data[key] = value;
  }
}

}  // namespace gpubinder
