#include "journal/opening.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "journal/chain.h"
#include "journal/creation.h"
#include "journal/storage_status.h"
#include "journal/wal_scan.h"

namespace gpubinder {
namespace {

struct Opening {
  std::string directory;
  std::shared_ptr<rocksdb::FileSystem> files;
  DatabaseMode mode = DatabaseMode::kRead;
  uint64_t flush_bytes = 8 << 20;

  std::string database() const { return DatabasePath(directory); }
  DatabaseOptions With(DatabaseMode with) const {
    return {database(), with, flush_bytes, files};
  }
};

absl::Status CheckFormat(absl::string_view directory, uint64_t format) {
  if (format <= kJournalFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "journal '", directory, "' has format ", format, ", this build reads ",
      "formats up to ", kJournalFormat,
      "; start the newer build that wrote it, or give another directory"));
}

// The last record that a walk from the first one reaches; 0 if nothing can be
// read. Damage is rare, so that this reads all of the journal does not matter.
uint64_t LastGood(const Opening& opening, const std::string& uid) {
  const absl::StatusOr<std::unique_ptr<Database>> database =
      Database::Open(opening.With(DatabaseMode::kReadDamaged));
  if (!database.ok()) return 0;
  uint64_t last_good = 0;
  ChainRange all{opening.directory, 1, UINT64_MAX, std::nullopt};
  if (!uid.empty()) all.previous = GenesisDigest(uid);
  WalkChain(**database, all, [&](const ChainLink& link) {
    last_good = link.sequence;
    return absl::OkStatus();
  }).IgnoreError();
  return last_good;
}

// Adds to a DATA_LOSS which records are concerned.
absl::Status Diagnose(const Opening& opening, const std::string& uid,
                      const absl::Status& found) {
  if (!absl::IsDataLoss(found)) return found;
  return DamageError({opening.directory, LastGood(opening, uid),
                      std::string(found.message())});
}

absl::StatusOr<uint64_t> LastSequence(const Database& database) {
  const RecordCursor last = database.AtLast();
  if (absl::Status s = last.status(); !s.ok()) return s;
  if (!last.Valid()) return 0;
  const absl::StatusOr<uint64_t> sequence = SequenceOfKey(last.key());
  if (!sequence.ok()) return absl::DataLossError(sequence.status().message());
  return *sequence;
}

// Says whether what is torn off can be spared: only if all that SYNCED names
// comes before it.
absl::StatusOr<std::string> JudgeTornTail(const Opening& opening,
                                          const WalScan& scan,
                                          const SyncedMark& mark) {
  uint64_t last = scan.last_sequence;
  if (last == 0) {
    const absl::StatusOr<std::unique_ptr<Database>> database =
        Database::Open(opening.With(DatabaseMode::kReadPastTornTail));
    if (!database.ok()) return database.status();
    const absl::StatusOr<uint64_t> in_tables = LastSequence(**database);
    if (!in_tables.ok()) return in_tables.status();
    last = *in_tables;
  }
  const std::string torn =
      absl::StrCat(scan.torn->torn_bytes, " torn bytes at byte ",
                   scan.torn->whole_bytes, " of '", scan.torn->path, "'");
  if (last < mark.sequence) {
    return absl::DataLossError(absl::StrCat(
        torn, ", and SYNCED says that record ", mark.sequence, " was synced"));
  }
  return absl::StrCat("cut ", torn, ", after record ", last,
                      "; what they held was never synced");
}

absl::Status Cut(rocksdb::FileSystem& files, const TornTail& torn) {
  const rocksdb::IOOptions io;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus s = files.ReopenWritableFile(
      torn.path, rocksdb::FileOptions(), &file, nullptr);
  if (s.ok()) s = file->Truncate(torn.whole_bytes, io, nullptr);
  if (s.ok()) s = file->Sync(io, nullptr);
  if (s.ok()) s = file->Close(io, nullptr);
  return FromStorage(s,
                     absl::StrCat("cutting the torn end of '", torn.path, "'"));
}

absl::Status ReadCodec(const Opening& opening, OpenedJournal& opened,
                       absl::string_view cluster_uid) {
  absl::StatusOr<std::map<std::string, std::string>> meta =
      opened.database->ReadMeta();
  if (!meta.ok()) return meta.status();
  uint32_t format = 0;
  if (!absl::SimpleAtoi((*meta)[kMetaFormat], &format)) {
    return absl::DataLossError(absl::StrCat("the meta family's format is '",
                                            (*meta)[kMetaFormat], "'"));
  }
  if (absl::Status s = CheckFormat(opening.directory, format); !s.ok()) {
    return s;
  }
  if ((*meta)[kMetaJournalUid] != opened.mark.journal_uid) {
    return absl::DataLossError(
        absl::StrCat("SYNCED is of journal ", opened.mark.journal_uid,
                     ", the database of ", (*meta)[kMetaJournalUid]));
  }
  const std::string& made_for = (*meta)[kMetaClusterUid];
  if (!cluster_uid.empty() && made_for != cluster_uid) {
    if (!made_for.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "journal '", opening.directory, "' was made for cluster '", made_for,
          "', this is cluster '", cluster_uid, "'; give another directory"));
    }
    if (absl::Status s = opened.database->PutMeta(
            {{kMetaClusterUid, std::string(cluster_uid)}});
        !s.ok()) {
      return s;
    }
  }
  std::map<uint16_t, std::string> dictionaries;
  for (const auto& [key, value] : *meta) {
    absl::string_view id = key;
    uint32_t number = 0;
    if (!absl::ConsumePrefix(&id, kMetaDictionaryPrefix)) continue;
    if (!absl::SimpleAtoi(id, &number)) continue;
    dictionaries[static_cast<uint16_t>(number)] = value;
  }
  uint32_t current = 0;
  if (!absl::SimpleAtoi((*meta)[kMetaDictionary], &current) ||
      dictionaries.count(static_cast<uint16_t>(current)) == 0) {
    return absl::DataLossError(
        absl::StrCat("the meta family holds no dictionary '",
                     (*meta)[kMetaDictionary], "'"));
  }
  opened.codec = std::make_unique<RecordCodec>(dictionaries, current);
  return absl::OkStatus();
}

// The records from the mark or the log's first one on, whichever is earlier:
// all that a crash can have touched.
absl::Status CheckTail(const Opening& opening, const WalScan& scan,
                       OpenedJournal& opened) {
  const absl::StatusOr<uint64_t> last = LastSequence(*opened.database);
  if (!last.ok()) return last.status();
  opened.last = *last;
  opened.last_digest = GenesisDigest(opened.mark.journal_uid);
  const SyncedMark& mark = opened.mark;
  if (*last < mark.sequence) {
    return absl::DataLossError(
        absl::StrCat("SYNCED says that record ", mark.sequence, " was synced"));
  }
  if (scan.last_sequence > *last) {
    return absl::DataLossError(
        absl::StrCat("the write-ahead log holds record ", scan.last_sequence));
  }
  if (*last == 0) return absl::OkStatus();
  const RecordCursor first = opened.database->ScanFrom("");
  if (!first.Valid() || first.key() != SequenceKey(1)) {
    return absl::DataLossError("the records do not begin with record 1");
  }
  ChainRange range{opening.directory, mark.sequence, *last, std::nullopt};
  if (scan.first_sequence > 0) {
    range.from = std::min(range.from, scan.first_sequence - 1);
  }
  if (range.from <= 1) {
    range.from = 1;
    range.previous = opened.last_digest;
  }
  return WalkChain(*opened.database, range, [&](const ChainLink& link) {
    opened.last_digest = link.header.own;
    if (link.sequence == mark.sequence && link.header.own != mark.digest) {
      return absl::DataLossError("SYNCED has another digest for it");
    }
    return absl::OkStatus();
  });
}

absl::Status OpenExisting(const Opening& opening, const std::string& cluster,
                          OpenedJournal& opened) {
  const absl::StatusOr<WalScan> scan =
      ScanWal(*opening.files, opening.database());
  if (!scan.ok()) return scan.status();
  DatabaseMode mode = opening.mode;
  if (scan->torn.has_value()) {
    absl::StatusOr<std::string> note =
        JudgeTornTail(opening, *scan, opened.mark);
    if (!note.ok()) return note.status();
    opened.note = *std::move(note);
    if (mode == DatabaseMode::kRead) {
      mode = DatabaseMode::kReadPastTornTail;
    } else {
      // RocksDB refuses some torn ends.
      if (absl::Status s = Cut(*opening.files, *scan->torn); !s.ok()) return s;
    }
  }
  absl::StatusOr<std::unique_ptr<Database>> database =
      Database::Open(opening.With(mode));
  if (!database.ok()) return database.status();
  opened.database = *std::move(database);
  if (absl::Status s = ReadCodec(opening, opened, cluster); !s.ok()) return s;
  return CheckTail(opening, *scan, opened);
}

absl::StatusOr<OpenedJournal> Finish(const Opening& opening,
                                     const std::string& cluster,
                                     SyncedMark mark) {
  if (absl::Status s = CheckFormat(opening.directory, mark.format); !s.ok()) {
    return s;
  }
  OpenedJournal opened;
  opened.mark = std::move(mark);
  const absl::Status s = OpenExisting(opening, cluster, opened);
  if (s.ok()) return opened;
  // Its locks are in the way of a second look.
  opened.database.reset();
  return Diagnose(opening, opened.mark.journal_uid, s);
}

}  // namespace

std::string SyncedPath(absl::string_view directory) {
  return absl::StrCat(directory, "/SYNCED");
}

absl::StatusOr<OpenedJournal> OpenForWriting(
    const JournalOptions& options,
    const std::shared_ptr<rocksdb::FileSystem>& files) {
  const Opening opening{options.directory, files, DatabaseMode::kWrite,
                        options.flush_bytes};
  absl::StatusOr<SyncedMark> mark =
      LoadSyncedMark(*files, SyncedPath(options.directory));
  const bool has_database =
      files->FileExists(opening.database(), rocksdb::IOOptions(), nullptr).ok();
  if (absl::IsNotFound(mark.status()) && has_database) {
    mark = absl::DataLossError("the file SYNCED is missing");
  }
  if (mark.ok() && !has_database) {
    // Creation renames the database into place last.
    mark = mark->generation == 0
               ? absl::NotFoundError("never finished")
               : absl::StatusOr<SyncedMark>(absl::DataLossError(
                     absl::StrCat("'", opening.database(), "' is missing")));
  }
  if (absl::IsNotFound(mark.status())) {
    mark = CreateJournal(options, files);
    // What is not there yet cannot be lost.
    if (absl::IsDataLoss(mark.status())) {
      return absl::FailedPreconditionError(mark.status().message());
    }
    if (!mark.ok()) return mark.status();
  }
  if (!mark.ok()) return Diagnose(opening, "", mark.status());
  return Finish(opening, options.cluster_uid, *std::move(mark));
}

absl::StatusOr<OpenedJournal> OpenForReading(
    const std::string& directory,
    const std::shared_ptr<rocksdb::FileSystem>& files) {
  Opening opening;
  opening.directory = directory;
  opening.files = files;
  absl::StatusOr<SyncedMark> mark =
      LoadSyncedMark(*files, SyncedPath(directory));
  if (absl::IsNotFound(mark.status())) {
    if (!files->FileExists(opening.database(), rocksdb::IOOptions(), nullptr)
             .ok()) {
      return absl::NotFoundError(
          absl::StrCat("'", directory, "' holds no journal"));
    }
    mark = absl::DataLossError("the file SYNCED is missing");
  }
  if (!mark.ok()) return Diagnose(opening, "", mark.status());
  return Finish(opening, "", *std::move(mark));
}

}  // namespace gpubinder
