// SYNCED, the small file beside the database that says how far the journal
// was synced. RocksDB cannot tell a lost synced tail from one that was never
// written; this can.
//
// Two slots of 64 bytes, at 0 and 512, written in turn, so that a torn write
// leaves the other one:
//   8 "GBSYNCED", 4 format version of the journal, 8 journal uid,
//   8 generation, 8 sequence, 16 digest, 12 first bytes of the SHA-256 of that
// Numbers are little endian. Later formats keep magic, version and checksum
// where they are: an older build refuses a newer journal by this file.

#ifndef JOURNAL_SYNCED_MARK_H_
#define JOURNAL_SYNCED_MARK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "journal/record.h"

namespace rocksdb {
class FileSystem;
class FSRandomRWFile;
}  // namespace rocksdb

namespace gpubinder {

struct SyncedMark {
  uint32_t format = 0;
  std::string journal_uid;
  uint64_t generation = 0;
  uint64_t sequence = 0;
  Digest digest = {};
};

// Writes a new file with one slot, synced. Creates or replaces `path`.
absl::Status CreateSyncedMark(rocksdb::FileSystem& files,
                              const std::string& path, const SyncedMark& mark);

// The newer of the whole slots. NOT_FOUND: no file. DATA_LOSS: no whole slot.
absl::StatusOr<SyncedMark> LoadSyncedMark(rocksdb::FileSystem& files,
                                          const std::string& path);

// Keeps the file open and writes the slots in turn. For one thread.
class SyncedMarkWriter {
 public:
  static absl::StatusOr<SyncedMarkWriter> Open(rocksdb::FileSystem& files,
                                               const std::string& path,
                                               SyncedMark last);
  SyncedMarkWriter(SyncedMarkWriter&&) noexcept;
  SyncedMarkWriter& operator=(SyncedMarkWriter&&) noexcept;
  ~SyncedMarkWriter();

  // Writes the next slot; syncs the file if a second has gone by since it last
  // did, or the clock went back: a process that dies loses nothing by that,
  // a machine that dies loses at most that second of marks.
  absl::Status Write(uint64_t sequence, const Digest& digest, absl::Time now);

 private:
  SyncedMarkWriter();
  std::unique_ptr<rocksdb::FSRandomRWFile> file_;
  std::string path_;
  SyncedMark last_;
  absl::Time file_synced_ = absl::InfinitePast();
};

}  // namespace gpubinder

#endif  // JOURNAL_SYNCED_MARK_H_
