#include "tools/bench/raw_log.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace gpubinder::bench {
namespace {

absl::Status StatusOf(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the raw log: ", status.ToString()));
}

}  // namespace

struct RawLog::Parts {
  std::unique_ptr<rocksdb::DB> db;
  uint64_t last = 0;
};

RawLog::RawLog(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RawLog::~RawLog() = default;

absl::StatusOr<std::unique_ptr<RawLog>> RawLog::Create(
    const std::string& directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  rocksdb::DB* db = nullptr;
  if (absl::Status s = StatusOf(rocksdb::DB::Open(options, directory, &db));
      !s.ok()) {
    return s;
  }
  auto parts = std::make_unique<Parts>();
  parts->db.reset(db);
  return std::unique_ptr<RawLog>(new RawLog(std::move(parts)));
}

absl::Status RawLog::Append(absl::Span<const absl::string_view> values,
                            Syncing syncing) {
  rocksdb::WriteBatch batch;
  for (const absl::string_view value : values) {
    char key[8];
    const uint64_t sequence = ++parts_->last;
    for (int i = 0; i < 8; ++i) {
      key[i] = static_cast<char>(sequence >> (56 - 8 * i));
    }
    const rocksdb::Status s =
        batch.Put(rocksdb::Slice(key, sizeof(key)),
                  rocksdb::Slice(value.data(), value.size()));
    if (!s.ok()) return StatusOf(s);
  }
  rocksdb::WriteOptions write;
  write.sync = syncing == Syncing::kEachBatch;
  return StatusOf(parts_->db->Write(write, &batch));
}

absl::Status RawLog::Flush() {
  return StatusOf(parts_->db->Flush(rocksdb::FlushOptions()));
}

absl::Status RawLog::Read(
    const std::function<void(absl::string_view)>& visit) const {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.readahead_size = 2 << 20;
  const std::unique_ptr<rocksdb::Iterator> rows(parts_->db->NewIterator(read));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    visit({rows->value().data(), rows->value().size()});
  }
  return StatusOf(rows->status());
}

}  // namespace gpubinder::bench
