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
#include "journal/aide.h"
#include "journal/chain.h"
#include "journal/compression.h"
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
// Fewer records are compressed and written sooner than a thread wakes up.
constexpr size_t kShareFrom = 16;

class UnpreparedVisitor : public RecordVisitor {
 public:
  explicit UnpreparedVisitor(
      const std::function<bool(const v1::Record&)>& visit)
      : visit_(visit) {}
  void Prepare(size_t, const v1::Record&) override {}
  bool Visit(size_t, const v1::Record& record) override {
    return visit_(record);
  }

 private:
  const std::function<bool(const v1::Record&)>& visit_;
};

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
  // `doing` says what failed.
  absl::Status Fail(absl::string_view doing, const absl::Status& status);
  // Records with the sequences from `first` on.
  absl::Status Write(uint64_t first, const std::vector<Row>& rows);
  absl::Status SyncThrough(uint64_t sequence, const Digest& digest);
  void Flush();
  absl::Status Decode(const ChainLink& link, v1::Record& record) const;

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

  // Writes and flushes; what the writer thread does itself to the database it
  // does while the aide has nothing to do. Given up first.
  Aide aide;
};

absl::Status Journal::Parts::Fail(absl::string_view doing,
                                  const absl::Status& status) {
  std::string text = absl::StrCat(doing, ": ", status.message());
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

absl::Status Journal::Parts::Write(uint64_t first,
                                   const std::vector<Row>& rows) {
  // What follows a failed write would follow a gap.
  if (absl::Status s = Failed(); !s.ok()) return s;
  const absl::Status written = database->AppendRecords(rows);
  if (written.ok()) return written;
  return Fail(
      absl::StrCat("appending records ", first, " to ", first + rows.size() - 1,
                   " to journal '", directory, "'"),
      written);
}

absl::Status Journal::Parts::SyncThrough(uint64_t sequence,
                                         const Digest& digest) {
  if (absl::Status s = Failed(); !s.ok()) return s;
  absl::Status done = database->Sync();
  if (done.ok()) done = mark->Write(sequence, digest, clock());
  if (!done.ok()) {
    return Fail(absl::StrCat("syncing journal '", directory,
                             "' through record ", sequence),
                done);
  }
  absl::MutexLock hold(&mutex);
  synced = sequence;
  return done;
}

// Right after a sync, and before whatever is written next: the log that it
// leaves behind is then synced to its end, so a broken write in an older log is
// always damage.
void Journal::Parts::Flush() {
  if (absl::Status s = database->Flush(); !s.ok()) {
    Fail(absl::StrCat("flushing journal '", directory, "'"), s).IgnoreError();
  }
}

absl::Status Journal::Parts::Decode(const ChainLink& link,
                                    v1::Record& record) const {
  if (absl::Status s = codec->Decode(link.stored, record); !s.ok()) return s;
  record.set_sequence(link.sequence);
  record.set_previous_digest(link.header.previous.data(),
                             link.header.previous.size());
  record.set_journal_uid(uid);
  return absl::OkStatus();
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
    const std::string doing =
        absl::StrCat("creating journal '", options.directory, "'");
    const absl::Status s = FromStorage(made, doing);
    if (!absl::IsDataLoss(s)) return s;
    // A parent that is not there is no damage.
    return absl::FailedPreconditionError(
        absl::StrCat(doing, ": its parent directory is not there"));
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
  if (!parts_->mark.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "journal '", parts_->directory, "' is opened for reading only"));
  }
  const bool sync = parts_->unsynced_bytes > parts_->flush_bytes;
  const bool shared = records.size() >= kShareFrom;
  if (sync || !shared) parts_->aide.Drain();
  uint64_t last;
  Digest digest;
  {
    absl::MutexLock hold(&parts_->mutex);
    if (!parts_->failed.ok()) return parts_->failed;
    last = parts_->last;
    digest = parts_->last_digest;
  }
  if (sync) {
    parts_->unsynced_bytes = parts_->unflushed_bytes = 0;
    parts_->aide.Post([parts = parts_.get(), last, digest] {
      if (parts->SyncThrough(last, digest).ok()) parts->Flush();
    });
  }
  if (records.empty()) return absl::OkStatus();
  const uint64_t first_new = last + 1;
  auto compression =
      std::make_shared<Compression>(*parts_->codec, first_new, records);
  if (shared) parts_->aide.Post([compression] { compression->Help(); });
  compression->Help();
  std::vector<Row> rows;
  rows.reserve(records.size());
  uint64_t bytes = 0;
  for (absl::StatusOr<std::string>& stored : compression->Wait()) {
    if (!stored.ok()) return stored.status();
    v1::Record& record = records[rows.size()];
    record.set_sequence(++last);
    record.set_previous_digest(digest.data(), digest.size());
    record.set_journal_uid(parts_->uid);
    digest = Seal(last, digest, *stored);
    bytes += stored->size() + kRowOverhead;
    rows.emplace_back(SequenceKey(last), *std::move(stored));
  }
  parts_->unsynced_bytes += bytes;
  parts_->unflushed_bytes += bytes;
  if (shared) {
    parts_->aide.Post(
        [parts = parts_.get(), first_new, rows = std::move(rows)] {
          parts->Write(first_new, rows).IgnoreError();
        });
  } else if (absl::Status s = parts_->Write(first_new, rows); !s.ok()) {
    return s;
  }
  absl::MutexLock hold(&parts_->mutex);
  parts_->last = last;
  parts_->last_digest = digest;
  return absl::OkStatus();
}

absl::Status Journal::Sync() {
  parts_->aide.Drain();
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
  if (absl::Status s = parts_->SyncThrough(last, digest); !s.ok()) return s;
  parts_->unsynced_bytes = 0;
  if (parts_->unflushed_bytes >= parts_->flush_bytes) {
    parts_->unflushed_bytes = 0;
    parts_->aide.Post([parts = parts_.get()] { parts->Flush(); });
  }
  return absl::OkStatus();
}

absl::Status Journal::Read(
    uint64_t from, const std::function<bool(const v1::Record&)>& visit) const {
  UnpreparedVisitor visitor(visit);
  return Read(from, visitor);
}

absl::Status Journal::Read(uint64_t from, RecordVisitor& visitor) const {
  ChainRange range{parts_->directory, from, 0, std::nullopt};
  Digest last_digest;
  parts_->aide.Drain();
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
      if (absl::Status s = parts_->Decode(link, *record); !s.ok()) return s;
      return take(*record) ? absl::OkStatus() : absl::CancelledError();
    });
  };
  if (range.to - from < kReadAheadFrom) {
    v1::Record record;
    return walk([&record] { return &record; },
                [&visitor](const v1::Record& read) {
                  visitor.Prepare(0, read);
                  return visitor.Visit(0, read);
                });
  }
  RecordBelt belt(visitor);
  absl::Status walked;
  std::thread reader([&] {
    walked = walk([&belt] { return belt.NextSlot(); },
                  [&belt](const v1::Record& record) {
                    belt.Put(record.ByteSizeLong());
                    return true;
                  });
    belt.End();
  });
  const bool visited_all = belt.VisitAll();
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
