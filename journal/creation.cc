#include "journal/creation.h"

#include <rocksdb/file_system.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "journal/database.h"
#include "journal/dictionary.h"
#include "journal/opening.h"
#include "journal/record.h"
#include "journal/storage_status.h"

namespace gpubinder {
namespace {

absl::Status MakeDatabase(const DatabaseOptions& options,
                          const std::map<std::string, std::string>& meta) {
  // What an earlier, interrupted creation left.
  if (options.file_system
          ->FileExists(options.path, rocksdb::IOOptions(), nullptr)
          .ok()) {
    if (absl::Status s = RemoveDatabase(options); !s.ok()) return s;
  }
  const absl::StatusOr<std::unique_ptr<Database>> database =
      Database::Open(options);
  if (!database.ok()) return database.status();
  return (*database)->PutMeta(meta);
}

rocksdb::IOStatus SyncDirectory(rocksdb::FileSystem& files,
                                const std::string& directory) {
  const rocksdb::IOOptions io;
  std::unique_ptr<rocksdb::FSDirectory> opened;
  rocksdb::IOStatus s = files.NewDirectory(directory, io, &opened, nullptr);
  if (s.ok()) s = opened->Fsync(io, nullptr);
  return s;
}

}  // namespace

std::string DatabasePath(absl::string_view directory) {
  return absl::StrCat(directory, "/db");
}

absl::StatusOr<SyncedMark> CreateJournal(
    const JournalOptions& options,
    const std::shared_ptr<rocksdb::FileSystem>& files) {
  const std::string uid = absl::StrFormat("%08x", options.random() >> 32);
  const SyncedMark mark{.format = kJournalFormat,
                        .journal_uid = uid,
                        .generation = 0,
                        .sequence = 0,
                        .digest = GenesisDigest(uid)};
  const std::string database = DatabasePath(options.directory);
  const std::string synced = SyncedPath(options.directory);
  const std::string new_database = database + ".new";
  const std::string new_synced = synced + ".new";
  if (absl::Status s = MakeDatabase(
          {new_database, DatabaseMode::kCreate, options.flush_bytes, files},
          {{kMetaFormat, absl::StrCat(kJournalFormat)},
           {kMetaJournalUid, uid},
           {kMetaClusterUid, options.cluster_uid},
           {kMetaDictionary, absl::StrCat(kDictionaryId)},
           {absl::StrCat(kMetaDictionaryPrefix, kDictionaryId),
            std::string(Dictionary())}});
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CreateSyncedMark(*files, new_synced, mark); !s.ok()) {
    return s;
  }
  const rocksdb::IOOptions io;
  rocksdb::IOStatus s = files->RenameFile(new_synced, synced, io, nullptr);
  if (s.ok()) s = SyncDirectory(*files, options.directory);
  if (s.ok()) s = files->RenameFile(new_database, database, io, nullptr);
  if (s.ok()) s = SyncDirectory(*files, options.directory);
  if (!s.ok()) {
    return FromStorage(
        s, absl::StrCat("creating journal '", options.directory, "'"));
  }
  return mark;
}

}  // namespace gpubinder
