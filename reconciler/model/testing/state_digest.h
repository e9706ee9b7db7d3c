// A digest of what a scenario has come to: two histories with one digest go
// on alike. Test only.
//
// Left out is what no rule reads: sequences of records, which decision last
// wrote an object, and what the index keeps (it decides nothing, which is
// checked apart). A resource version counts as the same as the server's or
// older, since nothing else is ever asked of it.

#ifndef RECONCILER_MODEL_TESTING_STATE_DIGEST_H_
#define RECONCILER_MODEL_TESTING_STATE_DIGEST_H_

#include <compare>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/scenario_server.h"

namespace gpubinder {

struct StateDigest {
  uint64_t high = 0, low = 0;
  auto operator<=>(const StateDigest&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const StateDigest& digest) {
    return H::combine(std::move(h), digest.low);
  }
};

// Takes bytes in, in order. 128 bits: over 10^8 states two different ones meet
// with a chance below 10^-22.
class StateHash {
 public:
  void Add(absl::string_view text) {
    Add(static_cast<uint64_t>(text.size()));
    while (text.size() >= 8) {
      Add(Word(text.substr(0, 8)));
      text.remove_prefix(8);
    }
    if (!text.empty()) Add(Word(text));
  }
  template <typename Number>
  requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void Add(Number number) { Mix(static_cast<uint64_t>(number)); }
  void Add(absl::Time time) {
    Add(time == absl::InfinitePast()     ? INT64_MIN
        : time == absl::InfiniteFuture() ? INT64_MAX
                                         : absl::ToUnixNanos(time));
  }

  StateDigest digest() const { return {high_, low_}; }

 private:
  static uint64_t Word(absl::string_view bytes) {
    uint64_t word = 0;
    for (const char c : bytes) {
      word = word << 8 | static_cast<unsigned char>(c);
    }
    return word;
  }
  static uint64_t Folded(uint64_t a, uint64_t b) {
    const absl::uint128 product = absl::uint128(a) * b;
    return absl::Uint128High64(product) ^ absl::Uint128Low64(product);
  }
  void Mix(uint64_t word) {
    high_ = Folded(high_ ^ word, 0x9e3779b97f4a7c15u) + low_;
    low_ = Folded(low_ + word, 0xe7037ed1a0b428dbu) ^ (high_ >> 17);
  }

  uint64_t high_ = 0x8ebc6af09c88c6e3u, low_ = 0x589965cc75374cc3u;
};

// The cluster as it is, and as the snapshot sees it with all that it
// remembers. O(bytes of both).
void AddState(const ScenarioServer& server, const Snapshot& snapshot,
              StateHash& hash);
void AddConfig(const Config& config, StateHash& hash);

// An effect, with how its precondition stands to the object as it is.
void AddEffect(const v1::Effect& effect, const ScenarioServer& server,
               StateHash& hash);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_STATE_DIGEST_H_
