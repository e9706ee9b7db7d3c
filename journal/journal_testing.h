// What the journal's tests share: a directory that goes away, options with
// fixed time and uid, numbered records.

#ifndef JOURNAL_JOURNAL_TESTING_H_
#define JOURNAL_JOURNAL_TESTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "journal/journal.h"
#include "journal/record.h"
#include "proto/journal.pb.h"

namespace gpubinder {

// In memory where the machine has that, since tests open journals by the ten
// thousand.
class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  // A path in it that is not there yet.
  std::string New(absl::string_view name);

 private:
  std::string path_;
  int made_ = 0;
};

// uid 5e1f09ab, a clock that stands still.
JournalOptions TestOptions(const std::string& directory);

// `count` notes that say "note FIRST" and so on; FIRST is the sequence that
// the first one will get.
std::vector<v1::Record> Notes(uint64_t first, int count);
// The number of a record of Notes; 0 for any other.
uint64_t NumberOf(const v1::Record& record);

absl::StatusOr<std::vector<v1::Record>> ReadAll(const Journal& journal);

struct StoredRecord {
  std::string stored;
  Digest digest;
};
// The whole of encoding.
StoredRecord Encode(const RecordCodec& codec, uint64_t sequence,
                    const Digest& previous, v1::Record& record);

// A running crash_writer. Killed at the latest when this goes away.
class CrashWriter {
 public:
  CrashWriter(const std::string& directory, uint64_t seed);
  ~CrashWriter();
  CrashWriter(const CrashWriter&) = delete;
  CrashWriter& operator=(const CrashWriter&) = delete;
  // The next sequence that it says is synced; 0: it is dead.
  uint64_t NextSynced();
  void Kill();
  int process() const { return process_; }

 private:
  int process_ = 0;
  int told_ = -1;
};

void CopyDirectory(const std::string& from, const std::string& to);
// Paths of all files under it, sorted.
std::vector<std::string> FilesUnder(const std::string& directory);
std::string FileText(const std::string& path);
void WriteFile(const std::string& path, absl::string_view text);
// The newest log with bytes in it.
std::string NewestLog(const std::string& directory);

}  // namespace gpubinder

#endif  // JOURNAL_JOURNAL_TESTING_H_
