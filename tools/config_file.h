// The binder's configuration: a YAML file, and a flag for each of its fields.
//
//   Config config;                              // the defaults
//   if (absl::Status s = ReadConfig(text, "binder.yaml", config); !s.ok()) ...
//   flags = ConfigFlags(config, &changes);       // parsed afterwards: they win
//   if (absl::Status s = ApplyChanges(changes, config); !s.ok()) ...
//
// A bad configuration is refused whole, with the field named. Durations are as
// Go writes them (1h30m, 10s, 250ms) with d for days; sizes are bytes, plain
// or with KiB, MiB, GiB or TiB.

#ifndef TOOLS_CONFIG_FILE_H_
#define TOOLS_CONFIG_FILE_H_

#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "tools/flags.h"

namespace gpubinder {

// Sets the fields that the YAML text names, and checks the whole. `config` is
// left alone by an error: kInvalidArgument with name, field, what was found
// and what is legal.
absl::Status ReadConfig(absl::string_view text, const std::string& name,
                        Config& config);

// What flags ask for: a field's name and its text, in their order.
using ConfigChanges = std::vector<std::pair<std::string, std::string>>;

// A flag for each field, by the field's own name; `namespace`, which
// subcommands have a meaning of their own for, is --binder-namespace. The
// flags check their values; `changes` outlives them. Their help says what
// `defaults` has.
std::vector<Flag> ConfigFlags(const Config& defaults, ConfigChanges* changes);

// Makes the changes and checks the whole. `config` is left alone by an error.
absl::Status ApplyChanges(const ConfigChanges& changes, Config& config);

// The configuration that a file (empty: none; "-": `in`) and flags give. Errors
// as those above, and ReadWholeFile's.
absl::StatusOr<Config> LoadConfig(const std::string& file,
                                  const ConfigChanges& changes,
                                  std::istream& in);

// The fields that differ from the defaults, as YAML that ReadConfig reads back;
// "{}" when none does. Ends with a newline.
std::string ConfigYaml(const Config& config);

// "2m", "1h30m", "1.5s", "30d", "0". kInvalidArgument for anything else, for
// a negative one and for more than 100 years.
absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text);
// "20GiB", "1000". kInvalidArgument for anything else and beyond int64.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

}  // namespace gpubinder

#endif  // TOOLS_CONFIG_FILE_H_
