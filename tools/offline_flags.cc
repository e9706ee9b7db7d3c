#include "tools/offline_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gpubinder {
namespace {

absl::Status ParseNow(absl::string_view text, OfflineArgs* args) {
  absl::Time time;
  std::string ignored;
  if (text.size() < 20 || text[10] != 'T' ||
      !absl::ParseTime(absl::RFC3339_full, text, &time, &ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found \"", text.substr(0, 64),
                     "\", want a time as in 2026-01-31T12:00:00Z"));
  }
  args->now = time;
  return absl::OkStatus();
}

}  // namespace

std::vector<Flag> OfflineFlags(OfflineArgs* args) {
  std::vector<Flag> flags = {
      {.name = "file",
       .letter = 'f',
       .value = "FILE",
       .help = "objects as YAML or JSON, or a folder, or - for stdin; may be "
               "given again",
       .set = IntoList(&args->files)},
      {.name = "now",
       .value = "TIME",
       .help = "the time of the passes, RFC 3339 (default: now)",
       .set = [args](absl::string_view text) { return ParseNow(text, args); }},
      {.name = "namespace",
       .letter = 'n',
       .value = "NAME",
       .help = "of objects that say none (default \"default\")",
       .set =
           [args](absl::string_view text) {
             if (text.empty()) {
               return absl::InvalidArgumentError(
                   "found nothing, want the name of a namespace");
             }
             args->name_space = std::string(text);
             return absl::OkStatus();
           }},
      {.name = "config",
       .value = "FILE",
       .help = "the binder's configuration; a flag wins over the file",
       .set = IntoText(&args->config_file)}};
  std::vector<Flag> config = ConfigFlags(Config(), &args->config_changes);
  std::move(config.begin(), config.end(), std::back_inserter(flags));
  return flags;
}

Flag OutputFlag(const std::string& forms, OfflineArgs* args) {
  args->output = forms.substr(0, forms.find('|'));
  return {
      .name = "output",
      .letter = 'o',
      .value = forms,
      .help = absl::StrCat("form of the answer (default ", args->output, ")"),
      .set = [forms, args](absl::string_view text) {
        const std::vector<std::string> legal = absl::StrSplit(forms, '|');
        if (std::find(legal.begin(), legal.end(), text) == legal.end()) {
          return absl::InvalidArgumentError(
              absl::StrCat("found \"", text.substr(0, 64), "\", want ", forms));
        }
        args->output = std::string(text);
        return absl::OkStatus();
      }};
}

absl::StatusOr<Config> OfflineConfig(const OfflineArgs& args,
                                     const Console& console) {
  return LoadConfig(args.config_file, args.config_changes, console.in);
}

}  // namespace gpubinder
