// The journal: an append-only sequence of records in one directory that
// survives crashes.
//
//   Journal::Open -> Append a group -> Sync -> act on it -> Read it again
//
// Sequences are dense from 1 and each record names the digest of the one
// before it. What was synced is there after any crash, or Open and Read say
// DATA_LOSS with the first missing sequence: a damaged journal never passes
// for a shorter healthy one. README.md has the format.
//
// Threads: one writer thread calls Append and Sync. Read and the accessors may
// be called from any thread at any time, also while a Sync runs.

#ifndef JOURNAL_JOURNAL_H_
#define JOURNAL_JOURNAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "journal/record_visitor.h"
#include "proto/journal.pb.h"

namespace rocksdb {
class FileSystem;
}  // namespace rocksdb

namespace gpubinder {

struct JournalOptions {
  // Created if it is not there; its parent must be.
  std::string directory;
  // The uid of the cluster that the records are about. A directory that was
  // made for another cluster is refused. Empty: not known, not checked.
  std::string cluster_uid;
  // Asked once, for the journal's uid, when the directory is created.
  std::function<uint64_t()> random;
  // Wall time, for how often the SYNCED mark itself is synced.
  std::function<absl::Time()> clock;
  // So many bytes are appended before the write-ahead log is flushed to table
  // files: what an Open has to replay, a few milliseconds for the default.
  uint64_t flush_bytes = 8 << 20;
  // Null: the machine's own. Tests put faults here.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

class Journal {
 public:
  // Opens the directory's journal, or creates an empty one. Costs a replay of
  // at most a few flush_bytes. Errors: UNAVAILABLE, another process holds the
  // lock; FAILED_PRECONDITION, made by a newer build, for another cluster, or
  // the disk refuses; RESOURCE_EXHAUSTED, disk full or out of descriptors;
  // DATA_LOSS, damaged: names the last good and the first missing sequence.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(
      const JournalOptions& options);

  // For offline tools: changes nothing in the directory. Holds a shared lock,
  // so a writer cannot start meanwhile; UNAVAILABLE while one runs. Append
  // and Sync on it are FAILED_PRECONDITION.
  static absl::StatusOr<std::unique_ptr<Journal>> OpenReadOnly(
      absl::string_view directory);

  // Closes without a sync.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Appends all of them or none, and fills their sequence, previous_digest
  // and journal_uid. They are durable only after the next Sync, except that
  // more than flush_bytes of unsynced records begin to be synced here. A record
  // over 64 MiB is INVALID_ARGUMENT and changes nothing. Any other error is
  // final: from then on Append, Sync and Read return it again. A large group is
  // compressed by two threads and written after the return; an error of that
  // comes with a later Append or at the latest with the next Sync or Read.
  // RESOURCE_EXHAUSTED: the disk is full.
  absl::Status Append(absl::Span<v1::Record> records);

  // All that was appended is on disk when this returns OK. Every flush_bytes it
  // begins a flush, which the next Sync waits for, some 20 ms. An error is
  // final, as with Append.
  absl::Status Sync();

  // Visits each record from `from` on, in order, to the last one appended
  // before the call, until Visit returns false. Density, digests and checksums
  // are checked on the way. A long stretch is read ahead by a thread of the
  // call's own, which also prepares what the visitor has no time for; a few
  // that are prepared may never be visited. OUT_OF_RANGE: `from` is before
  // first_sequence() or after last_sequence() + 1. DATA_LOSS: damage; what was
  // visited before it is right.
  absl::Status Read(uint64_t from, RecordVisitor& visitor) const;
  // The same without preparation.
  absl::Status Read(uint64_t from,
                    const std::function<bool(const v1::Record&)>& visit) const;

  // The first record kept; 1 until there is one.
  uint64_t first_sequence() const;
  // 0: empty.
  uint64_t last_sequence() const;
  uint64_t synced_sequence() const;
  // The 16 bytes that the next record's previous_digest will be.
  std::string last_digest() const;
  // 8 hex digits, made with the directory.
  const std::string& uid() const;
  // Empty unless Open cut a torn, never synced tail: then what was cut. The
  // caller appends it as a v1::Note, since only it knows a record's time,
  // epoch and versions.
  const std::string& opening_note() const;

 private:
  struct Parts;
  explicit Journal(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpubinder

#endif  // JOURNAL_JOURNAL_H_
