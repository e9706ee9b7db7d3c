#include "reconciler/model/planted.h"

#ifdef GPUBINDER_PLANTED

#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "proto/check.h"

namespace gpubinder {
inline namespace planted_build {
namespace {

std::optional<Bug> FindBug(absl::string_view wanted) {
#define GPUBINDER_FIND_BUG(name, rule, text) \
  if (absl::StrCat("k", wanted) == #name) return Bug::name;
  GPUBINDER_PLANTED_BUGS(GPUBINDER_FIND_BUG)
#undef GPUBINDER_FIND_BUG
  return std::nullopt;
}

std::optional<Bug> BugOfEnvironment() {
  const char* wanted = std::getenv("GPUBINDER_PLANTED_BUG");
  if (wanted == nullptr) return std::nullopt;
  const std::optional<Bug> bug = FindBug(wanted);
  BINDER_CHECK(bug.has_value());
  return bug;
}

}  // namespace

bool Planted(Bug bug) {
  static const std::optional<Bug> planted = BugOfEnvironment();
  return planted == bug;
}

absl::Time PlantedTime(absl::Time) { return absl::Now(); }

}  // namespace planted_build
}  // namespace gpubinder

#endif
