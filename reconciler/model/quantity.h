// Kubernetes quantities as whole units, in integer arithmetic.
//
//   ReadQuantity("1500m")  ->  kOk, floor 1, ceil 2
//
// The grammar is upstream's with its lenient cases ("+5", "1.", "m" = 0), and
// so are its rounding (anything finer than a nano is rounded away from zero to
// one) and its cap (a value with a binary suffix stops at 2^63 - 1). Only the
// lengths are bounded here: an exponent may be as large as it likes and costs
// nothing, a text of more than 256 bytes is not read.
//
// Most callers want one of AllocatableUnits, BudgetUnits and RequestUnits,
// which know what the binder makes of a bad value.

#ifndef RECONCILER_MODEL_QUANTITY_H_
#define RECONCILER_MODEL_QUANTITY_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace gpubinder {

enum class QuantityStatus : uint8_t {
  kOk,          // 0 to 2^63 - 1
  kUnreadable,  // no quantity; floor and ceil are 0
  kNegative,    // below 0, however little
  kTooLarge,    // above 2^63 - 1
};

// floor is the largest whole number not above the value and ceil the least not
// below it, for negative values too (-1500m: -2 and -1). Both stop at the ends
// of int64.
struct Quantity {
  QuantityStatus status = QuantityStatus::kUnreadable;
  int64_t floor = 0;
  int64_t ceil = 0;
};

// Surrounding white space is ignored, as the API's JSON decoder does. Any
// bytes are legal input. O(length).
Quantity ReadQuantity(absl::string_view text);

// ReadQuantity(text).floor or .ceil; nothing when it cannot be read.
std::optional<int64_t> FloorUnits(absl::string_view text);
std::optional<int64_t> CeilUnits(absl::string_view text);

// Units for the books. Never negative. `malformed`: the text is to be reported.
struct Units {
  int64_t value = 0;
  bool malformed = false;
};

// Of a node (N1): floored. Unreadable, negative or beyond int64: 0, malformed.
Units AllocatableUnits(absl::string_view text);

// Of a ResourceQuota: floored; beyond int64 is 2^63 - 1. Unreadable or
// negative: 0, malformed.
Units BudgetUnits(absl::string_view text);

// Of a container: a fraction counts up; beyond int64 is 2^63 - 1. Unreadable
// or negative: 0, malformed.
Units RequestUnits(absl::string_view text);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_QUANTITY_H_
