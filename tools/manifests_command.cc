#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "k8s/manifests/crd_manifests.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace gpubinder {

int RunManifests(Args args, const Console& console) {
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, {});
  if (!parsed.ok()) return Fail("manifests", parsed.status(), console);
  if (parsed->help) {
    console.out << "usage: gpubinder manifests\n\n"
                   "Prints the CustomResourceDefinitions, as YAML for kubectl "
                   "apply -f -\n";
    return kExitDone;
  }
  if (!parsed->operands.empty()) {
    return Fail("manifests",
                absl::InvalidArgumentError(absl::StrCat(
                    "takes no argument, found \"", parsed->operands[0], "\"")),
                console);
  }
  for (const absl::string_view manifest : CrdManifests()) {
    console.out << "---\n" << manifest;
    if (!absl::EndsWith(manifest, "\n")) console.out << "\n";
  }
  return kExitDone;
}

}  // namespace gpubinder
