// The RocksDB database of one journal: which options, which column families,
// and the five things done with it. All of RocksDB's classes stay behind it.

#ifndef JOURNAL_DATABASE_H_
#define JOURNAL_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Env;
class FileSystem;
class Iterator;
}  // namespace rocksdb

namespace gpubinder {

// Families get their number in the order in which they are made.
inline constexpr uint32_t kRecordsFamilyId = 1;

enum class DatabaseMode {
  kCreate,
  kWrite,
  kRead,
  // As kRead, and a torn end of the log is passed over. Only after ScanWal has
  // found that it is one.
  kReadPastTornTail,
  // Whatever can still be read, to name the last good record.
  kReadDamaged,
};

struct DatabaseOptions {
  std::string path;
  DatabaseMode mode = DatabaseMode::kRead;
  uint64_t flush_bytes = 8 << 20;
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

// Walks the records in order. Not valid: at the end or at an error.
class RecordCursor {
 public:
  explicit RecordCursor(std::unique_ptr<rocksdb::Iterator> rows);
  RecordCursor(RecordCursor&&) noexcept;
  ~RecordCursor();
  bool Valid() const;
  void Next();
  absl::string_view key() const;
  absl::string_view value() const;  // until Next
  absl::Status status() const;

 private:
  std::unique_ptr<rocksdb::Iterator> rows_;
};

using Row = std::pair<std::string, std::string>;

class Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const DatabaseOptions& options);
  ~Database();

  // One atomic write, not synced.
  absl::Status AppendRecords(const std::vector<Row>& rows);
  // Everything written is on disk. Waits for a flush first, and gives its
  // error.
  absl::Status Sync();
  // Begins a new log. All records before it are written to a table file in the
  // background.
  absl::Status Flush();

  absl::Status PutMeta(const std::map<std::string, std::string>& rows);
  absl::StatusOr<std::map<std::string, std::string>> ReadMeta() const;

  // From the first key >= `key`.
  RecordCursor ScanFrom(absl::string_view key) const;
  // At the last record, if there is one.
  RecordCursor AtLast() const;

  // For the test that reads the options back.
  rocksdb::DB& rocksdb() { return *db_; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const {
    return families_;
  }

 private:
  class FlushListener;
  Database();
  absl::Status AwaitFlush();
  std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<FlushListener> listener_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

// Removes a database that was never finished. OK if there is none.
absl::Status RemoveDatabase(const DatabaseOptions& options);

}  // namespace gpubinder

#endif  // JOURNAL_DATABASE_H_
