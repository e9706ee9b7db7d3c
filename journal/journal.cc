#include "journal/journal.h"

#include <rocksdb/file_system.h>

#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "journal/chain.h"
#include "journal/database.h"
#include "journal/directory_lock.h"
#include "journal/opening.h"
#include "journal/record.h"
#include "journal/record_belt.h"
#include "journal/storage_status.h"
#include "journal/synced_mark.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

// What a row costs in the log and the memtable beside its bytes.
constexpr uint64_t kRowOverhead = 100;
// Fewer records are read sooner than a thread starts.
constexpr uint64_t kReadAheadFrom = 256;

}  // namespace

struct Journal::Parts {
  Parts(DirectoryLock held, OpenedJournal opened)
      : lock(std::move(held)),
        database(std::move(opened.database)),
        codec(std::move(opened.codec)),
        uid(opened.mark.journal_uid),
        note(std::move(opened.note)),
        last(opened.last),
        last_digest(opened.last_digest) {}

  absl::Status Failed() const {
    absl::MutexLock hold(&mutex);
    return failed;
  }
  absl::Status Fail(const absl::Status& status);
  absl::Status WriteRows(const std::vector<Row>& rows);
  absl::Status SyncAll(uint64_t through, const Digest& digest);

  // Before the database, so that it is given up after it is closed.
  DirectoryLock lock;
  std::unique_ptr<Database> database;
  std::unique_ptr<RecordCodec> codec;
  std::string directory;
  std::shared_ptr<rocksdb::FileSystem> files;
  std::optional<SyncedMarkWriter> mark;  // none: read-only
  std::function<absl::Time()> clock;
  std::string uid;
  std::string note;

  // The writer thread's own.
  uint64_t flush_bytes = 0;
  uint64_t unsynced_bytes = 0;
  uint64_t unflushed_bytes = 0;

  mutable absl::Mutex mutex;
  absl::Status failed ABSL_GUARDED_BY(mutex);
  uint64_t last ABSL_GUARDED_BY(mutex);
  uint64_t synced ABSL_GUARDED_BY(mutex) = 0;
  Digest last_digest ABSL_GUARDED_BY(mutex);
};

absl::Status Journal::Parts::Fail(const absl::Status& status) {
  std::string text(status.message());
  uint64_t free_bytes = 0;
  if (absl::IsResourceExhausted(status) &&
      files->GetFreeSpace(directory, rocksdb::IOOptions(), &free_bytes, nullptr)
          .ok()) {
    absl::StrAppend(&text, "; ", free_bytes, " bytes are free there");
  }
  absl::MutexLock hold(&mutex);
  failed = absl::Status(status.code(), text);
  return failed;
}

absl::Status Journal::Parts::WriteRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const uint64_t bytes = row.first.size() + row.second.size() + kRowOverhead;
    unsynced_bytes += bytes;
    unflushed_bytes += bytes;
  }
  return database->AppendRecords(rows);
}

// The flush comes right after the sync: the log that it leaves behind is then
// synced to its end, so a broken write in an older log is always damage.
absl::Status Journal::Parts::SyncAll(uint64_t through, const Digest& digest) {
  if (absl::Status s = database->Sync(); !s.ok()) return s;
  if (absl::Status s = mark->Write(through, digest, clock()); !s.ok()) {
    return s;
  }
  unsynced_bytes = 0;
  if (unflushed_bytes < flush_bytes) return absl::OkStatus();
  unflushed_bytes = 0;
  return database->Flush();
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(
    const JournalOptions& options) {
  BINDER_CHECK(options.random != nullptr);
  BINDER_CHECK(options.clock != nullptr);
  BINDER_CHECK(options.flush_bytes > 0);
  const std::shared_ptr<rocksdb::FileSystem> files =
      options.file_system != nullptr ? options.file_system
                                     : rocksdb::FileSystem::Default();
  const rocksdb::IOStatus made = files->CreateDirIfMissing(
      options.directory, rocksdb::IOOptions(), nullptr);
  if (!made.ok()) {
    const absl::Status s = FromStorage(
        made, absl::StrCat("creating journal '", options.directory, "'"));
    // A parent that is not there is no damage.
    return absl::IsDataLoss(s) ? absl::FailedPreconditionError(s.message()) : s;
  }
  absl::StatusOr<DirectoryLock> lock =
      DirectoryLock::ForWriter(options.directory);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<OpenedJournal> opened = OpenForWriting(options, files);
  if (!opened.ok()) return opened.status();
  absl::StatusOr<SyncedMarkWriter> mark = SyncedMarkWriter::Open(
      *files, SyncedPath(options.directory), opened->mark);
  if (!mark.ok()) return mark.status();
  const uint64_t last = opened->last;
  // RocksDB has put what it replayed into synced table files.
  if (absl::Status s = mark->Write(last, opened->last_digest, options.clock());
      !s.ok()) {
    return s;
  }
  auto parts = std::make_unique<Parts>(*std::move(lock), *std::move(opened));
  parts->directory = options.directory;
  parts->files = files;
  parts->mark = *std::move(mark);
  parts->clock = options.clock;
  parts->flush_bytes = options.flush_bytes;
  {
    absl::MutexLock hold(&parts->mutex);
    parts->synced = last;
  }
  return std::unique_ptr<Journal>(new Journal(std::move(parts)));
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::OpenReadOnly(
    absl::string_view directory) {
  const std::string name(directory);
  absl::StatusOr<DirectoryLock> lock = DirectoryLock::ForReader(name);
  if (!lock.ok()) return lock.status();
  const std::shared_ptr<rocksdb::FileSystem> files =
      rocksdb::FileSystem::Default();
  absl::StatusOr<OpenedJournal> opened = OpenForReading(name, files);
  if (!opened.ok()) return opened.status();
  const uint64_t synced = opened->mark.sequence;
  auto parts = std::make_unique<Parts>(*std::move(lock), *std::move(opened));
  parts->directory = name;
  parts->files = files;
  {
    absl::MutexLock hold(&parts->mutex);
    parts->synced = synced;
  }
  return std::unique_ptr<Journal>(new Journal(std::move(parts)));
}

Journal::Journal(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Journal::~Journal() = default;

absl::Status Journal::Append(absl::Span<v1::Record> records) {
  if (absl::Status s = parts_->Failed(); !s.ok()) return s;
  if (!parts_->mark.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "journal '", parts_->directory, "' is opened for reading only"));
  }
  if (parts_->unsynced_bytes > parts_->flush_bytes) {
    if (absl::Status s = Sync(); !s.ok()) return s;
  }
  uint64_t last;
  Digest digest;
  {
    absl::MutexLock hold(&parts_->mutex);
    last = parts_->last;
    digest = parts_->last_digest;
  }
  const uint64_t first_new = last + 1;
  std::vector<Row> rows;
  rows.reserve(records.size());
  for (v1::Record& record : records) {
    absl::StatusOr<EncodedRecord> encoded =
        parts_->codec->Encode(++last, digest, record);
    if (!encoded.ok()) return encoded.status();
    record.set_journal_uid(parts_->uid);
    digest = encoded->digest;
    rows.emplace_back(SequenceKey(last), std::move(encoded->stored));
  }
  if (rows.empty()) return absl::OkStatus();
  if (absl::Status s = parts_->WriteRows(rows); !s.ok()) {
    return parts_->Fail(absl::Status(
        s.code(),
        absl::StrCat("appending records ", first_new, " to ", last,
                     " to journal '", parts_->directory, "': ", s.message())));
  }
  absl::MutexLock hold(&parts_->mutex);
  parts_->last = last;
  parts_->last_digest = digest;
  return absl::OkStatus();
}

absl::Status Journal::Sync() {
  uint64_t last;
  Digest digest;
  {
    absl::MutexLock hold(&parts_->mutex);
    if (!parts_->failed.ok()) return parts_->failed;
    last = parts_->last;
    digest = parts_->last_digest;
    if (parts_->mark.has_value() && parts_->synced == last) {
      return absl::OkStatus();
    }
  }
  if (!parts_->mark.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "journal '", parts_->directory, "' is opened for reading only"));
  }
  if (absl::Status s = parts_->SyncAll(last, digest); !s.ok()) {
    return parts_->Fail(absl::Status(
        s.code(), absl::StrCat("syncing journal '", parts_->directory,
                               "' through record ", last, ": ", s.message())));
  }
  absl::MutexLock hold(&parts_->mutex);
  parts_->synced = last;
  return absl::OkStatus();
}

absl::Status Journal::Read(
    uint64_t from, const std::function<bool(const v1::Record&)>& visit) const {
  ChainRange range{parts_->directory, from, 0, std::nullopt};
  Digest last_digest;
  {
    absl::MutexLock hold(&parts_->mutex);
    if (!parts_->failed.ok()) return parts_->failed;
    range.to = parts_->last;
    last_digest = parts_->last_digest;
  }
  if (from < 1 || from > range.to + 1) {
    return absl::OutOfRangeError(
        absl::StrCat("journal '", parts_->directory, "' holds records 1 to ",
                     range.to, ", so reading cannot begin at ", from));
  }
  if (from == range.to + 1) return absl::OkStatus();
  // The record before tells what the first one has to name.
  if (from == 1) {
    range.previous = GenesisDigest(parts_->uid);
  } else {
    range.from = from - 1;
  }
  // Decodes each record into what `next` gives, null to end the walk, and hands
  // it to `take` until that returns false.
  const auto walk = [&](auto next, auto take) {
    return WalkChain(*parts_->database, range, [&](const ChainLink& link) {
      if (link.sequence == range.to && link.header.own != last_digest) {
        return absl::DataLossError("its digest is not the one it was given");
      }
      if (link.sequence < from) return absl::OkStatus();
      v1::Record* const record = next();
      if (record == nullptr) return absl::CancelledError();
      absl::Status s = parts_->codec->Decode(link.stored, *record);
      if (!s.ok()) return s;
      record->set_sequence(link.sequence);
      record->set_previous_digest(link.header.previous.data(),
                                  link.header.previous.size());
      record->set_journal_uid(parts_->uid);
      return take(*record) ? absl::OkStatus() : absl::CancelledError();
    });
  };
  if (range.to - from < kReadAheadFrom) {
    v1::Record record;
    return walk([&record] { return &record; }, std::cref(visit));
  }
  RecordBelt belt;
  absl::Status walked;
  std::thread reader([&] {
    walked = walk([&belt] { return belt.NextSlot(); },
                  [&belt](const v1::Record& record) {
                    belt.Put(record.ByteSizeLong());
                    return true;
                  });
    belt.End();
  });
  const bool visited_all = belt.VisitAll(visit);
  reader.join();
  // What the reader met beyond the last one visited is nobody's business.
  return visited_all ? walked : absl::OkStatus();
}

uint64_t Journal::first_sequence() const { return 1; }

uint64_t Journal::last_sequence() const {
  absl::MutexLock hold(&parts_->mutex);
  return parts_->last;
}

uint64_t Journal::synced_sequence() const {
  absl::MutexLock hold(&parts_->mutex);
  return parts_->synced;
}

std::string Journal::last_digest() const {
  absl::MutexLock hold(&parts_->mutex);
  return std::string(parts_->last_digest.data(), parts_->last_digest.size());
}

const std::string& Journal::uid() const { return parts_->uid; }
const std::string& Journal::opening_note() const { return parts_->note; }

}  // namespace gpubinder
