#include "k8s/embedded/quantity_value.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int kMaxDigits = 30;

struct Scale {
  int64_t base = 10;
  int exponent = 0;
};

std::optional<Scale> ScaleOf(absl::string_view suffix) {
  static constexpr struct {
    absl::string_view text;
    Scale scale;
  } kScales[] = {{"", {10, 0}},     {"n", {10, -9}},   {"u", {10, -6}},
                 {"m", {10, -3}},   {"k", {10, 3}},    {"M", {10, 6}},
                 {"G", {10, 9}},    {"T", {10, 12}},   {"P", {10, 15}},
                 {"E", {10, 18}},   {"Ki", {1024, 1}}, {"Mi", {1024, 2}},
                 {"Gi", {1024, 3}}, {"Ti", {1024, 4}}, {"Pi", {1024, 5}},
                 {"Ei", {1024, 6}}};
  for (const auto& known : kScales) {
    if (known.text == suffix) return known.scale;
  }
  int exponent = 0;
  if (!suffix.empty() && (suffix[0] == 'e' || suffix[0] == 'E') &&
      absl::SimpleAtoi(suffix.substr(1), &exponent) && exponent >= -18 &&
      exponent <= 18) {
    return Scale{10, exponent};
  }
  return std::nullopt;
}

absl::int128 Scaled(absl::int128 digits, Scale scale, int fraction_digits) {
  // digits * base^exponent / 10^fraction, in thousandths.
  for (int i = 0; i < scale.exponent; ++i) digits *= scale.base;
  int tens = 3 - fraction_digits + std::min(scale.exponent, 0);
  for (; tens > 0; --tens) digits *= 10;
  bool rest = false;
  for (; tens < 0; ++tens) {
    rest = rest || digits % 10 != 0;
    digits /= 10;
  }
  return digits + (rest ? 1 : 0);
}

Amounts Maximum(Amounts a, const Amounts& b) {
  for (const auto& [name, amount] : b) {
    absl::int128& slot = a[name];
    slot = std::max(slot, amount);
  }
  return a;
}

}  // namespace

std::optional<absl::int128> MilliOf(absl::string_view quantity) {
  const bool negative = absl::StartsWith(quantity, "-");
  if (negative || absl::StartsWith(quantity, "+")) quantity.remove_prefix(1);
  absl::int128 digits = 0;
  int count = 0, fraction = 0;
  bool after_point = false;
  size_t at = 0;
  for (; at < quantity.size(); ++at) {
    const char c = quantity[at];
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
    if (++count > kMaxDigits) return std::nullopt;
    digits = digits * 10 + (c - '0');
    if (after_point) ++fraction;
  }
  const std::optional<Scale> scale = ScaleOf(quantity.substr(at));
  if (count == 0 || !scale.has_value()) return std::nullopt;
  // 10^30 times 1000 * 10^18 would not fit: digits and scale share the room.
  const int used = count + (scale->base == 10 ? std::max(scale->exponent, 0)
                                              : 4 * scale->exponent);
  if (used > 34) return std::nullopt;
  const absl::int128 milli = Scaled(digits, *scale, fraction);
  return negative ? -milli : milli;
}

std::string MilliText(absl::int128 milli) {
  const auto text = [](absl::int128 value) {
    return absl::StrCat(static_cast<int64_t>(value));
  };
  return milli % 1000 == 0 ? text(milli / 1000) : text(milli) + "m";
}

Amounts AmountsOf(const Json& list) {
  Amounts amounts;
  if (!list.is_object()) return amounts;
  for (const auto& [name, value] : list.items()) {
    const std::string text =
        value.is_string() ? value.get<std::string>() : DumpJson(value);
    amounts[name] = MilliOf(text).value_or(0);
  }
  return amounts;
}

void AddTo(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

Amounts PodAmounts(const Json& pod, absl::string_view list) {
  Amounts sidecars, initial;
  for (const Json& container : At(pod, {"spec", "initContainers"})) {
    Amounts own = AmountsOf(At(container, {"resources", list}));
    if (TextAt(container, {"restartPolicy"}) == "Always") {
      AddTo(sidecars, own);
      own = sidecars;
    } else {
      AddTo(own, sidecars);
    }
    initial = Maximum(std::move(initial), own);
  }
  Amounts total = sidecars;
  for (const Json& container : At(pod, {"spec", "containers"})) {
    AddTo(total, AmountsOf(At(container, {"resources", list})));
  }
  total = Maximum(std::move(total), initial);
  AddTo(total, AmountsOf(At(pod, {"spec", "overhead"})));
  return total;
}

bool IsExtended(absl::string_view resource) {
  return absl::StrContains(resource, "/") &&
         !absl::StrContains(resource, "kubernetes.io/") &&
         !absl::StartsWith(resource, "requests.");
}

}  // namespace gpubinder::embedded
