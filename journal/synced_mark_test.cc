#include "journal/synced_mark.h"

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <string>

#include "journal/faulty_file_system.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

class SyncedMarkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(CreateSyncedMark(files_, path_,
                                 {.format = 1, .journal_uid = "5e1f09ab"})
                    .ok());
  }
  SyncedMark Load() {
    const auto mark = LoadSyncedMark(files_, path_);
    EXPECT_TRUE(mark.ok()) << mark.status();
    return mark.ok() ? *mark : SyncedMark();
  }

  TestDirectory tests_;
  FaultyFileSystem files_;
  std::string path_ = tests_.New("SYNCED");
};

TEST_F(SyncedMarkTest, KeepsWhatWasWrittenLast) {
  auto writer = SyncedMarkWriter::Open(files_, path_, Load());
  ASSERT_TRUE(writer.ok());
  for (uint64_t sequence : {7, 19, 1000}) {
    const Digest digest = DigestOf(SequenceKey(sequence), "", "");
    ASSERT_TRUE(writer->Write(sequence, digest, absl::UnixEpoch()).ok());
    const SyncedMark mark = Load();
    EXPECT_EQ(mark.sequence, sequence);
    EXPECT_EQ(mark.digest, digest);
    EXPECT_EQ(mark.journal_uid, "5e1f09ab");
    EXPECT_EQ(mark.format, 1u);
  }
}

TEST_F(SyncedMarkTest, ATornSlotLeavesTheOneBefore) {
  auto writer = SyncedMarkWriter::Open(files_, path_, Load());
  ASSERT_TRUE(writer->Write(7, Digest(), absl::UnixEpoch()).ok());
  const std::string before = FileText(path_);
  ASSERT_TRUE(writer->Write(8, Digest(), absl::UnixEpoch()).ok());
  const std::string after = FileText(path_);
  for (size_t written = 0; written < before.size(); ++written) {
    WriteFile(path_, after.substr(0, written) + before.substr(written));
    const uint64_t sequence = Load().sequence;
    EXPECT_TRUE(sequence == 7 || sequence == 8) << written;
  }
}

TEST_F(SyncedMarkTest, NoWholeSlotIsDataLossAndNoFileIsNotFound) {
  std::string text = FileText(path_);
  text[20] ^= 1;
  WriteFile(path_, text);
  EXPECT_TRUE(absl::IsDataLoss(LoadSyncedMark(files_, path_).status()));
  WriteFile(path_, "");
  EXPECT_TRUE(absl::IsDataLoss(LoadSyncedMark(files_, path_).status()));
  EXPECT_TRUE(absl::IsNotFound(LoadSyncedMark(files_, path_ + "x").status()));
}

TEST_F(SyncedMarkTest, TheFileIsSyncedOnceASecondAndWhenTheClockGoesBack) {
  auto writer = SyncedMarkWriter::Open(files_, path_, Load());
  const absl::Time start = absl::FromUnixSeconds(1'764'500'000);
  // A write is one change, a write with a sync two.
  const auto changes = [&](absl::Time now) {
    files_.Set({});
    EXPECT_TRUE(writer->Write(1, Digest(), now).ok());
    return files_.changes();
  };
  EXPECT_EQ(changes(start), 2u);
  EXPECT_EQ(changes(start), 1u);
  EXPECT_EQ(changes(start + absl::Milliseconds(999)), 1u);
  EXPECT_EQ(changes(start + absl::Seconds(1)), 2u);
  EXPECT_EQ(changes(start), 2u);
  EXPECT_EQ(changes(start), 1u);
}

}  // namespace
}  // namespace gpubinder
