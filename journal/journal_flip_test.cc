// Every byte of a small journal flipped, every file cut to every length: Open
// and Read give all records, or DATA_LOSS, or, above the synced mark only,
// fewer records with a note. Sharded by the position of the damage.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

constexpr uint64_t kShares = 8;
constexpr uint64_t kSynced = 9;
constexpr uint64_t kAppended = 11;
// RocksDB writes its options down for people; no open reads them. Their bytes
// are damaged by the hundred.
constexpr uint64_t kOptionsStride = 256;

struct File {
  std::string name;  // relative to the journal's directory
  std::string text;
};

// Records 1 to 4 in table files, to 9 synced in the log, 10 and 11 in the log.
class Reference {
 public:
  Reference() {
    const std::string directory = tests_.New("reference");
    const JournalOptions options = TestOptions(directory);
    Append(**Journal::Open(options), 1, 4);
    {
      const auto journal = Journal::Open(options);
      Append(**journal, 5, 3);
      Append(**journal, 8, 2);
      std::vector<v1::Record> unsynced = Notes(10, 2);
      if (!(*journal)->Append(absl::MakeSpan(unsynced)).ok()) std::abort();
    }
    for (const std::string& path : FilesUnder(directory)) {
      files.push_back({path.substr(directory.size()), FileText(path)});
    }
  }

  std::vector<File> files;

 private:
  void Append(Journal& journal, uint64_t first, int count) {
    std::vector<v1::Record> records = Notes(first, count);
    if (!journal.Append(absl::MakeSpan(records)).ok()) std::abort();
    if (!journal.Sync().ok()) std::abort();
  }
  TestDirectory tests_;
};

enum class Access { kWrite, kRead };

// Empty when the opened journal keeps the promise.
std::string Judge(absl::StatusOr<std::unique_ptr<Journal>> journal) {
  if (!journal.ok()) {
    if (!absl::IsDataLoss(journal.status())) {
      return absl::StrCat("no DATA_LOSS: ", journal.status().ToString());
    }
    if (!absl::StrContains(journal.status().message(),
                           "the last good record is ")) {
      return absl::StrCat("no numbers: ", journal.status().ToString());
    }
    return "";
  }
  const absl::StatusOr<std::vector<v1::Record>> read = ReadAll(**journal);
  if (!read.ok()) {
    return absl::IsDataLoss(read.status()) ? "" : read.status().ToString();
  }
  for (uint64_t i = 0; i < read->size(); ++i) {
    if (NumberOf((*read)[i]) != i + 1) {
      return absl::StrCat("record ", i + 1, " reads wrong");
    }
  }
  if (read->size() == kAppended) return "";
  if (read->size() < kSynced) {
    return absl::StrCat("only ", read->size(), " records and no word");
  }
  if ((*journal)->opening_note().empty()) {
    return absl::StrCat("no note, but ", read->size(), " records");
  }
  return "";
}

class FlipTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  static const Reference& reference() {
    static const Reference& made = *new Reference;
    return made;
  }

  void Try(Access access, const File& damaged, const std::string& text,
           const std::string& what) {
    if (!std::filesystem::exists(directory_)) {
      for (const File& file : reference().files) {
        const std::string path = directory_ + file.name;
        std::filesystem::create_directories(
            std::filesystem::path(path).parent_path());
        WriteFile(path, file.text);
      }
    }
    WriteFile(directory_ + damaged.name, text);
    const std::string wrong =
        Judge(access == Access::kWrite ? Journal::Open(TestOptions(directory_))
                                       : Journal::OpenReadOnly(directory_));
    EXPECT_EQ(wrong, "") << damaged.name << ": " << what;
    ++tried_;
    if (access == Access::kWrite) {
      std::filesystem::remove_all(directory_);
    } else {
      WriteFile(directory_ + damaged.name, damaged.text);
    }
  }

  void FlipAll(Access access) {
    for (const File& file : reference().files) {
      const bool options = absl::StrContains(file.name, "OPTIONS");
      const uint64_t stride = options ? kOptionsStride : 1;
      for (uint64_t at = GetParam() * stride; at < file.text.size();
           at += kShares * stride) {
        std::string text = file.text;
        // Another bit at each byte, so that each bit of a field has its turn.
        const char bit = static_cast<char>(1 << (at * 5 + 3) % 8);
        for (uint64_t k = at; k < at + stride && k < text.size(); ++k) {
          text[k] ^= bit;
        }
        Try(access, file, text, absl::StrCat("flipped at byte ", at));
      }
    }
  }

  void CutAll(Access access) {
    for (const File& file : reference().files) {
      const bool options = absl::StrContains(file.name, "OPTIONS");
      const uint64_t stride = options ? kOptionsStride : 1;
      for (uint64_t size = GetParam() * stride; size < file.text.size();
           size += kShares * stride) {
        // A log cut between two writes above the mark is what a crash before
        // the second one leaves: nothing on disk tells it from that.
        if (BetweenUnsyncedWrites(file, size)) continue;
        Try(access, file, file.text.substr(0, size),
            absl::StrCat("cut to ", size, " bytes"));
      }
    }
  }

  void TearDown() override {
    RecordProperty("tried", static_cast<int>(tried_));
  }

 private:
  // The last write of the log is the unsynced one.
  bool BetweenUnsyncedWrites(const File& file, uint64_t size) const {
    if (!absl::EndsWith(file.name, ".log")) return false;
    uint64_t at = 0;
    uint64_t last = 0;
    while (at + 7 < file.text.size()) {
      last = at;
      at += 7 + (file.text[at + 4] & 0xff) + 256 * (file.text[at + 5] & 0xff);
    }
    return size == last;
  }

  TestDirectory tests_;
  std::string directory_ = tests_.New("j");
  uint64_t tried_ = 0;
};

TEST_P(FlipTest, EachFlippedByteIsFoundByTheWriter) { FlipAll(Access::kWrite); }
TEST_P(FlipTest, EachFlippedByteIsFoundByTheReader) { FlipAll(Access::kRead); }
TEST_P(FlipTest, EachLengthIsFoundByTheWriter) { CutAll(Access::kWrite); }
TEST_P(FlipTest, EachLengthIsFoundByTheReader) { CutAll(Access::kRead); }

INSTANTIATE_TEST_SUITE_P(Shares, FlipTest,
                         ::testing::Range(uint64_t{0}, kShares));

}  // namespace
}  // namespace gpubinder
