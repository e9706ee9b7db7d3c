// The fields of the binder's configuration as text: one table for the file
// and for the flags. Inside config_file only.

#ifndef TOOLS_CONFIG_FIELDS_H_
#define TOOLS_CONFIG_FIELDS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/config.h"

namespace gpubinder {

enum class ConfigType {
  kSwitch,
  kWhole,
  kText,
  kChoice,
  kDuration,
  kBytes,
  kList
};

struct ConfigField {
  std::string name, help;
  ConfigType type = ConfigType::kText;
  // Of a list: called for each item, after `clear`.
  std::function<absl::Status(absl::string_view text, Config& config)> set;
  std::function<void(Config& config)> clear;
  // Its value in a configuration, as a file would say it.
  std::function<std::string(const Config& config)> text;
};

// In the order of the documentation.
const std::vector<ConfigField>& ConfigFields();

// What no field alone can say: which values go together.
absl::Status CheckConfig(const Config& config);

}  // namespace gpubinder

#endif  // TOOLS_CONFIG_FIELDS_H_
