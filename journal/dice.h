// Random numbers that are the same on every machine (splitmix64): the standard
// library's distributions differ by library. For corpora and benchmarks.

#ifndef JOURNAL_DICE_H_
#define JOURNAL_DICE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gpubinder {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }
  // 16 digits.
  std::string Hex() { return absl::StrFormat("%016x", Next()); }
  // In the usual form.
  std::string Uid() {
    const std::string a = Hex();
    const std::string b = Hex();
    return absl::StrCat(a.substr(0, 8), "-", a.substr(8, 4), "-4",
                        a.substr(13, 3), "-a", b.substr(1, 3), "-",
                        b.substr(4, 12));
  }

 private:
  uint64_t state_;
};

}  // namespace gpubinder

#endif  // JOURNAL_DICE_H_
