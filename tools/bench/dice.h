// Random numbers that are the same on every machine (splitmix64): the standard
// library's distributions differ by library.

#ifndef TOOLS_BENCH_DICE_H_
#define TOOLS_BENCH_DICE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace gpubinder::bench {

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
  // In the usual form.
  std::string Uid() {
    const uint64_t a = Next();
    const uint64_t b = Next();
    return absl::StrFormat("%08x-%04x-4%03x-a%03x-%012x", a >> 32,
                           (a >> 16) & 0xffff, a & 0xfff, b >> 52,
                           b & 0xffffffffffff);
  }

 private:
  uint64_t state_;
};

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_DICE_H_
