#include "reconciler/model/quantity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

// 19 digits of units and 9 of nanos do not fit int64.
using Int128 = __int128;

constexpr size_t kMaxLength = 256;
// With at most kMaxLength digits no larger exponent changes the answer: the
// value is 0, beyond int64 or less than a nano already.
constexpr int kMaxExponent = 600;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int kNanoDigits = 9;
constexpr Int128 kNano = 1'000'000'000;
constexpr Int128 kMostNanos = kNano * kMost;
// Where counting stops: beyond every int64, and far from the end of int128.
constexpr Int128 kNanosEnd = kMostNanos * 2;

struct Suffix {
  absl::string_view text;
  int power_of_ten;
  int power_of_1024;
};
constexpr std::array<Suffix, 16> kSuffixes = {{
    {"n", -9, 0},
    {"u", -6, 0},
    {"m", -3, 0},
    {"", 0, 0},
    {"k", 3, 0},
    {"M", 6, 0},
    {"G", 9, 0},
    {"T", 12, 0},
    {"P", 15, 0},
    {"E", 18, 0},
    {"Ki", 0, 1},
    {"Mi", 0, 2},
    {"Gi", 0, 3},
    {"Ti", 0, 4},
    {"Pi", 0, 5},
    {"Ei", 0, 6},
}};

// The value is 0.DIGITS * 10^point * 1024^power_of_1024, with its sign.
struct Decimal {
  std::string digits;  // '0' to '9'
  int point = 0;
  int power_of_1024 = 0;
  bool negative = false;
};

absl::string_view TakeDigits(absl::string_view* text) {
  size_t end = 0;
  while (end < text->size() && absl::ascii_isdigit((*text)[end])) ++end;
  absl::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  return digits;
}

// Takes a leading sign; whether it was a minus.
bool TakeSign(absl::string_view* text) {
  if (text->empty()) return false;
  const char first = text->front();
  if (first == '-' || first == '+') text->remove_prefix(1);
  return first == '-';
}

// The exponent after its 'e' or 'E', clamped to +-kMaxExponent.
std::optional<int> ReadExponent(absl::string_view text) {
  const bool negative = TakeSign(&text);
  absl::string_view digits = TakeDigits(&text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  int value = 0;
  for (char digit : digits) {
    value = std::min(value * 10 + (digit - '0'), kMaxExponent);
  }
  return negative ? -value : value;
}

std::optional<Suffix> ReadSuffix(absl::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix;
  }
  if (absl::ascii_tolower(text.front()) != 'e') return std::nullopt;
  const std::optional<int> exponent = ReadExponent(text.substr(1));
  if (!exponent) return std::nullopt;
  return Suffix{"", *exponent, 0};
}

std::optional<Decimal> ReadDecimal(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || text.size() > kMaxLength) return std::nullopt;
  Decimal decimal;
  decimal.negative = TakeSign(&text);
  absl::string_view whole = TakeDigits(&text);
  absl::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = TakeDigits(&text);
  }
  const std::optional<Suffix> suffix = ReadSuffix(text);
  if (!suffix) return std::nullopt;
  decimal.digits = std::string(whole) + std::string(fraction);
  decimal.point = static_cast<int>(whole.size()) + suffix->power_of_ten;
  decimal.power_of_1024 = suffix->power_of_1024;
  return decimal;
}

// Written out as the digits grow, so that no fraction is ever lost.
void MultiplyBy1024(Decimal* decimal) {
  int carry = 0;
  for (auto digit = decimal->digits.rbegin(); digit != decimal->digits.rend();
       ++digit) {
    carry += (*digit - '0') * 1024;
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  // The carry is below 1024: four digits hold it.
  std::string front(4, '0');
  for (auto digit = front.rbegin(); digit != front.rend(); ++digit) {
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  decimal->digits = front + decimal->digits;
  decimal->point += static_cast<int>(front.size());
}

// The nanos of its absolute value, a rest counted up, at most kNanosEnd.
Int128 Nanos(const Decimal& decimal) {
  const int point = decimal.point + kNanoDigits;
  Int128 nanos = 0;
  for (int i = 0; i < point; ++i) {
    const size_t at = static_cast<size_t>(i);
    const int digit = at < decimal.digits.size() ? decimal.digits[at] - '0' : 0;
    nanos = std::min(nanos * 10 + digit, kNanosEnd);
  }
  const size_t rest =
      std::min(static_cast<size_t>(std::max(point, 0)), decimal.digits.size());
  if (decimal.digits.find_first_not_of('0', rest) != std::string::npos) {
    nanos += 1;
  }
  return nanos;
}

int64_t Clamp(Int128 value) {
  const Int128 least = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::min(std::max(value, least), Int128{kMost}));
}

bool IsBad(QuantityStatus status) {
  return status == QuantityStatus::kUnreadable ||
         status == QuantityStatus::kNegative;
}

}  // namespace

Quantity ReadQuantity(absl::string_view text) {
  std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal) return {};
  for (int i = 0; i < decimal->power_of_1024; ++i) MultiplyBy1024(&*decimal);
  Int128 nanos = Nanos(*decimal);
  // Upstream caps what has a binary suffix, and nothing else.
  if (decimal->power_of_1024 > 0) nanos = std::min(nanos, kMostNanos);
  const Int128 down = nanos / kNano;
  const Int128 up = (nanos + kNano - 1) / kNano;
  if (decimal->negative && nanos > 0) {
    return {QuantityStatus::kNegative, Clamp(-up), Clamp(-down)};
  }
  return {nanos > kMostNanos ? QuantityStatus::kTooLarge : QuantityStatus::kOk,
          Clamp(down), Clamp(up)};
}

std::optional<int64_t> FloorUnits(absl::string_view text) {
  const Quantity quantity = ReadQuantity(text);
  if (quantity.status == QuantityStatus::kUnreadable) return std::nullopt;
  return quantity.floor;
}

std::optional<int64_t> CeilUnits(absl::string_view text) {
  const Quantity quantity = ReadQuantity(text);
  if (quantity.status == QuantityStatus::kUnreadable) return std::nullopt;
  return quantity.ceil;
}

Units AllocatableUnits(absl::string_view text) {
  const Quantity quantity = ReadQuantity(text);
  if (quantity.status != QuantityStatus::kOk) return {0, true};
  return {quantity.floor, false};
}

Units BudgetUnits(absl::string_view text) {
  const Quantity quantity = ReadQuantity(text);
  if (IsBad(quantity.status)) return {0, true};
  return {quantity.floor, false};
}

Units RequestUnits(absl::string_view text) {
  const Quantity quantity = ReadQuantity(text);
  if (IsBad(quantity.status)) return {0, true};
  return {quantity.ceil, false};
}

}  // namespace gpubinder
