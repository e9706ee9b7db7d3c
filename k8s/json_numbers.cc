#include "k8s/json_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {

namespace {

bool IsNumberByte(char c) {
  return absl::ascii_isdigit(c) || c == '-' || c == '+' || c == '.' ||
         c == 'e' || c == 'E';
}

// Whether `token` follows the grammar of JSON numbers.
bool IsJsonNumber(absl::string_view token) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < token.size() && absl::ascii_isdigit(token[at])) ++at;
    return at - begin;
  };
  if (at < token.size() && token[at] == '-') ++at;
  const bool zero = at < token.size() && token[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '-' || token[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == token.size();
}

// Whether the parser can hold the number: it refuses integers beyond 64 bits
// and anything beyond double.
bool IsHeld(absl::string_view token) {
  const char* const end = token.data() + token.size();
  if (token.find_first_of(".eE") == absl::string_view::npos) {
    int64_t whole = 0;
    uint64_t positive = 0;
    return std::from_chars(token.data(), end, whole).ec == std::errc() ||
           std::from_chars(token.data(), end, positive).ec == std::errc();
  }
  double number = 0;
  return std::from_chars(token.data(), end, number).ec == std::errc();
}

}  // namespace

std::string QuoteWideNumbers(absl::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (text[at] == '"') {
      ++at;
      while (at < text.size() && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
      at = std::min(at + 1, text.size());
      absl::StrAppend(&out, text.substr(begin, at - begin));
    } else if (text[at] == '-' || absl::ascii_isdigit(text[at])) {
      while (at < text.size() && IsNumberByte(text[at])) ++at;
      const absl::string_view token = text.substr(begin, at - begin);
      const bool quote = IsJsonNumber(token) && !IsHeld(token);
      absl::StrAppend(&out, quote ? "\"" : "", token, quote ? "\"" : "");
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool IsWhole(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return number >= -kLimit && number < kLimit && number == std::trunc(number);
}

std::string DoubleText(double number) {
  char buffer[64];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, result.ptr);
}

}  // namespace gpubinder
