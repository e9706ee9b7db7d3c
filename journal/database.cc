#include "journal/database.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "journal/storage_status.h"

namespace gpubinder {
namespace {

enum Family { kDefault, kRecords, kCheckpoints, kMeta };
// What a batch and each of its rows take beside the rows' bytes, at most.
constexpr size_t kBatchHeader = 12;
constexpr size_t kRowHeader = 16;

constexpr const char* kFamilyNames[] = {"default", "records", "checkpoints",
                                        "meta"};

// RocksDB's own log would grow in the directory and says nothing that an
// error of ours does not.
class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::DBOptions ProcessOptions(const DatabaseOptions& options,
                                  rocksdb::Env* env) {
  rocksdb::DBOptions o;
  o.env = env;
  o.info_log = std::make_shared<SilentLogger>();
  o.create_if_missing = options.mode == DatabaseMode::kCreate;
  o.create_missing_column_families = o.create_if_missing;
  o.error_if_exists = o.create_if_missing;
  // The default, point in time, opens without a word with half of the synced
  // records after one flipped bit.
  const bool damaged = options.mode == DatabaseMode::kReadDamaged;
  o.wal_recovery_mode =
      damaged || options.mode == DatabaseMode::kReadPastTornTail
          ? rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords
          : rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  o.track_and_verify_wals_in_manifest = !damaged;
  o.recycle_log_file_num = 0;
  o.paranoid_checks = !damaged;
  o.wal_compression = rocksdb::kNoCompression;
  // A failed write is final; RocksDB must not go on by itself after one.
  o.max_bgerror_resume_count = 0;
  // Enough for the youngest tables; a journal has no point reads.
  o.max_open_files = 256;
  // The default starts sixteen threads at each open.
  o.max_file_opening_threads = 1;
  o.stats_dump_period_sec = 0;
  o.stats_persist_period_sec = 0;
  return o;
}

rocksdb::ColumnFamilyOptions FamilyOptions(uint64_t flush_bytes) {
  rocksdb::BlockBasedTableOptions table;
  // The packaged CRC32C is software.
  table.checksum = rocksdb::kXXH3;
  table.block_size = 64 << 10;
  table.filter_policy = nullptr;
  rocksdb::ColumnFamilyOptions o;
  o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Values are compressed one by one already.
  o.compression = rocksdb::kNoCompression;
  o.enable_blob_files = false;
  // The journal flushes by bytes at a moment when all is synced. RocksDB's own
  // switch comes far later, so that it never comes first.
  o.write_buffer_size = 4 * flush_bytes;
  return o;
}

rocksdb::ReadOptions ScanOptions() {
  rocksdb::ReadOptions o;
  o.verify_checksums = true;
  o.fill_cache = false;
  o.readahead_size = 2 << 20;
  return o;
}

rocksdb::Slice SliceOf(absl::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

// Counts what may end a flush, for who waits for one.
class Database::FlushListener : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    absl::MutexLock hold(&mutex_);
    ++events_;
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason,
                         rocksdb::Status* error) override {
    absl::MutexLock hold(&mutex_);
    ++events_;
    error_ = FromStorage(*error, "in the background");
  }
  absl::StatusOr<uint64_t> Events() const {
    absl::MutexLock hold(&mutex_);
    if (!error_.ok()) return error_;
    return events_;
  }
  void AwaitMoreThan(uint64_t events) {
    absl::MutexLock hold(&mutex_);
    auto more = [this, events]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return events_ > events;
    };
    mutex_.Await(absl::Condition(&more));
  }

 private:
  mutable absl::Mutex mutex_;
  uint64_t events_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

RecordCursor::RecordCursor(std::unique_ptr<rocksdb::Iterator> rows)
    : rows_(std::move(rows)) {}
RecordCursor::RecordCursor(RecordCursor&&) noexcept = default;
RecordCursor::~RecordCursor() = default;

bool RecordCursor::Valid() const { return rows_->Valid(); }
void RecordCursor::Next() { rows_->Next(); }
absl::string_view RecordCursor::key() const {
  return {rows_->key().data(), rows_->key().size()};
}
absl::string_view RecordCursor::value() const {
  return {rows_->value().data(), rows_->value().size()};
}
absl::Status RecordCursor::status() const {
  return FromStorage(rows_->status(), "reading the records");
}

Database::Database() = default;

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    db_->DestroyColumnFamilyHandle(family);
  }
  if (db_ != nullptr) db_->Close();
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database);
  database->env_ = rocksdb::NewCompositeEnv(options.file_system);
  database->listener_ = std::make_shared<FlushListener>();
  rocksdb::DBOptions process = ProcessOptions(options, database->env_.get());
  process.listeners.push_back(database->listener_);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : kFamilyNames) {
    families.emplace_back(name, FamilyOptions(options.flush_bytes));
  }
  const bool writes = options.mode == DatabaseMode::kCreate ||
                      options.mode == DatabaseMode::kWrite;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status s =
      writes ? rocksdb::DB::Open(process, options.path, families,
                                 &database->families_, &db)
             : rocksdb::DB::OpenForReadOnly(process, options.path, families,
                                            &database->families_, &db);
  if (!s.ok()) {
    return FromStorage(s, absl::StrCat("opening '", options.path, "'"));
  }
  database->db_.reset(db);
  if (database->families_[kRecords]->GetID() != kRecordsFamilyId) {
    return absl::DataLossError(absl::StrCat(
        "'", options.path, "': the records family has the number ",
        database->families_[kRecords]->GetID(), ", not ", kRecordsFamilyId));
  }
  return database;
}

absl::Status Database::AppendRecords(const std::vector<Row>& rows) {
  size_t bytes = 0;
  for (const Row& row : rows) {
    bytes += row.first.size() + row.second.size() + kRowHeader;
  }
  rocksdb::WriteBatch batch(kBatchHeader + bytes);
  for (const Row& row : rows) {
    const rocksdb::Status s =
        batch.Put(families_[kRecords], row.first, row.second);
    if (!s.ok()) return FromStorage(s, "building the write");
  }
  return FromStorage(db_->Write(rocksdb::WriteOptions(), &batch),
                     "writing the log");
}

// A flush syncs the old log once more, and a sync of ours beside a failure
// there trips one of RocksDB's assertions.
absl::Status Database::AwaitFlush() {
  for (;;) {
    const absl::StatusOr<uint64_t> events = listener_->Events();
    if (!events.ok()) return events.status();
    uint64_t unflushed = 0;
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      uint64_t tables = 0;
      if (db_->GetIntProperty(family,
                              rocksdb::DB::Properties::kNumImmutableMemTable,
                              &tables)) {
        unflushed += tables;
      }
    }
    if (unflushed == 0) return absl::OkStatus();
    listener_->AwaitMoreThan(*events);
  }
}

absl::Status Database::Sync() {
  if (absl::Status s = AwaitFlush(); !s.ok()) return s;
  return FromStorage(db_->SyncWAL(), "syncing the log");
}

absl::Status Database::Flush() {
  rocksdb::FlushOptions flush;
  flush.wait = false;
  return FromStorage(db_->Flush(flush, families_), "flushing the log");
}

absl::Status Database::PutMeta(const std::map<std::string, std::string>& rows) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, value] : rows) {
    const rocksdb::Status s = batch.Put(families_[kMeta], key, value);
    if (!s.ok()) return FromStorage(s, "building the write");
  }
  rocksdb::WriteOptions write;
  write.sync = true;
  return FromStorage(db_->Write(write, &batch), "writing the meta family");
}

absl::StatusOr<std::map<std::string, std::string>> Database::ReadMeta() const {
  const std::unique_ptr<rocksdb::Iterator> rows(
      db_->NewIterator(ScanOptions(), families_[kMeta]));
  std::map<std::string, std::string> meta;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    meta[rows->key().ToString()] = rows->value().ToString();
  }
  if (!rows->status().ok()) {
    return FromStorage(rows->status(), "reading the meta family");
  }
  return meta;
}

RecordCursor Database::ScanFrom(absl::string_view key) const {
  std::unique_ptr<rocksdb::Iterator> rows(
      db_->NewIterator(ScanOptions(), families_[kRecords]));
  rows->Seek(SliceOf(key));
  return RecordCursor(std::move(rows));
}

RecordCursor Database::AtLast() const {
  std::unique_ptr<rocksdb::Iterator> rows(
      db_->NewIterator(ScanOptions(), families_[kRecords]));
  rows->SeekToLast();
  return RecordCursor(std::move(rows));
}

absl::Status RemoveDatabase(const DatabaseOptions& options) {
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(options.file_system);
  rocksdb::Options all;
  all.env = env.get();
  all.info_log = std::make_shared<SilentLogger>();
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : kFamilyNames) {
    families.emplace_back(name, FamilyOptions(options.flush_bytes));
  }
  return FromStorage(rocksdb::DestroyDB(options.path, all, families),
                     absl::StrCat("removing '", options.path, "'"));
}

}  // namespace gpubinder
