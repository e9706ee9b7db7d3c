#include "reconciler/model/names.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/sha256.h"

namespace gpubinder {
namespace {

constexpr size_t kMaxLabel = 63;

// Cut to that length, less the '.' and '-' at its end.
absl::string_view Cut(absl::string_view name, size_t length) {
  name = name.substr(0, length);
  // All of them: "a.-0" would be no legal name either.
  const size_t last = name.find_last_not_of(".-");
  return name.substr(0, last + 1);  // npos + 1 is 0
}

}  // namespace

std::string TemplateClaimName(absl::string_view vmi_name, int entry_index,
                              absl::string_view vmi_uid) {
  const std::string tail =
      absl::StrCat("-", entry_index, "-", Sha256Hex(vmi_uid).substr(0, 8));
  return absl::StrCat(Cut(vmi_name, kMaxLabel - tail.size()), tail);
}

std::string TemplateClaimLabelValue(absl::string_view vmi_name) {
  return std::string(Cut(vmi_name, kMaxLabel));
}

std::string VmiGpuName(int entry_index, int unit_index) {
  return absl::StrCat(kDeviceNamePrefix, entry_index, "-", unit_index);
}

std::string WarningName(absl::string_view vmi_uid, int64_t transition,
                        v1::Reason reason) {
  return absl::StrCat("gpubinder-", Sha256Hex(vmi_uid).substr(0, 12), "-",
                      transition, "-",
                      absl::AsciiStrToLower(ReasonName(reason)));
}

std::string UsageRecordName(absl::string_view claim_name) {
  return absl::StrCat(kUsageRecordPrefix, claim_name);
}

}  // namespace gpubinder
