// One record as stored bytes: a small header, then the serialised v1::Record
// compressed with a trained dictionary; and the digest that chains records.
//
//   1  version of this layout, 1
//   2  dictionary id, little endian
//   16 digest of the record before it
//   4  first bytes of this record's own digest, as its checksum
//   -  zstd frame of the v1::Record less sequence, previous_digest and
//      journal_uid, which the key, this header and the meta family hold
//
// A record's digest is SHA-256 over its sequence (8 bytes, big endian) and all
// of the above but the checksum, cut to 16 bytes; README.md says why.

#ifndef JOURNAL_RECORD_H_
#define JOURNAL_RECORD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/journal.pb.h"

namespace gpubinder {

using Digest = std::array<char, 16>;

inline constexpr uint64_t kMaxRecordBytes = 64 << 20;
// Buffers that have held more are not kept.
inline constexpr size_t kKeptBytes = 1 << 20;

// 8 bytes, big endian, so that the table files sort by sequence.
std::string SequenceKey(uint64_t sequence);
// INVALID_ARGUMENT unless the key has 8 bytes.
absl::StatusOr<uint64_t> SequenceOfKey(absl::string_view key);

// What the first record names as its previous digest.
Digest GenesisDigest(absl::string_view journal_uid);

// SHA-256 of the parts, one after the other, cut to 16 bytes.
Digest DigestOf(absl::string_view first, absl::string_view second,
                absl::string_view third);

// The parts of a stored value that can be checked without decompressing.
struct RecordHeader {
  Digest previous;
  Digest own;
};

// Checks layout and checksum. DATA_LOSS says what is wrong; the caller adds
// where.
absl::StatusOr<RecordHeader> CheckStored(uint64_t sequence,
                                         absl::string_view stored);

// Compresses and decompresses with the dictionaries of one journal. Any number
// of threads may call it.
class RecordCodec {
 public:
  // Dictionaries by id; `current` is the one that Compress uses and must be one
  // of them. The texts are copied.
  RecordCodec(const std::map<uint16_t, std::string>& dictionaries,
              uint16_t current);
  ~RecordCodec();

  // The first half of encoding, and most of its cost: a stored value that
  // waits for Seal. Clears the record's sequence, previous_digest and
  // journal_uid. INVALID_ARGUMENT, which names `sequence`: over
  // kMaxRecordBytes.
  absl::StatusOr<std::string> Compress(uint64_t sequence,
                                       v1::Record& record) const;

  // The inverse for a value that CheckStored has passed; sequence, previous
  // digest and journal_uid are left empty. DATA_LOSS: not what Compress made,
  // or an unknown dictionary.
  absl::Status Decode(absl::string_view stored, v1::Record& record) const;

 private:
  struct Zstd;
  std::unique_ptr<Zstd> zstd_;
};

// The second half: puts a compressed value behind the record that has the
// digest `previous`. Gives its own digest.
Digest Seal(uint64_t sequence, const Digest& previous, std::string& stored);

}  // namespace gpubinder

#endif  // JOURNAL_RECORD_H_
