#include "journal/log_fragments.h"

#include <array>

namespace gpubinder {
namespace {

constexpr uint64_t kBlock = 32 << 10;
constexpr uint64_t kHeader = 7;
enum FragmentType { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<std::array<uint32_t, 256>, 8> MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    tables[0][i] = crc;
  }
  for (size_t t = 1; t < 8; ++t) {
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t before = tables[t - 1][i];
      tables[t][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<std::array<uint32_t, 256>, 8> kTables = MakeTables();

uint32_t Little32(const char* at) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | (at[i] & 0xff);
  return value;
}

// RocksDB stores checksums so, since a checksum of data with checksums in it
// is weak.
uint32_t Mask(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// Less than a header's room at the end of a block is filled with zeros.
uint64_t SkipTrailer(uint64_t at) {
  const uint64_t left = kBlock - at % kBlock;
  return left < kHeader ? at + left : at;
}

}  // namespace

uint32_t Crc32c(absl::string_view bytes) {
  uint32_t crc = ~0u;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const uint32_t low = crc ^ Little32(at);
    const uint32_t high = Little32(at + 4);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^
          kTables[5][low >> 16 & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
          kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  }
  return ~crc;
}

std::optional<LogFragments::Fragment> LogFragments::FragmentAt(
    uint64_t at) const {
  if (file_.size() < at + kHeader) return std::nullopt;
  const char* const header = file_.data() + at;
  const int type = header[6];
  if (type < kFull || type > kLast) return std::nullopt;
  const uint64_t length = (header[4] & 0xff) | (header[5] & 0xff) << 8;
  const uint64_t room = kBlock - at % kBlock;
  if (kHeader + length > room) return std::nullopt;
  if (file_.size() < at + kHeader + length) return std::nullopt;
  if (Little32(header) != Mask(Crc32c(file_.substr(at + 6, 1 + length)))) {
    return std::nullopt;
  }
  return Fragment{type, file_.substr(at + kHeader, length)};
}

std::optional<std::string> LogFragments::Next() {
  std::string write;
  bool begun = false;
  for (;;) {
    const uint64_t at = SkipTrailer(next_);
    // A trailer cut short is no loss: it holds nothing.
    if (!begun && at >= file_.size()) {
      whole_ = file_.size();
      return std::nullopt;
    }
    const std::optional<Fragment> fragment = FragmentAt(at);
    if (!fragment.has_value()) return std::nullopt;
    const bool starts = fragment->type == kFull || fragment->type == kFirst;
    if (starts == begun) return std::nullopt;
    begun = true;
    next_ = at + kHeader + fragment->payload.size();
    write.append(fragment->payload.data(), fragment->payload.size());
    if (fragment->type == kFull || fragment->type == kLast) break;
  }
  whole_ = next_;
  return write;
}

bool LogFragments::WholeFragmentFollows() const {
  // Every position of the block with the damage, then what later blocks begin
  // with: a fragment always begins there.
  const uint64_t end_of_block = (next_ / kBlock + 1) * kBlock;
  for (uint64_t at = next_; at < end_of_block; ++at) {
    if (FragmentAt(at).has_value()) return true;
  }
  for (uint64_t at = end_of_block; at < file_.size(); at += kBlock) {
    if (FragmentAt(at).has_value()) return true;
  }
  return false;
}

}  // namespace gpubinder
