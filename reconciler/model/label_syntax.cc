#include "reconciler/model/label_syntax.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

bool IsDnsChar(char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
}

bool IsLabelChar(char c) {
  return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
}

// One or more of those characters, alphanumeric at both ends.
bool IsWord(absl::string_view text, bool (*is_legal)(char)) {
  return !text.empty() && absl::ascii_isalnum(text.front()) &&
         absl::ascii_isalnum(text.back()) &&
         std::all_of(text.begin(), text.end(), is_legal);
}

bool IsLabelWord(absl::string_view text) {
  return text.size() <= kMaxLabel && IsWord(text, IsLabelChar);
}

}  // namespace

bool IsDnsSubdomain(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  return text.size() <= kMaxSubdomain &&
         std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
           return IsWord(part, IsDnsChar);
         });
}

bool IsQualifiedName(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) return IsLabelWord(text);
  return IsDnsSubdomain(text.substr(0, slash)) &&
         IsLabelWord(text.substr(slash + 1));
}

bool IsLabelValue(absl::string_view text) {
  return text.empty() || IsLabelWord(text);
}

}  // namespace gpubinder
