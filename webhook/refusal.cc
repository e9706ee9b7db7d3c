#include "webhook/refusal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/check.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

constexpr size_t kMostMessageBytes = 1024;
constexpr size_t kMostQuotedBytes = 64;
constexpr absl::string_view kCut = "...";

std::string NameOf(v1::Reason reason) {
  return reason == v1::REASON_UNSPECIFIED ? "Invalid"
                                          : std::string(ReasonName(reason));
}

}  // namespace

ReviewAnswer Refuse(const std::vector<Problem>& problems) {
  BINDER_CHECK(!problems.empty());
  v1::Reason first = problems[0].reason;
  std::string message;
  for (const Problem& problem : problems) {
    first = std::min(first, problem.reason);
    absl::StrAppend(&message, message.empty() ? "" : "; ",
                    NameOf(problem.reason), ": ", problem.text);
  }
  const bool of_leave =
      first == v1::NOT_ENTITLED || first == v1::FEATURE_DISABLED;
  return {.allowed = false,
          .code = of_leave ? 403 : 422,
          .reason = NameOf(first),
          .message = CutTo(message, kMostMessageBytes)};
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat(
      "\"", absl::Utf8SafeCEscape(CutTo(text, kMostQuotedBytes)), "\"");
}

std::string CutTo(absl::string_view text, size_t size) {
  if (text.size() <= size) return std::string(text);
  size_t end = size - kCut.size();
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), kCut);
}

}  // namespace gpubinder
