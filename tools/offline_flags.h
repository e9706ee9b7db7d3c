// The flags that offline subcommands share: objects, time and configuration.

#ifndef TOOLS_OFFLINE_FLAGS_H_
#define TOOLS_OFFLINE_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "tools/config_file.h"
#include "tools/console.h"
#include "tools/flags.h"

namespace gpubinder {

// What the flags said. Made by OfflineFlags, which it outlives.
struct OfflineArgs {
  std::vector<std::string> files;  // -f
  std::string output;              // -o
  std::string name_space = "default";
  std::optional<absl::Time> now;
  std::string config_file;
  ConfigChanges config_changes;
};

// -f, --now, --config, --namespace and a flag for each field of the config.
std::vector<Flag> OfflineFlags(OfflineArgs* args);

// -o with one of `forms`, parted by '|'; the first is the default.
Flag OutputFlag(const std::string& forms, OfflineArgs* args);

// The configuration that file and flags give. Errors as ReadInput's.
absl::StatusOr<Config> OfflineConfig(const OfflineArgs& args,
                                     const Console& console);

}  // namespace gpubinder

#endif  // TOOLS_OFFLINE_FLAGS_H_
