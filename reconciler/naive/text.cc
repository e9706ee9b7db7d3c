#include "reconciler/naive/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace gpubinder::naive {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Decimal text times a small number.
std::string Times(const std::string& digits, int factor) {
  std::string result;
  int carry = 0;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    const int product = (*it - '0') * factor + carry;
    result.push_back(static_cast<char>('0' + product % 10));
    carry = product / 10;
  }
  for (; carry > 0; carry /= 10) {
    result.push_back(static_cast<char>('0' + carry % 10));
  }
  return {result.rbegin(), result.rend()};
}

std::string PlusOne(std::string digits) {
  size_t at = digits.size();
  while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
  if (at == 0) return "1" + digits;
  ++digits[at - 1];
  return digits;
}

// The suffix as a power of ten and a number of factors of 1024.
struct Scale {
  int64_t tens = 0;
  int kibis = 0;
};
std::optional<Scale> ScaleOf(const std::string& suffix) {
  if (suffix.empty()) return Scale{};
  static constexpr char kDecimal[] = "num kMGTPE";
  static constexpr char kBinary[] = "KMGTPE";
  if (suffix.size() == 1 && suffix != " ") {
    const size_t at = std::string(kDecimal).find(suffix);
    if (at == std::string::npos) return std::nullopt;
    return Scale{.tens = static_cast<int64_t>(at) * 3 - 9};
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const size_t at = std::string(kBinary).find(suffix[0]);
    if (at == std::string::npos) return std::nullopt;
    return Scale{.kibis = static_cast<int>(at) + 1};
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
  size_t at = 1;
  const bool negative = suffix[at] == '-';
  if (suffix[at] == '-' || suffix[at] == '+') ++at;
  if (at == suffix.size()) return std::nullopt;
  int64_t tens = 0;
  for (; at < suffix.size(); ++at) {
    if (!IsDigit(suffix[at])) return std::nullopt;
    tens = std::min<int64_t>(tens * 10 + (suffix[at] - '0'), 1000);
  }
  return Scale{.tens = negative ? -tens : tens};
}

std::optional<int64_t> Int64(const std::string& text) {
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const bool negative = at == 1 && text[0] == '-';
  if (at == text.size()) return std::nullopt;
  __int128 value = 0;
  for (; at < text.size(); ++at) {
    if (!IsDigit(text[at])) return std::nullopt;
    value = value * 10 + (text[at] - '0');
    if (value > static_cast<__int128>(kMost) + 1) return std::nullopt;
  }
  if (negative) value = -value;
  if (value > kMost) return std::nullopt;
  return static_cast<int64_t>(value);
}

bool Holds(const Requirement& wanted, const std::string* value) {
  const auto& values = wanted.values;
  const bool among = value != nullptr && std::find(values.begin(), values.end(),
                                                   *value) != values.end();
  if (wanted.op == "In") return among;
  if (wanted.op == "NotIn") return !among;
  if (wanted.op == "Exists") return value != nullptr;
  if (wanted.op == "DoesNotExist") return value == nullptr;
  if (value == nullptr || values.size() != 1) return false;
  const std::optional<int64_t> have = Int64(*value), want = Int64(values[0]);
  if (!have.has_value() || !want.has_value()) return false;
  return wanted.op == "Gt" ? *have > *want : *have < *want;
}

// A label name or a label's value: letters, digits, and `-_.` inside.
bool IsLabelWord(const std::string& word) {
  if (word.size() > 63) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    const bool alnum =
        IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool edge = i == 0 || i + 1 == word.size();
    if (!alnum && (edge || (c != '-' && c != '_' && c != '.'))) return false;
  }
  return true;
}

// Whether the API could have parsed it; a term with another one is false.
bool IsLegal(const Requirement& wanted) {
  const size_t slash = wanted.key.rfind('/');
  const std::string name =
      slash == std::string::npos ? wanted.key : wanted.key.substr(slash + 1);
  if (name.empty() || !IsLabelWord(name)) return false;
  const size_t count = wanted.values.size();
  if (wanted.op == "In" || wanted.op == "NotIn") {
    return count >= 1 &&
           std::all_of(wanted.values.begin(), wanted.values.end(), IsLabelWord);
  }
  if (wanted.op == "Exists" || wanted.op == "DoesNotExist") return count == 0;
  if (wanted.op != "Gt" && wanted.op != "Lt") return false;
  return count == 1 && Int64(wanted.values[0]).has_value() &&
         IsLabelWord(wanted.values[0]);
}

bool TermHolds(const SelectorTerm& term, const StringMap& labels,
               const std::string& node_name) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  for (const Requirement& wanted : term.expressions) {
    auto found = labels.find(wanted.key);
    if (!IsLegal(wanted)) return false;
    if (!Holds(wanted, found == labels.end() ? nullptr : &found->second)) {
      return false;
    }
  }
  for (const Requirement& wanted : term.fields) {
    const bool known = wanted.key == "metadata.name" &&
                       wanted.values.size() == 1 &&
                       (wanted.op == "In" || wanted.op == "NotIn");
    if (!known) return false;
    if (!node_name.empty() && !Holds(wanted, &node_name)) return false;
  }
  return true;
}

// The first 32 bits of the fraction of the square or cube root of `prime`.
uint32_t RootBits(uint32_t prime, int power) {
  using Wide = unsigned __int128;
  Wide root = 0;
  for (int bit = 35; bit >= 0; --bit) {
    const Wide next = root | static_cast<Wide>(1) << bit;
    const Wide grown = power == 2 ? next * next : next * next * next;
    if (grown <= static_cast<Wide>(prime) << (32 * power)) root = next;
  }
  return static_cast<uint32_t>(root);
}

// The constants of SHA-256, of the first 64 primes.
struct Constants {
  std::array<uint32_t, 64> cube;
  std::array<uint32_t, 8> square;
};
Constants MakeConstants() {
  Constants made{};
  size_t found = 0;
  for (uint32_t p = 2; found < 64; ++p) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
    if (!prime) continue;
    made.cube[found] = RootBits(p, 3);
    if (found < 8) made.square[found] = RootBits(p, 2);
    ++found;
  }
  return made;
}

uint32_t Turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

void Mix(const std::array<uint32_t, 64>& k, const std::string& text, size_t at,
         std::array<uint32_t, 8>& h) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 64; ++i) {
    w[i / 4] = w[i / 4] << 8 | static_cast<uint8_t>(text[at + i]);
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (Turn(a, 7) ^ Turn(a, 18) ^ a >> 3) + w[i - 7] +
           (Turn(b, 17) ^ Turn(b, 19) ^ b >> 10);
  }
  std::array<uint32_t, 8> v = h;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = Turn(v[4], 6) ^ Turn(v[4], 11) ^ Turn(v[4], 25);
    const uint32_t t1 =
        v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
    const uint32_t s0 = Turn(v[0], 2) ^ Turn(v[0], 13) ^ Turn(v[0], 22);
    const uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v = {t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
  }
  for (size_t i = 0; i < 8; ++i) h[i] += v[i];
}

std::string Sha256Hex(std::string text) {
  static const Constants constants = MakeConstants();
  std::array<uint32_t, 8> h = constants.square;
  const uint64_t length = text.size() * 8;
  text.push_back(static_cast<char>(0x80));
  while (text.size() % 64 != 56) text.push_back('\0');
  for (int i = 7; i >= 0; --i) {
    text.push_back(static_cast<char>(length >> (8 * i)));
  }
  for (size_t at = 0; at < text.size(); at += 64) {
    Mix(constants.cube, text, at, h);
  }
  char hex[65];
  for (size_t i = 0; i < 8; ++i) std::snprintf(hex + 8 * i, 9, "%08x", h[i]);
  return hex;
}

}  // namespace

std::optional<int64_t> WholeUnits(const std::string& quantity, Part part) {
  size_t at = 0;
  const bool negative = !quantity.empty() && quantity[0] == '-';
  if (!quantity.empty() && (quantity[0] == '-' || quantity[0] == '+')) ++at;
  std::string digits;
  int64_t tens = 0;
  bool dot = false;
  for (; at < quantity.size(); ++at) {
    if (quantity[at] == '.' && !dot) {
      dot = true;
      continue;
    }
    if (!IsDigit(quantity[at])) break;
    digits.push_back(quantity[at]);
    if (dot) --tens;
  }
  const std::optional<Scale> scale = ScaleOf(quantity.substr(at));
  if (quantity.empty() || digits.empty() || !scale.has_value()) {
    return std::nullopt;
  }
  tens += scale->tens;
  for (int i = 0; i < scale->kibis; ++i) digits = Times(digits, 1024);
  auto cut = [&](int64_t keep, bool up) {
    bool rest = false;
    for (; tens < keep && !digits.empty(); ++tens) {
      rest = rest || digits.back() != '0';
      digits.pop_back();
    }
    if (rest && up) digits = PlusOne(digits);
  };
  cut(-9, true);
  cut(0, part == Part::kCounts);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  if (negative || tens > 20) return std::nullopt;
  digits.append(static_cast<size_t>(std::max<int64_t>(tens, 0)), '0');
  return Int64(digits);
}

int64_t Plus(int64_t a, int64_t b) {
  const __int128 sum = static_cast<__int128>(a) + b;
  return sum > kMost ? kMost : static_cast<int64_t>(sum);
}

bool HasLabels(const StringMap& labels, const StringMap& wanted) {
  for (const auto& [key, value] : wanted) {
    auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  return true;
}

bool Selects(const NodeSelector& selector, const StringMap& labels,
             const std::string& node_name) {
  for (const SelectorTerm& term : selector.terms) {
    if (TermHolds(term, labels, node_name)) return true;
  }
  return false;
}

bool Tolerated(const Taint& taint, const std::vector<Toleration>& by) {
  for (const Toleration& one : by) {
    if (!one.effect.empty() && one.effect != taint.effect) continue;
    if (!one.key.empty() && one.key != taint.key) continue;
    if (one.op == "Exists") return true;
    if ((one.op.empty() || one.op == "Equal") && one.value == taint.value) {
      return true;
    }
  }
  return false;
}

std::string TaintText(const Taint& taint) {
  return taint.key + "=" + taint.value + ":" + taint.effect;
}

std::string ShortDigest(const std::string& text) {
  return Sha256Hex(text).substr(0, 16);
}

std::string ShorterDigest(const std::string& text) {
  return Sha256Hex(text).substr(0, 8);
}

}  // namespace gpubinder::naive
