#include "journal/wal_scan.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/write_batch.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "journal/database.h"
#include "journal/log_fragments.h"
#include "journal/storage_status.h"

namespace gpubinder {
namespace {

// Takes the records out of one write and checks that each follows the last.
class RecordChecker : public rocksdb::WriteBatch::Handler {
 public:
  explicit RecordChecker(WalScan& scan) : scan_(scan) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    if (family != kRecordsFamilyId) return rocksdb::Status::OK();
    const absl::Status s =
        Check({key.data(), key.size()}, {value.data(), value.size()});
    if (s.ok()) return rocksdb::Status::OK();
    return rocksdb::Status::Corruption(std::string(s.message()));
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&,
                                const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }

 private:
  absl::Status Check(absl::string_view key, absl::string_view value) {
    const absl::StatusOr<uint64_t> sequence = SequenceOfKey(key);
    if (!sequence.ok()) return sequence.status();
    const absl::StatusOr<RecordHeader> header = CheckStored(*sequence, value);
    if (!header.ok()) return header.status();
    if (scan_.last_sequence == 0) {
      scan_.first_sequence = *sequence;
    } else if (*sequence != scan_.last_sequence + 1) {
      return absl::DataLossError(
          absl::StrCat("the write-ahead log goes on with record ", *sequence));
    } else if (header->previous != scan_.last_digest) {
      return absl::DataLossError(
          absl::StrCat("record ", *sequence,
                       " does not name the digest of the one before it"));
    }
    scan_.last_sequence = *sequence;
    scan_.last_digest = header->own;
    return absl::OkStatus();
  }

  WalScan& scan_;
};

absl::StatusOr<std::map<uint64_t, std::string>> LogFiles(
    rocksdb::FileSystem& files, const std::string& database) {
  std::vector<std::string> names;
  const rocksdb::IOStatus s =
      files.GetChildren(database, rocksdb::IOOptions(), &names, nullptr);
  if (!s.ok()) return FromStorage(s, absl::StrCat("listing '", database, "'"));
  std::map<uint64_t, std::string> logs;
  for (const std::string& name : names) {
    absl::string_view stem = name;
    uint64_t number = 0;
    if (!absl::ConsumeSuffix(&stem, ".log")) continue;
    if (!absl::SimpleAtoi(stem, &number)) continue;
    logs[number] = absl::StrCat(database, "/", name);
  }
  return logs;
}

}  // namespace

absl::StatusOr<WalScan> ScanWal(rocksdb::FileSystem& files,
                                const std::string& database) {
  const absl::StatusOr<std::map<uint64_t, std::string>> logs =
      LogFiles(files, database);
  if (!logs.ok()) return logs.status();
  WalScan scan;
  RecordChecker checker(scan);
  for (const auto& [number, path] : *logs) {
    std::string bytes;
    const rocksdb::IOStatus read =
        rocksdb::ReadFileToString(&files, path, &bytes);
    if (!read.ok()) {
      return FromStorage(read, absl::StrCat("reading '", path, "'"));
    }
    LogFragments writes(bytes);
    while (std::optional<std::string> write = writes.Next()) {
      const rocksdb::Status s =
          rocksdb::WriteBatch(*std::move(write)).Iterate(&checker);
      if (!s.ok()) {
        return absl::DataLossError(
            absl::StrCat("'", path, "': ", s.ToString()));
      }
    }
    if (writes.AtEnd()) continue;
    const std::string where =
        absl::StrCat("'", path, "' at byte ", writes.whole_bytes());
    // A file is left for the next one only when all of it was synced.
    if (number != logs->rbegin()->first) {
      return absl::DataLossError(
          absl::StrCat("a broken write in the older log ", where));
    }
    if (writes.WholeFragmentFollows()) {
      return absl::DataLossError(
          absl::StrCat("a broken write before whole ones in ", where));
    }
    scan.torn = TornTail{path, writes.whole_bytes(),
                         bytes.size() - writes.whole_bytes()};
  }
  return scan;
}

}  // namespace gpubinder
