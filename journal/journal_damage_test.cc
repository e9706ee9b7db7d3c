// What Open and Read say of journals that were damaged on purpose, one kind
// each. journal_flip_test does the same to every byte and every length.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "journal/database.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"
#include "journal/record.h"
#include "journal/synced_mark.h"
#include "rocksdb/file_system.h"

namespace gpubinder {
namespace {

using ::testing::HasSubstr;

std::string ToText(const absl::Status& s) { return std::string(s.message()); }

// Rows as a journal stores them, each behind the one before.
struct RowChain {
  void Add(v1::Record record) {
    const uint64_t sequence = rows.size() + 1;
    const auto encoded = Encode(codec, sequence, digest, record);
    digest = encoded.digest;
    rows.emplace_back(SequenceKey(sequence), encoded.stored);
  }

  RecordCodec codec{{{1, ""}}, 1};
  std::vector<Row> rows;
  Digest digest = GenesisDigest("5e1f09ab");
};

class DamageTest : public ::testing::Test {
 protected:
  // 20 records, synced in groups of 4; the first 8 in table files.
  void SetUp() override {
    for (const uint64_t first : {1, 5}) Extend(first);
    Journal::Open(options_)->reset();
    const auto journal = Journal::Open(options_);
    for (const uint64_t first : {9, 13, 17}) Append(**journal, first);
  }
  void Extend(uint64_t first) {
    const auto journal = Journal::Open(options_);
    ASSERT_TRUE(journal.ok()) << journal.status();
    Append(**journal, first);
  }
  void Append(Journal& journal, uint64_t first) {
    std::vector<v1::Record> records = Notes(first, 4);
    ASSERT_TRUE(journal.Append(absl::MakeSpan(records)).ok());
    ASSERT_TRUE(journal.Sync().ok());
  }
  // Both ways to open say the same; the second look finds what the first did.
  void ExpectDamage(uint64_t last_good) {
    const std::string sequences = absl::StrCat(
        "record ", last_good + 1,
        " is missing or wrong, the last good record is ", last_good, ";");
    for (int look = 0; look < 2; ++look) {
      const absl::Status reader = Journal::OpenReadOnly(directory_).status();
      EXPECT_TRUE(absl::IsDataLoss(reader)) << reader;
      EXPECT_THAT(ToText(reader), HasSubstr(sequences));
      const absl::Status writer = Journal::Open(options_).status();
      EXPECT_TRUE(absl::IsDataLoss(writer)) << writer;
      EXPECT_THAT(ToText(writer), HasSubstr(sequences));
      EXPECT_THAT(ToText(writer),
                  HasSubstr("gpubinder run --rebuild-on-data-loss"));
    }
  }
  void Mark(uint32_t format, uint64_t sequence, const Digest& digest) {
    ASSERT_TRUE(CreateSyncedMark(*rocksdb::FileSystem::Default(),
                                 directory_ + "/SYNCED",
                                 {.format = format,
                                  .journal_uid = "5e1f09ab",
                                  .generation = 9,
                                  .sequence = sequence,
                                  .digest = digest})
                    .ok());
  }
  // A directory whose table files hold exactly these records.
  void MakeWithRows(const std::vector<Row>& rows, uint64_t marked,
                    const Digest& digest) {
    directory_ = tests_.New("rows");
    options_ = TestOptions(directory_);
    Journal::Open(options_)->reset();
    const DatabaseOptions database{directory_ + "/db", DatabaseMode::kWrite,
                                   8 << 20, rocksdb::FileSystem::Default()};
    ASSERT_TRUE((*Database::Open(database))->AppendRecords(rows).ok());
    Database::Open(database)->reset();
    Mark(1, marked, digest);
  }

  TestDirectory tests_;
  std::string directory_ = tests_.New("j");
  JournalOptions options_ = TestOptions(directory_);
};

TEST_F(DamageTest, ATornUnsyncedTailIsCutWithANote) {
  const std::string log = NewestLog(directory_);
  {
    const auto journal = Journal::Open(options_);
    std::vector<v1::Record> records = Notes(21, 3);
    ASSERT_TRUE((*journal)->Append(absl::MakeSpan(records)).ok());
  }
  const std::string torn = NewestLog(directory_);
  const std::string text = FileText(torn);
  WriteFile(torn, absl::string_view(text).substr(0, text.size() - 9));
  {
    const auto reader = Journal::OpenReadOnly(directory_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->last_sequence(), 20u);
    EXPECT_THAT((*reader)->opening_note(), HasSubstr("after record 20"));
  }
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ((*journal)->last_sequence(), 20u);
  EXPECT_THAT((*journal)->opening_note(), HasSubstr("cut "));
  Append(**journal, 21);
  const auto read = ReadAll(**journal);
  ASSERT_TRUE(read.ok()) << read.status();
  for (uint64_t i = 1; i <= 24; ++i) EXPECT_EQ(NumberOf((*read)[i - 1]), i);
}

TEST_F(DamageTest, AWholeLengthWithGarbageAfterItIsATornTailToo) {
  {
    const auto journal = Journal::Open(options_);
    std::vector<v1::Record> records = Notes(21, 1);
    ASSERT_TRUE((*journal)->Append(absl::MakeSpan(records)).ok());
  }
  // As a file system that extends a file before it writes its bytes: RocksDB
  // alone refuses this one.
  const std::string torn = NewestLog(directory_);
  std::string text = FileText(torn);
  text.replace(text.size() - 30, 30, 30, '\0');
  WriteFile(torn, text);
  {
    const auto reader = Journal::OpenReadOnly(directory_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->last_sequence(), 20u);
  }
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ((*journal)->last_sequence(), 20u);
  EXPECT_THAT((*journal)->opening_note(), HasSubstr("after record 20"));
}

TEST_F(DamageTest, ATornTailThatWasSyncedIsDamage) {
  const std::string log = NewestLog(directory_);
  const std::string text = FileText(log);
  const std::string torn = text.substr(0, text.size() - 9);
  WriteFile(log, torn);
  ExpectDamage(16);
  // What is there is kept for whoever looks into it.
  EXPECT_EQ(FileText(log), torn);
}

TEST_F(DamageTest, TruncationAtARecordBoundaryBelowTheMarkIsDamage) {
  // The log holds three equal groups and nothing else.
  const std::string log = NewestLog(directory_);
  const std::string text = FileText(log);
  size_t boundary = 0;
  for (size_t group = 0; group < 2; ++group) {
    const size_t length = (text[boundary + 4] & 0xff) |
                          static_cast<size_t>(text[boundary + 5] & 0xff) << 8;
    boundary += 7 + length;
  }
  ASSERT_LT(boundary, text.size());
  WriteFile(log, absl::string_view(text).substr(0, boundary));
  ExpectDamage(16);
}

TEST_F(DamageTest, AFlippedByteInARecordInTheLogIsDamage) {
  const std::string log = NewestLog(directory_);
  std::string text = FileText(log);
  const size_t length = (text[4] & 0xff) | (text[5] & 0xff) << 8;
  text[7 + length + 50] ^= 0x10;  // in the second group
  WriteFile(log, text);
  ExpectDamage(12);
}

TEST_F(DamageTest, AFlippedLengthFieldInTheLogIsDamage) {
  const std::string log = NewestLog(directory_);
  std::string text = FileText(log);
  text[5] ^= 0x40;  // the first group now runs past the end of the file
  WriteFile(log, text);
  ExpectDamage(8);
}

TEST_F(DamageTest, ABrokenUnsyncedWriteBeforeAWholeOneIsNoTornTail) {
  size_t synced = 0;
  {
    const auto journal = Journal::Open(options_);
    Append(**journal, 21);
    synced = FileText(NewestLog(directory_)).size();
    for (const uint64_t first : {25, 28}) {
      std::vector<v1::Record> records = Notes(first, 3);
      ASSERT_TRUE((*journal)->Append(absl::MakeSpan(records)).ok());
    }
  }
  const std::string log = NewestLog(directory_);
  std::string text = FileText(log);
  text[synced + 5] ^= 0x40;  // the length of records 25 to 27
  WriteFile(log, text);
  ExpectDamage(24);
}

TEST_F(DamageTest, AMissingLogIsDamage) {
  ASSERT_EQ(unlink(NewestLog(directory_).c_str()), 0);
  ExpectDamage(8);
}

TEST_F(DamageTest, AZeroedPageInATableIsDamage) {
  RowChain chain;
  for (uint64_t i = 1; i <= 100; ++i) {
    v1::Record record = Notes(i, 1)[0];
    std::string noise;
    for (uint64_t k = 0; k < 300; ++k) {
      noise.push_back(static_cast<char>('a' + (i * 31 + k * k * 7) % 26));
    }
    record.mutable_note()->set_text(noise);
    chain.Add(record);
  }
  MakeWithRows(chain.rows, 100, chain.digest);
  for (const std::string& file : FilesUnder(directory_)) {
    std::string text = FileText(file);
    if (!absl::EndsWith(file, ".sst") || text.size() < 12'000) continue;
    if (text.find(SequenceKey(2).substr(0, 7)) == std::string::npos) continue;
    text.replace(4096, 4096, 4096, '\0');
    WriteFile(file, text);
  }
  const auto journal = Journal::Open(options_);
  const absl::Status s =
      journal.ok() ? ReadAll(**journal).status() : journal.status();
  EXPECT_TRUE(absl::IsDataLoss(s)) << s;
}

TEST_F(DamageTest, SwappedTablesAreDamage) {
  std::vector<std::string> tables;
  for (const std::string& file : FilesUnder(directory_)) {
    if (absl::EndsWith(file, ".sst")) tables.push_back(file);
  }
  ASSERT_GE(tables.size(), 2u);
  const std::string first = FileText(tables[0]);
  WriteFile(tables[0], FileText(tables[1]));
  WriteFile(tables[1], first);
  for (int look = 0; look < 2; ++look) {
    const absl::Status s = Journal::Open(options_).status();
    EXPECT_TRUE(absl::IsDataLoss(s)) << s;
    EXPECT_THAT(ToText(s), HasSubstr("the last good record is "));
  }
}

TEST_F(DamageTest, AGapInTheTablesIsNamedByRead) {
  const std::string uid = "5e1f09ab";
  std::vector<Row> rows;
  Digest digest = GenesisDigest(uid);
  {
    // Taken from a good journal, less record 5.
    const DatabaseOptions database{directory_ + "/db", DatabaseMode::kRead,
                                   8 << 20, rocksdb::FileSystem::Default()};
    const auto opened = Database::Open(database);
    for (RecordCursor row = (*opened)->ScanFrom(""); row.Valid(); row.Next()) {
      digest = CheckStored(*SequenceOfKey(row.key()), row.value())->own;
      if (row.key() == SequenceKey(5)) continue;
      rows.emplace_back(std::string(row.key()), std::string(row.value()));
    }
  }
  ASSERT_EQ(rows.size(), 19u);
  MakeWithRows(rows, 20, digest);
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  std::vector<uint64_t> seen;
  const absl::Status s = (*journal)->Read(1, [&](const v1::Record& record) {
    seen.push_back(NumberOf(record));
    return true;
  });
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(ToText(s), HasSubstr("the last good record is 4;"));
  EXPECT_THAT(ToText(s), HasSubstr("the next record there is 6"));
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST_F(DamageTest, AGapInAStretchThatIsReadAheadIsNamedWhereItIsReached) {
  RowChain chain;
  for (const v1::Record& record : Notes(1, 900)) chain.Add(record);
  chain.rows.erase(chain.rows.begin() + 699);
  MakeWithRows(chain.rows, 900, chain.digest);
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  uint64_t seen = 0;
  const absl::Status s = (*journal)->Read(1, [&](const v1::Record& record) {
    EXPECT_EQ(NumberOf(record), ++seen);
    return true;
  });
  EXPECT_EQ(seen, 699u);
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(ToText(s), HasSubstr("the last good record is 699;"));
  // Who stops before it does not hear of it, though it was read.
  for (const uint64_t last : {64u, 650u, 699u}) {
    const absl::Status before = (*journal)->Read(
        1, [&](const v1::Record& record) { return record.sequence() < last; });
    EXPECT_TRUE(before.ok()) << last << ": " << before;
  }
}

TEST_F(DamageTest, ARecordThatNamesAnotherPredecessorIsNamedByRead) {
  RowChain chain;
  for (uint64_t i = 1; i <= 9; ++i) {
    if (i == 4) chain.digest = DigestOf("something", "else", "");
    chain.Add(Notes(i, 1)[0]);
  }
  MakeWithRows(chain.rows, 9, chain.digest);
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  const absl::Status s = (*journal)->Read(4, [](const v1::Record&) {
    ADD_FAILURE() << "record 4 must not be visited";
    return true;
  });
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(ToText(s), HasSubstr("record 4 is missing or wrong"));
}

TEST_F(DamageTest, ADictionaryThatIsNotThereIsNamedByRead) {
  RecordCodec codec({{77, "words of another dictionary, long enough"}}, 77);
  v1::Record record = Notes(1, 1)[0];
  const auto encoded = Encode(codec, 1, GenesisDigest("5e1f09ab"), record);
  MakeWithRows({{SequenceKey(1), encoded.stored}}, 1, encoded.digest);
  const auto journal = Journal::Open(options_);
  ASSERT_TRUE(journal.ok()) << journal.status();
  const absl::Status s = ReadAll(**journal).status();
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(ToText(s), HasSubstr("dictionary 77, which is not there"));
}

TEST_F(DamageTest, ANewerFormatIsRefusedByNameAndNothingIsChanged) {
  Mark(2, 20, {});
  const std::string log = FileText(NewestLog(directory_));
  for (const absl::Status& s : {Journal::Open(options_).status(),
                                Journal::OpenReadOnly(directory_).status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(s)) << s;
    EXPECT_THAT(ToText(s),
                HasSubstr("has format 2, this build reads formats up to 1"));
  }
  EXPECT_EQ(FileText(NewestLog(directory_)), log);
}

TEST_F(DamageTest, ANewerFormatInTheMetaFamilyIsRefusedToo) {
  {
    const auto database =
        Database::Open({directory_ + "/db", DatabaseMode::kWrite, 8 << 20,
                        rocksdb::FileSystem::Default()});
    ASSERT_TRUE((*database)->PutMeta({{"format", "2"}}).ok());
  }
  const absl::Status s = Journal::Open(options_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(s)) << s;
  EXPECT_THAT(ToText(s), HasSubstr("has format 2"));
}

TEST_F(DamageTest, SyncedOfAnotherJournalIsDamage) {
  const std::string other = tests_.New("other");
  JournalOptions options = TestOptions(other);
  options.random = [] { return 0x0123456700000000u; };
  Journal::Open(options)->reset();
  std::filesystem::copy_file(other + "/SYNCED", directory_ + "/SYNCED",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(absl::IsDataLoss(Journal::Open(options_).status()));
}

TEST_F(DamageTest, AMissingPartOfTheDirectoryIsDamage) {
  const std::string other = tests_.New("other");
  CopyDirectory(directory_, other);
  ASSERT_EQ(unlink((other + "/SYNCED").c_str()), 0);
  const absl::Status mark = Journal::Open(TestOptions(other)).status();
  EXPECT_TRUE(absl::IsDataLoss(mark)) << mark;
  EXPECT_THAT(ToText(mark), HasSubstr("the last good record is 20;"));
  std::filesystem::remove_all(directory_ + "/db");
  ExpectDamage(0);
}

}  // namespace
}  // namespace gpubinder
