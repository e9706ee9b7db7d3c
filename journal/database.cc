#include "journal/database.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include "absl/strings/str_cat.h"
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
  const rocksdb::DBOptions process =
      ProcessOptions(options, database->env_.get());
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

absl::Status Database::Sync() {
  return FromStorage(db_->SyncWAL(), "syncing the log");
}

absl::Status Database::Flush() {
  rocksdb::FlushOptions flush;
  flush.wait = true;
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
