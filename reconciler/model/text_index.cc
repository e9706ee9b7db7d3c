#include "reconciler/model/text_index.h"

#include <bit>
#include <cstddef>

namespace gpubinder {
namespace {

// Of SipHash's paper, with its letters.
struct State {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Take(uint64_t word) {
    v3 ^= word;
    Round();
    v0 ^= word;
  }
};

// The bytes as a number, little endian on every machine.
uint64_t Word(const char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i]))
            << (8 * i);
  }
  return word;
}

void Take(absl::string_view text, State& state) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    state.Take(Word(text.data() + at, 8));
  }
  // The length keeps texts apart that differ by zeros at their end.
  state.Take(Word(text.data() + at, text.size() - at) |
             static_cast<uint64_t>(text.size()) << 56);
}

}  // namespace

uint64_t HashOfTexts(absl::string_view first, absl::string_view second) {
  constexpr uint64_t kKey0 = 0x67707562696e6465, kKey1 = 0x7265636f6e63696c;
  State state{kKey0 ^ 0x736f6d6570736575, kKey1 ^ 0x646f72616e646f6d,
              kKey0 ^ 0x6c7967656e657261, kKey1 ^ 0x7465646279746573};
  Take(first, state);
  Take(second, state);
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace gpubinder
