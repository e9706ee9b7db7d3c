#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/manifests/install_manifests.h"
#include "tools/commands.h"
#include "tools/config_file.h"
#include "tools/flags.h"
#include "tools/text_files.h"
#include "tools/version.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder manifests [PART...] [--config FILE] [flags]\n\n"
    "Prints what a cluster needs, as YAML for kubectl apply -f -: all of it, "
    "or the PARTs named\nof\n\n"
    "  crds        GPUClass, GPUClaim, GPUClaimSet\n"
    "  rbac        the binder's account and rights, and what tenants may do\n"
    "  policies    what tenants may not write\n"
    "  webhooks    the admission webhooks and their certificate\n"
    "  deployment  the StatefulSet, its configuration, and what guards it\n\n"
    "The binder's namespace has to be there. Its configuration goes into a "
    "ConfigMap, and the\nnames in it into the rest.\n\nflags:\n";

struct ManifestFlags {
  std::string config_file;
  std::string image = absl::StrCat("gpubinder:", kGpubinderVersion);
  bool self_signed = false;
  ConfigChanges changes;
};

absl::Status TakeImage(absl::string_view text, std::string* image) {
  const bool is_word =
      !text.empty() && absl::ascii_isalnum(text[0]) &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return absl::ascii_isalnum(c) ||
               absl::string_view("._-/:@").find(c) != absl::string_view::npos;
      });
  if (!is_word) {
    return absl::InvalidArgumentError(
        absl::StrCat("found \"", text, "\", want the name of an image"));
  }
  *image = std::string(text);
  return absl::OkStatus();
}

std::vector<Flag> FlagsOf(ManifestFlags& flags) {
  std::vector<Flag> all = {
      {.name = "config",
       .value = "FILE",
       .help = "the binder's configuration, YAML; each of its fields is also "
               "a flag below, which wins",
       .set = IntoText(&flags.config_file)},
      {.name = "image",
       .value = "NAME",
       .help = absl::StrCat("of the container (default ", flags.image, ")"),
       .set =
           [&flags](absl::string_view text) {
             return TakeImage(text, &flags.image);
           }},
      {.name = "self-signed",
       .help = "without cert-manager. The binder does not make its own "
               "certificates yet: until it does, whoever installs it makes "
               "Secret gpubinder-webhook (tls.crt, tls.key) and sets caBundle",
       .set = IntoSwitch(&flags.self_signed)}};
  for (Flag& flag : ConfigFlags(Config(), &flags.changes)) {
    all.push_back(std::move(flag));
  }
  return all;
}

// The parts named, or all; kInvalidArgument for one that there is not.
absl::StatusOr<std::vector<std::string>> PartsOf(
    const std::vector<std::string>& operands) {
  const absl::Span<const absl::string_view> known = ManifestParts();
  for (const std::string& operand : operands) {
    if (std::find(known.begin(), known.end(), operand) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "found the part \"", operand, "\", want ", absl::StrJoin(known, ", ")));
  }
  if (!operands.empty()) return operands;
  return std::vector<std::string>(known.begin(), known.end());
}

absl::StatusOr<ManifestOptions> OptionsOf(const ManifestFlags& flags,
                                          const Console& console) {
  const absl::StatusOr<Config> config =
      LoadConfig(flags.config_file, flags.changes, console.in);
  if (!config.ok()) return config.status();
  return ManifestOptions{
      .name_space = config->name_space,
      .tenant_prefix = config->tenant_prefix,
      .kubevirt_controller_user = config->kubevirt_controller_user,
      .image = flags.image,
      .config_yaml = ConfigYaml(*config),
      .self_signed = flags.self_signed};
}

}  // namespace

int RunManifests(Args args, const Console& console) {
  ManifestFlags flags;
  const std::vector<Flag> table = FlagsOf(flags);
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, table);
  if (!parsed.ok()) return Fail("manifests", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(table);
    return kExitDone;
  }
  const absl::StatusOr<std::vector<std::string>> parts =
      PartsOf(parsed->operands);
  if (!parts.ok()) return Fail("manifests", parts.status(), console);
  const absl::StatusOr<ManifestOptions> options = OptionsOf(flags, console);
  if (!options.ok()) return Fail("manifests", options.status(), console);
  console.out << InstallManifests(*parts, *options);
  return kExitDone;
}

}  // namespace gpubinder
