// Sums of units that stop at the ends of int64 instead of wrapping: what a
// tenant or a device plugin writes can never turn a large number negative.

#ifndef RECONCILER_MODEL_SATURATING_H_
#define RECONCILER_MODEL_SATURATING_H_

#include <cstdint>
#include <limits>

namespace gpubinder {

// a + b, or the end of int64 that the sum lies beyond.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

// a - b, or the end of int64 that the difference lies beyond.
inline int64_t SaturatingSub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SATURATING_H_
