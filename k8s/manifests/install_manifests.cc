#include "k8s/manifests/install_manifests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "k8s/manifests/crd_manifests.h"

namespace gpubinder {
namespace {

constexpr absl::string_view kParts[] = {"crds", "rbac", "policies", "webhooks",
                                        "deployment"};

struct File {
  absl::string_view name;
  absl::string_view yaml;
};

constexpr File kFiles[] = {
#include "k8s/manifests/install_data.inc"
};

constexpr absl::string_view kCertificates = "certificates.yaml";

// The part that a file of install/ belongs to.
absl::string_view PartOf(absl::string_view file) {
  if (absl::EndsWith(file, "_policies.yaml")) return "policies";
  if (file == "webhooks.yaml" || file == kCertificates) return "webhooks";
  if (file == "deployment.yaml") return "deployment";
  return "rbac";
}

// The text inside quotes of CEL.
std::string CelText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}});
}

// The lines of a block scalar, four columns in.
std::string Indented(absl::string_view text) {
  std::string out;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&out, "    ", line, "\n");
  }
  return out;
}

// The files have the default values; each of these stands there as a whole.
std::string WithOptions(absl::string_view yaml,
                        const ManifestOptions& options) {
  const ManifestOptions standard;
  std::vector<std::pair<std::string, std::string>> changes = {
      {standard.name_space, options.name_space},
      {absl::StrCat("'", standard.tenant_prefix, "'"),
       absl::StrCat("'", options.tenant_prefix, "'")},
      {absl::StrCat("'", standard.kubevirt_controller_user, "'"),
       absl::StrCat("'", CelText(options.kubevirt_controller_user), "'")},
      {absl::StrCat("image: ", standard.image),
       absl::StrCat("image: ", options.image)},
      {absl::StrCat("config.yaml: |\n", Indented(standard.config_yaml)),
       absl::StrCat("config.yaml: |\n", Indented(options.config_yaml))}};
  if (options.self_signed) {
    changes.emplace_back(
        "  annotations:\n    cert-manager.io/inject-ca-from: "
        "cozy-system/gpubinder-webhook\n",
        "");
  }
  return absl::StrReplaceAll(yaml, changes);
}

void Append(absl::string_view yaml, std::string& out) {
  absl::StrAppend(&out, "---\n", yaml);
  if (!absl::EndsWith(yaml, "\n")) out += "\n";
}

}  // namespace

absl::Span<const absl::string_view> ManifestParts() { return kParts; }

std::string InstallManifests(const std::vector<std::string>& parts,
                             const ManifestOptions& options) {
  std::string out;
  for (const absl::string_view part : kParts) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) continue;
    if (part == "crds") {
      for (const absl::string_view crd : CrdManifests()) Append(crd, out);
    }
    for (const File& file : kFiles) {
      if (PartOf(file.name) != part) continue;
      if (options.self_signed && file.name == kCertificates) continue;
      Append(WithOptions(file.yaml, options), out);
    }
  }
  return out;
}

}  // namespace gpubinder
