#include "journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "journal/corpus.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Journal> MustOpen(const JournalOptions& options) {
  absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(options);
  EXPECT_TRUE(journal.ok()) << journal.status();
  return journal.ok() ? *std::move(journal) : nullptr;
}

void MustAppend(Journal& journal, std::vector<v1::Record> records) {
  const absl::Status s = journal.Append(absl::MakeSpan(records));
  ASSERT_TRUE(s.ok()) << s;
}

class JournalTest : public ::testing::Test {
 protected:
  TestDirectory tests_;
  std::string directory_ = tests_.New("j");
  JournalOptions options_ = TestOptions(directory_);
};

TEST_F(JournalTest, NewJournalIsEmptyAndHasAUidOfEightHexDigits) {
  const auto journal = MustOpen(options_);
  EXPECT_EQ(journal->uid(), "5e1f09ab");
  EXPECT_EQ(journal->first_sequence(), 1u);
  EXPECT_EQ(journal->last_sequence(), 0u);
  EXPECT_EQ(journal->synced_sequence(), 0u);
  EXPECT_THAT(journal->opening_note(), IsEmpty());
  EXPECT_THAT(*ReadAll(*journal), IsEmpty());
}

TEST_F(JournalTest, AppendFillsDenseSequencesAndTheChain) {
  const auto journal = MustOpen(options_);
  const std::string genesis = journal->last_digest();
  std::vector<v1::Record> records = Notes(1, 3);
  ASSERT_TRUE(journal->Append(absl::MakeSpan(records)).ok());
  EXPECT_EQ(records[0].sequence(), 1u);
  EXPECT_EQ(records[2].sequence(), 3u);
  EXPECT_EQ(records[0].previous_digest(), genesis);
  EXPECT_EQ(records[0].journal_uid(), "5e1f09ab");
  EXPECT_THAT(records[1].previous_digest(), SizeIs(16));
  EXPECT_NE(records[1].previous_digest(), records[2].previous_digest());
  std::vector<v1::Record> next = Notes(4, 1);
  const std::string last = journal->last_digest();
  ASSERT_TRUE(journal->Append(absl::MakeSpan(next)).ok());
  EXPECT_EQ(next[0].previous_digest(), last);
}

TEST_F(JournalTest, WhatWasAppendedIsReadAgainWholeAlsoAfterReopening) {
  std::vector<v1::Record> records = MakeCorpus({.seed = 7, .vms = 30});
  {
    const auto journal = MustOpen(options_);
    ASSERT_TRUE(journal->Append(absl::MakeSpan(records)).ok());
    ASSERT_TRUE(journal->Sync().ok());
    EXPECT_EQ(journal->synced_sequence(), records.size());
  }
  const auto journal = MustOpen(options_);
  EXPECT_EQ(journal->last_sequence(), records.size());
  EXPECT_EQ(journal->synced_sequence(), records.size());
  const absl::StatusOr<std::vector<v1::Record>> read = ReadAll(*journal);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ((*read)[i].SerializeAsString(), records[i].SerializeAsString());
  }
}

TEST_F(JournalTest, ReadBeginsWhereAskedAndStopsWhenTold) {
  const auto journal = MustOpen(options_);
  MustAppend(*journal, Notes(1, 9));
  std::vector<uint64_t> seen;
  ASSERT_TRUE(journal
                  ->Read(4,
                         [&](const v1::Record& record) {
                           seen.push_back(record.sequence());
                           return record.sequence() < 6;
                         })
                  .ok());
  EXPECT_EQ(seen, (std::vector<uint64_t>{4, 5, 6}));
  const auto none = [](const v1::Record&) { return false; };
  EXPECT_TRUE(journal->Read(10, none).ok());
  EXPECT_TRUE(absl::IsOutOfRange(journal->Read(11, none)));
  EXPECT_TRUE(absl::IsOutOfRange(journal->Read(0, none)));
}

TEST_F(JournalTest, AStretchThatIsReadAheadComesInOrderAndStopsWhenTold) {
  const auto journal = MustOpen(options_);
  for (uint64_t first = 1; first <= 2'000; first += 100) {
    MustAppend(*journal, Notes(first, 100));
  }
  // The last one lies in the first batch, on both sides of a border, and at
  // the end.
  for (const uint64_t last : {4u, 66u, 67u, 68u, 1'234u, 2'000u}) {
    uint64_t expected = 3;
    const absl::Status s = journal->Read(3, [&](const v1::Record& record) {
      EXPECT_EQ(record.sequence(), expected);
      EXPECT_EQ(NumberOf(record), expected++);
      return record.sequence() < last;
    });
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(expected, last + 1);
  }
}

TEST_F(JournalTest, HugeRecordsAreReadAheadToo) {
  const auto journal = MustOpen(options_);
  MustAppend(*journal, Notes(1, 500));
  std::vector<v1::Record> huge = Notes(501, 3);
  for (v1::Record& record : huge) {
    record.mutable_object()->set_json(std::string(1 << 20, 'h'));
  }
  MustAppend(*journal, huge);
  const auto read = ReadAll(*journal);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_THAT(*read, SizeIs(503));
  for (size_t i = 500; i < 503; ++i) {
    EXPECT_EQ((*read)[i].object().json(), std::string(1 << 20, 'h'));
  }
}

TEST_F(JournalTest, RecordsOutliveManyFlushesAndTheLogStaysShort) {
  options_.flush_bytes = 20'000;
  std::vector<std::string> payloads;
  {
    const auto journal = MustOpen(options_);
    for (int group = 0; group < 100; ++group) {
      std::vector<v1::Record> records = MakeCorpus(
          {.seed = static_cast<uint64_t>(group), .vms = 1, .nodes = 3});
      ASSERT_TRUE(journal->Append(absl::MakeSpan(records)).ok());
      ASSERT_TRUE(journal->Sync().ok());
      for (const v1::Record& r : records) {
        payloads.push_back(r.SerializeAsString());
      }
    }
  }
  // A group is some 6 kB, and a flush begins at 20 kB.
  EXPECT_LT(FileText(NewestLog(directory_)).size(), 40'000u);
  const auto journal = MustOpen(options_);
  const auto read = ReadAll(*journal);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    ASSERT_EQ((*read)[i].SerializeAsString(), payloads[i]);
  }
}

TEST_F(JournalTest, UnsyncedRecordsAreSyncedOnceTheyExceedTheFlushBytes) {
  options_.flush_bytes = 1'000;
  const auto journal = MustOpen(options_);
  for (uint64_t i = 0; i < 3; ++i) MustAppend(*journal, Notes(1 + 20 * i, 20));
  // A row counts 100 bytes and more, so each group of 20 is over the limit.
  // Reading waits for what was begun.
  EXPECT_EQ(ReadAll(*journal)->size(), 60u);
  EXPECT_EQ(journal->synced_sequence(), 40u);
  EXPECT_EQ(journal->last_sequence(), 60u);
}

TEST_F(JournalTest, ReadersMayRunWhileTheWriterAppendsAndSyncs) {
  const auto journal = MustOpen(options_);
  MustAppend(*journal, Notes(1, 10));
  std::vector<std::thread> readers;
  std::vector<absl::Status> results(2);
  for (absl::Status& result : results) {
    readers.emplace_back([&journal, &result] {
      for (int i = 0; i < 50 && result.ok(); ++i) {
        uint64_t expected = 1;
        result = journal->Read(1, [&](const v1::Record& record) {
          return NumberOf(record) == expected++;
        });
        if (expected <= 10) result = absl::InternalError("too few");
      }
    });
  }
  for (uint64_t next = 11; next < 511; next += 5) {
    MustAppend(*journal, Notes(next, 5));
    ASSERT_TRUE(journal->Sync().ok());
  }
  for (std::thread& reader : readers) reader.join();
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result;
}

TEST_F(JournalTest, ASecondOpenIsRefusedAndNamesTheLockFile) {
  const auto journal = MustOpen(options_);
  const auto again = Journal::Open(options_);
  ASSERT_TRUE(absl::IsUnavailable(again.status())) << again.status();
  EXPECT_THAT(std::string(again.status().message()),
              HasSubstr(directory_ + "/LOCK"));
  EXPECT_TRUE(absl::IsUnavailable(Journal::OpenReadOnly(directory_).status()));
}

TEST_F(JournalTest, AnotherProcessThatHoldsTheLockIsNamed) {
  {
    CrashWriter writer(directory_, 1);
    ASSERT_GT(writer.NextSynced(), 0u);
    const auto refused = Journal::Open(options_);
    EXPECT_TRUE(absl::IsUnavailable(refused.status())) << refused.status();
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr(absl::StrCat("held by process ", writer.process())));
  }
  EXPECT_TRUE(Journal::Open(options_).ok());
}

TEST_F(JournalTest, AJournalOfAnotherClusterIsRefused) {
  options_.cluster_uid = "aaaa";
  MustOpen(options_).reset();
  MustOpen(options_).reset();
  options_.cluster_uid = "bbbb";
  const auto refused = Journal::Open(options_);
  ASSERT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("made for cluster 'aaaa', this is cluster 'bbbb'"));
}

TEST_F(JournalTest, AClusterUidLearntLaterIsKept) {
  MustOpen(options_).reset();
  options_.cluster_uid = "aaaa";
  MustOpen(options_).reset();
  options_.cluster_uid = "bbbb";
  EXPECT_TRUE(absl::IsFailedPrecondition(Journal::Open(options_).status()));
}

TEST_F(JournalTest, ReadOnlyReadsAllAndChangesNothing) {
  {
    const auto journal = MustOpen(options_);
    MustAppend(*journal, Notes(1, 5));
    ASSERT_TRUE(journal->Sync().ok());
  }
  const std::vector<std::string> files = FilesUnder(directory_);
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(FileText(file));
  {
    const auto journal = Journal::OpenReadOnly(directory_);
    ASSERT_TRUE(journal.ok()) << journal.status();
    EXPECT_THAT(*ReadAll(**journal), SizeIs(5));
    EXPECT_EQ((*journal)->synced_sequence(), 5u);
    std::vector<v1::Record> more = Notes(6, 1);
    EXPECT_TRUE(
        absl::IsFailedPrecondition((*journal)->Append(absl::MakeSpan(more))));
    EXPECT_TRUE(absl::IsFailedPrecondition((*journal)->Sync()));
    // Two readers, but no writer beside one.
    EXPECT_TRUE(Journal::OpenReadOnly(directory_).ok());
    EXPECT_THAT(std::string(Journal::Open(options_).status().message()),
                HasSubstr("being read by an offline tool"));
  }
  ASSERT_EQ(FilesUnder(directory_), files);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(FileText(files[i]), texts[i]) << files[i];
  }
}

TEST_F(JournalTest, ReadOnlyOfNothingIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Journal::OpenReadOnly(directory_).status()));
}

TEST_F(JournalTest, ARecordOverTheLimitIsRefusedAndChangesNothing) {
  const auto journal = MustOpen(options_);
  std::vector<v1::Record> records = Notes(1, 2);
  records[1].mutable_note()->set_text(std::string((64 << 20) + 1, 'x'));
  EXPECT_TRUE(
      absl::IsInvalidArgument(journal->Append(absl::MakeSpan(records))));
  EXPECT_EQ(journal->last_sequence(), 0u);
  MustAppend(*journal, Notes(1, 1));
  EXPECT_EQ(journal->last_sequence(), 1u);
}

TEST_F(JournalTest, AnInterruptedCreationIsStartedOver) {
  MustOpen(options_).reset();
  // As a crash between the last two steps leaves it.
  const std::string other = tests_.New("other");
  CopyDirectory(directory_, other);
  const auto options = TestOptions(other);
  ASSERT_EQ(rename((other + "/db").c_str(), (other + "/db.new").c_str()), 0);
  // The first slot, written at creation, and an empty second one.
  WriteFile(other + "/SYNCED", FileText(directory_ + "/SYNCED").substr(0, 64) +
                                   std::string(512, '\0'));
  const auto journal = Journal::Open(options);
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ((*journal)->last_sequence(), 0u);
}

}  // namespace
}  // namespace gpubinder
