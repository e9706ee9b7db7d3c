// Makes a new, empty journal in a directory, and names what is in one.

#ifndef JOURNAL_CREATION_H_
#define JOURNAL_CREATION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "journal/journal.h"
#include "journal/synced_mark.h"

namespace gpubinder {

// Keys of the meta family. A dictionary's key ends in its id.
inline constexpr char kMetaFormat[] = "format";
inline constexpr char kMetaJournalUid[] = "journal_uid";
inline constexpr char kMetaClusterUid[] = "cluster_uid";
inline constexpr char kMetaDictionary[] = "dictionary";
inline constexpr char kMetaDictionaryPrefix[] = "dictionary/";

// The database in the journal's directory.
std::string DatabasePath(absl::string_view directory);

// A crash on the way leaves what the next call starts over from: SYNCED is put
// in place before the database.
absl::StatusOr<SyncedMark> CreateJournal(
    const JournalOptions& options,
    const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace gpubinder

#endif  // JOURNAL_CREATION_H_
