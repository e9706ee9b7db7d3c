#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "reconciler/model/testing/scenario_objects.h"

namespace gpubinder {

void SetCondition(Condition wanted, std::vector<Condition>& conditions) {
  auto there = std::find_if(
      conditions.begin(), conditions.end(),
      [&](const Condition& old) { return old.type == wanted.type; });
  if (there == conditions.end()) {
    conditions.push_back(std::move(wanted));
  } else {
    *there = std::move(wanted);
  }
}

// TYPE/STATUS[/REASON[/MESSAGE]], or TYPE to take it off.
void TakeCondition(Words& words, int64_t generation,
                   std::vector<Condition>& conditions) {
  const auto text = words.Take("condition");
  if (!text.has_value()) return;
  std::vector<std::string> parts = absl::StrSplit(*text, '/');
  if (parts.size() == 1) {
    std::erase_if(conditions, [&](const Condition& condition) {
      return condition.type == parts[0];
    });
    return;
  }
  parts.resize(4);
  SetCondition({.type = parts[0],
                .status = parts[1],
                .reason = parts[2],
                .message = parts[3],
                .observed_generation = generation},
               conditions);
}

void Fill(const ScenarioServer&, Words& words, Namespace& space) {
  space.terminating = words.TakeFlag("terminating") || space.terminating;
}

void Fill(const ScenarioServer&, Words& words, ResourceQuota& quota) {
  if (auto hard = words.Take("hard")) quota.hard = LabelsOf(*hard);
}

void Fill(const ScenarioServer&, Words& words, PersistentVolumeClaim& claim) {
  if (auto volume = words.Take("volume")) {
    claim.volume_name = *volume;
    claim.bind_completed = true;
  }
}

void Fill(const ScenarioServer&, Words& words, PersistentVolume& volume) {
  if (auto terms = words.Take("terms")) volume.required = TermsOf(*terms);
  if (auto claim = words.Take("claim")) {
    std::tie(volume.claim_namespace, volume.claim_name) = SplitName(*claim);
  }
}

void Fill(const ScenarioServer&, Words& words, SchedulingClass& found) {
  if (auto selector = words.Take("selector")) {
    found.node_selector = LabelsOf(*selector);
  }
  if (auto terms = words.Take("terms")) found.required = TermsOf(*terms);
}

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
  if (auto owner = words.Take("owner")) {
    record.meta.owners = {{.kind = *owner, .name = "foreign", .uid = "other"}};
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
