// The n-th change of any file fails, for every n: the error is final, and
// what was synced before it is there at the next Open.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "journal/faulty_file_system.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

using ::testing::HasSubstr;
using Fault = FaultyFileSystem::Fault;
using Lasting = FaultyFileSystem::Lasting;

struct Written {
  absl::Status status;       // of the first call that failed
  uint64_t synced = 0;       // through which Sync said OK
  bool stays_failed = true;  // every later call said the same
};

// Opens, appends and syncs 6 groups.
Written WriteSome(const JournalOptions& options, int group_size) {
  Written run;
  const auto opened = Journal::Open(options);
  if (!opened.ok()) {
    run.status = opened.status();
    return run;
  }
  Journal& journal = **opened;
  run.synced = journal.synced_sequence();
  for (int group = 0; group < 6 && run.status.ok(); ++group) {
    std::vector<v1::Record> records =
        Notes(journal.last_sequence() + 1, group_size);
    run.status = journal.Append(absl::MakeSpan(records));
    if (run.status.ok()) run.status = journal.Sync();
    if (run.status.ok()) run.synced = journal.synced_sequence();
  }
  if (run.status.ok()) return run;
  std::vector<v1::Record> more = Notes(1, 1);
  run.stays_failed = journal.Append(absl::MakeSpan(more)) == run.status &&
                     journal.Sync() == run.status &&
                     ReadAll(journal).status() == run.status;
  return run;
}

struct FaultCase {
  const char* name;
  Fault fault;
  Lasting lasting;
  // The large ones are written by another thread.
  int group_size = 3;
};

class FaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(FaultTest, TheNthChangeFailsAndNothingSyncedIsLost) {
  TestDirectory tests;
  const auto files = std::make_shared<FaultyFileSystem>();
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE(absl::StrCat("change ", n, " fails"));
    JournalOptions options = TestOptions(tests.New("j"));
    options.file_system = files;
    // One flush at least.
    options.flush_bytes = 400 * GetParam().group_size;
    files->Set({.fail_at = n,
                .fault = GetParam().fault,
                .lasting = GetParam().lasting});
    const Written run = WriteSome(options, GetParam().group_size);
    const bool reached = files->has_failed();
    EXPECT_FALSE(absl::IsDataLoss(run.status)) << run.status;
    EXPECT_TRUE(run.stays_failed) << run.status;
    if (!run.status.ok() && GetParam().fault == Fault::kNoSpace) {
      EXPECT_TRUE(absl::IsResourceExhausted(run.status)) << run.status;
    }
    files->Set({});
    const Written next = WriteSome(options, GetParam().group_size);
    EXPECT_TRUE(next.status.ok()) << next.status;
    EXPECT_GE(next.synced, run.synced + 6 * GetParam().group_size);
    const auto journal = Journal::Open(options);
    const auto read = ReadAll(**journal);
    ASSERT_TRUE(read.ok()) << read.status();
    for (uint64_t i = 0; i < read->size(); ++i) {
      ASSERT_EQ(NumberOf((*read)[i]), i + 1);
    }
    if (!reached) break;
  }
  // Creation alone makes more changes than this.
  EXPECT_GT(n, 50u);
}

INSTANTIATE_TEST_SUITE_P(
    AllFaults, FaultTest,
    ::testing::Values(
        FaultCase{"ErrorOnce", Fault::kInputOutputError, Lasting::kOnce},
        FaultCase{"ErrorForEver", Fault::kInputOutputError, Lasting::kForEver},
        FaultCase{"NoSpaceOnce", Fault::kNoSpace, Lasting::kOnce},
        FaultCase{"NoSpaceForEver", Fault::kNoSpace, Lasting::kForEver},
        FaultCase{"ErrorOnceInLargeGroups", Fault::kInputOutputError,
                  Lasting::kOnce, 20},
        FaultCase{"NoSpaceForEverInLargeGroups", Fault::kNoSpace,
                  Lasting::kForEver, 20}),
    [](const auto& param) { return param.param.name; });

class DiskFullTest : public ::testing::Test {
 protected:
  DiskFullTest() {
    options_.file_system = files_;
    journal_ = *Journal::Open(options_);
  }

  TestDirectory tests_;
  const std::shared_ptr<FaultyFileSystem> files_ =
      std::make_shared<FaultyFileSystem>();
  JournalOptions options_ = TestOptions(tests_.New("j"));
  std::unique_ptr<Journal> journal_;
};

TEST_F(DiskFullTest, TheErrorNamesTheRecordsTheJournalAndTheFreeBytes) {
  files_->Set({.fail_at = 1, .fault = Fault::kNoSpace});
  std::vector<v1::Record> records = Notes(1, 3);
  const absl::Status s = journal_->Append(absl::MakeSpan(records));
  EXPECT_TRUE(absl::IsResourceExhausted(s)) << s;
  const std::string text(s.message());
  EXPECT_THAT(text, HasSubstr("appending records 1 to 3 to journal '"));
  EXPECT_THAT(text, HasSubstr(options_.directory));
  EXPECT_THAT(text, HasSubstr(" bytes are free there"));
}

TEST_F(DiskFullTest, ALargeGroupThatWasNotWrittenIsNamedByTheNextSync) {
  files_->Set({.fail_at = 1, .fault = Fault::kNoSpace});
  std::vector<v1::Record> records = Notes(1, 40);
  ASSERT_TRUE(journal_->Append(absl::MakeSpan(records)).ok());
  const absl::Status s = journal_->Sync();
  EXPECT_TRUE(absl::IsResourceExhausted(s)) << s;
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("appending records 1 to 40 to journal '"));
  EXPECT_EQ(ReadAll(*journal_).status(), s);
  EXPECT_EQ(journal_->Append(absl::MakeSpan(records)), s);
}

TEST_F(DiskFullTest, SpaceThatComesBackDoesNotReviveAFailedJournal) {
  files_->Set(
      {.fail_at = 1, .fault = Fault::kNoSpace, .lasting = Lasting::kOnce});
  std::vector<v1::Record> records = Notes(1, 3);
  const absl::Status first = journal_->Append(absl::MakeSpan(records));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(journal_->Append(absl::MakeSpan(records)), first);
  EXPECT_EQ(journal_->Sync(), first);
  EXPECT_EQ(journal_->synced_sequence(), 0u);
}

}  // namespace
}  // namespace gpubinder
