#include <string>
#include <utility>

#include "reconciler/model/testing/scenario_objects.h"

namespace gpubinder {

void ReadConfig(Words& words, Config& config) {
  if (auto on = words.Take("enabled")) config.enabled = *on == "true";
  const std::pair<const char*, absl::Duration*> durations[] = {
      {"attachmentGrace", &config.attachment_grace},
      {"rejectionTTL", &config.rejection_ttl},
      {"refusalGrace", &config.refusal_grace},
      {"capacityGrace", &config.capacity_grace},
      {"notReadyGrace", &config.not_ready_grace},
      {"nodeGoneGrace", &config.node_gone_grace}};
  if (auto on = words.Take("endRunning")) config.end_running = *on == "true";
  if (auto raw = words.Take("rawResourceNames")) {
    config.raw_resource_names_allowed = *raw == "allowed";
  }
  if (auto names = words.Take("extraResourceNames")) {
    config.extra_resource_names = SplitList(*names);
  }
  if (auto name = words.Take("namespace")) config.name_space = *name;
  const std::pair<const char*, int64_t*> numbers[] = {
      {"maxEndingsPerNode", &config.max_endings_per_node},
      {"maxEndings", &config.max_endings},
      {"massLossThreshold", &config.mass_loss_threshold}};
  for (const auto& [key, number] : numbers) {
    if (auto text = words.Take(key)) *number = NumberOf(*text);
  }
  for (const auto& [key, duration] : durations) {
    if (auto text = words.Take(key)) absl::ParseDuration(*text, duration);
  }
}

}  // namespace gpubinder
