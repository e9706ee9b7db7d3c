#include "reconciler/model/fingerprint.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "reconciler/model/object_parts.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/sha256.h"
#include "reconciler/model/taint.h"

namespace gpubinder {
namespace {

constexpr int kDigits = 16;

int64_t WholeUnits(const Node& node, const std::string& resource) {
  const auto entry = node.allocatable.find(resource);
  return entry == node.allocatable.end()
             ? 0
             : AllocatableUnits(entry->second).value;
}

absl::string_view ReadyStatus(const Node& node) {
  const auto ready = std::find_if(
      node.conditions.begin(), node.conditions.end(),
      [](const Condition& condition) { return condition.type == "Ready"; });
  return ready == node.conditions.end() ? absl::string_view("Unknown")
                                        : ready->status;
}

}  // namespace

std::string NodeFingerprint(const Node& node,
                            absl::Span<const std::string> resources) {
  std::string text;
  for (const std::string& resource :
       std::set<std::string>(resources.begin(), resources.end())) {
    absl::StrAppend(&text, resource, "=", WholeUnits(node, resource), "\n");
  }
  std::set<std::string> taints;
  for (const Taint& taint : node.taints) {
    if (IsConditionTaint(taint)) continue;
    taints.insert(
        absl::StrCat(taint.key, "=", taint.value, ":", taint.effect, "\n"));
  }
  for (const std::string& line : taints) text += line;
  absl::StrAppend(&text, "Ready=", ReadyStatus(node), "\n");
  return Sha256Hex(text).substr(0, kDigits);
}

}  // namespace gpubinder
