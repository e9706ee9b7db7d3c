// What Open has to find out before a journal may be used: whether the
// directory is new, whole, torn or damaged.

#ifndef JOURNAL_OPENING_H_
#define JOURNAL_OPENING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "journal/database.h"
#include "journal/directory_lock.h"
#include "journal/journal.h"
#include "journal/record.h"
#include "journal/synced_mark.h"

namespace gpubinder {

// Of the directory, in SYNCED and in the meta family. A journal with a higher
// number is refused; every lower one opens.
inline constexpr uint32_t kJournalFormat = 1;

struct OpenedJournal {
  std::unique_ptr<Database> database;
  std::unique_ptr<RecordCodec> codec;
  SyncedMark mark;
  uint64_t last = 0;
  Digest last_digest = {};
  std::string note;
};

// SYNCED in the directory.
std::string SyncedPath(absl::string_view directory);

// Both are called with the directory's lock held. Errors as Journal::Open.
absl::StatusOr<OpenedJournal> OpenForWriting(
    const JournalOptions& options,
    const std::shared_ptr<rocksdb::FileSystem>& files);
absl::StatusOr<OpenedJournal> OpenForReading(
    const std::string& directory,
    const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace gpubinder

#endif  // JOURNAL_OPENING_H_
