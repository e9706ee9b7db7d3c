// SHA-256 (FIPS 180-4), for computed names, fingerprints and digests. The
// model's own, so that it needs no library that does more.

#ifndef RECONCILER_MODEL_SHA256_H_
#define RECONCILER_MODEL_SHA256_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

using Sha256Digest = std::array<uint8_t, 32>;

// Of these bytes. O(length), allocates nothing.
Sha256Digest Sha256(absl::string_view data);

// The same as 64 lower-case hex digits.
std::string Sha256Hex(absl::string_view data);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SHA256_H_
