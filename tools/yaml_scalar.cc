#include "tools/yaml_scalar.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace gpubinder {
namespace {

using Type = YamlScalar::Type;

bool IsOneOf(absl::string_view text,
             std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

size_t DigitsAt(absl::string_view text) {
  size_t count = 0;
  while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
  return count;
}

// A sign is taken off; whether it is a minus.
bool TakeSign(absl::string_view* text) {
  if (absl::ConsumePrefix(text, "+")) return false;
  return absl::ConsumePrefix(text, "-");
}

std::string WithSign(bool negative, absl::string_view digits) {
  return absl::StrCat(negative && digits != "0" ? "-" : "", digits);
}

// The digits in the base; nothing for another text and beyond 64 bits.
std::optional<uint64_t> InBase(absl::string_view digits, int base) {
  uint64_t value = 0;
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    const int digit = absl::ascii_isdigit(c) ? c - '0'
                      : absl::ascii_isxdigit(c)
                          ? absl::ascii_tolower(c) - 'a' + 10
                          : base;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<std::string> AsInteger(absl::string_view text) {
  const bool negative = TakeSign(&text);
  if (text.empty() || DigitsAt(text) == 0) return std::nullopt;
  if (text[0] != '0' || text.size() == 1) {
    if (DigitsAt(text) != text.size()) return std::nullopt;
    return WithSign(negative, text);
  }
  const char kind = absl::ascii_tolower(text[1]);
  const int base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
  text.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  const std::optional<uint64_t> value = InBase(text, base);
  if (!value.has_value()) return std::nullopt;
  return WithSign(negative, absl::StrCat(*value));
}

// `digits` times ten to the `exponent`, whole where it is.
std::string Decimal(bool negative, std::string digits, int exponent) {
  digits.erase(0, digits.find_first_not_of('0'));
  while (exponent < 0 && !digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (digits.empty()) return "0";
  if (exponent >= 0 && exponent <= 40) {
    return WithSign(negative, digits + std::string(exponent, '0'));
  }
  if (exponent > 0 || exponent < -40) {
    return WithSign(negative, absl::StrCat(digits, "e", exponent));
  }
  const size_t after = static_cast<size_t>(-exponent);
  if (digits.size() <= after) {
    digits.insert(0, after + 1 - digits.size(), '0');
  }
  digits.insert(digits.size() - after, ".");
  return WithSign(negative, digits);
}

std::optional<std::string> AsFloat(absl::string_view text) {
  const bool negative = TakeSign(&text);
  const size_t whole = DigitsAt(text);
  std::string digits(text.substr(0, whole));
  text.remove_prefix(whole);
  size_t fraction = 0;
  if (absl::ConsumePrefix(&text, ".")) {
    fraction = DigitsAt(text);
    absl::StrAppend(&digits, text.substr(0, fraction));
    text.remove_prefix(fraction);
  }
  if (digits.empty()) return std::nullopt;
  int exponent = 0;
  if (absl::ConsumePrefix(&text, "e") || absl::ConsumePrefix(&text, "E")) {
    const bool is_small = TakeSign(&text);
    if (DigitsAt(text) == 0 || DigitsAt(text) != text.size() ||
        !absl::SimpleAtoi(text, &exponent) || exponent > 308) {
      return std::nullopt;
    }
    if (is_small) exponent = -exponent;
    text = "";
  }
  if (!text.empty()) return std::nullopt;
  return Decimal(negative, std::move(digits),
                 exponent - static_cast<int>(fraction));
}

}  // namespace

YamlScalar ResolvePlainScalar(absl::string_view text) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) {
    return {.type = Type::kNull, .json = "null"};
  }
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE",
                     "on", "On", "ON"})) {
    return {.type = Type::kBool, .json = "true"};
  }
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE",
                     "off", "Off", "OFF"})) {
    return {.type = Type::kBool, .json = "false"};
  }
  if (IsOneOf(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf",
                     "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"})) {
    return {.type = Type::kNotFinite};
  }
  if (absl::ascii_isdigit(text[0]) ||
      IsOneOf(text.substr(0, 1), {"+", "-", "."})) {
    const std::string plain = absl::StrReplaceAll(text, {{"_", ""}});
    std::optional<std::string> number = AsInteger(plain);
    if (!number.has_value()) number = AsFloat(plain);
    if (number.has_value()) {
      return {.type = Type::kNumber, .json = *std::move(number)};
    }
  }
  return {.type = Type::kText, .json = JsonQuoted(text)};
}

std::string JsonQuoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          absl::StrAppend(&quoted, absl::StrFormat("\\u%04x", c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

}  // namespace gpubinder
