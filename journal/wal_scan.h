// Reads the write-ahead log files of a closed database by themselves, before
// RocksDB does.
//
// RocksDB takes a fragment whose length field runs past the end of the last
// block for the torn end of the log and drops it and all that follows without
// a word, and it refuses a torn end whose checksum is wrong though nothing
// synced was lost. Only a look for later whole fragments tells a torn end from
// damage. The log format is RocksDB's and documented by it: blocks of 32 KiB,
// fragments of {masked CRC32C 4, length 2, type 1, payload}.

#ifndef JOURNAL_WAL_SCAN_H_
#define JOURNAL_WAL_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "journal/record.h"

namespace rocksdb {
class FileSystem;
}  // namespace rocksdb

namespace gpubinder {

// The end of the newest log file, when a write was cut short there.
struct TornTail {
  std::string path;
  uint64_t whole_bytes = 0;  // cutting the file here leaves whole writes only
  uint64_t torn_bytes = 0;
};

struct WalScan {
  // All 0 and zero bytes when no log file holds a record.
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  Digest last_digest = {};
  std::optional<TornTail> torn;
};

// Checks every fragment of the database's *.log files, and density, chain and
// checksum of the records in them. DATA_LOSS: anything wrong but a torn end of
// the newest file. Costs one read of the log, which flushes keep short.
absl::StatusOr<WalScan> ScanWal(rocksdb::FileSystem& files,
                                const std::string& database);

}  // namespace gpubinder

#endif  // JOURNAL_WAL_SCAN_H_
