// One RocksDB log file's bytes as whole writes: the physical layer of the
// write-ahead log, no more.

#ifndef JOURNAL_LOG_FRAGMENTS_H_
#define JOURNAL_LOG_FRAGMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

class LogFragments {
 public:
  // The bytes must outlive this.
  explicit LogFragments(absl::string_view file) : file_(file) {}

  // The next whole write. Empty: the end, or bytes that are no fragment; then
  // AtEnd tells which.
  std::optional<std::string> Next();

  // All bytes were whole writes.
  bool AtEnd() const { return whole_ == file_.size(); }
  // Where the last whole write ended.
  uint64_t whole_bytes() const { return whole_; }

  // Whether a whole fragment begins anywhere after the point where Next gave
  // up: then those bytes are damage and no torn end.
  bool WholeFragmentFollows() const;

 private:
  struct Fragment {
    int type;
    absl::string_view payload;
  };
  std::optional<Fragment> FragmentAt(uint64_t at) const;

  absl::string_view file_;
  uint64_t whole_ = 0;
  uint64_t next_ = 0;  // the first byte not read
};

// The checksum of RocksDB's logs, Castagnoli's polynomial. Here since no
// packaged library has it in a header.
uint32_t Crc32c(absl::string_view bytes);

}  // namespace gpubinder

#endif  // JOURNAL_LOG_FRAGMENTS_H_
