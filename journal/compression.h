// Compressing a group of records on more than one thread.

#ifndef JOURNAL_COMPRESSION_H_
#define JOURNAL_COMPRESSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "journal/record.h"
#include "proto/journal.pb.h"

namespace gpubinder {

// Each thread takes the next record that nobody has taken.
class Compression {
 public:
  // Of records that are to have the sequences from `first` on, and live until
  // Wait has returned.
  Compression(const RecordCodec& codec, uint64_t first,
              absl::Span<v1::Record> records);

  // Takes records until none is left. May come when all are done.
  void Help();
  // Until those that others have taken are done too. In the records' order,
  // what RecordCodec::Compress made.
  std::vector<absl::StatusOr<std::string>>& Wait();

 private:
  const RecordCodec& codec_;
  const uint64_t first_;
  const absl::Span<v1::Record> records_;
  std::vector<absl::StatusOr<std::string>> stored_;
  std::atomic<size_t> next_ = 0, done_ = 0;
};

}  // namespace gpubinder

#endif  // JOURNAL_COMPRESSION_H_
