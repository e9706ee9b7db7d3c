// RocksDB's answers in our words: which code, and the sentence for damage.

#ifndef JOURNAL_STORAGE_STATUS_H_
#define JOURNAL_STORAGE_STATUS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rocksdb {
class Status;
}  // namespace rocksdb

namespace gpubinder {

// `doing` is what failed, with the directory's name: "appending records 3 to 9
// to journal '/j'". No space or descriptors: RESOURCE_EXHAUSTED. Bytes that
// are wrong or files that are missing: DATA_LOSS. Any other fault of the disk:
// FAILED_PRECONDITION.
absl::Status FromStorage(const rocksdb::Status& status,
                         absl::string_view doing);

struct Damage {
  std::string directory;
  uint64_t last_good = 0;
  std::string found;
};

// DATA_LOSS that names the last good sequence, the first missing one and the
// way on.
absl::Status DamageError(const Damage& damage);

}  // namespace gpubinder

#endif  // JOURNAL_STORAGE_STATUS_H_
