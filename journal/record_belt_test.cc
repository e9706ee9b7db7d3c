#include "journal/record_belt.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/types/span.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

constexpr int kRecords = 1'000;

class RecordBeltTest : public ::testing::Test {
 protected:
  RecordBeltTest() : journal_(*Journal::Open(TestOptions(tests_.New("j")))) {
    std::vector<v1::Record> records = Notes(1, kRecords);
    EXPECT_TRUE(journal_->Append(absl::MakeSpan(records)).ok());
  }

  TestDirectory tests_;
  const std::unique_ptr<Journal> journal_;
};

// Counts what is not as promised.
class CheckingVisitor : public RecordVisitor {
 public:
  explicit CheckingVisitor(uint64_t last) : last_(last) {}
  void Prepare(size_t slot, const v1::Record& record) override {
    uint64_t free = 0;
    if (!prepared_.at(slot).compare_exchange_strong(free, record.sequence())) {
      ++faults;
    }
  }
  bool Visit(size_t slot, const v1::Record& record) override {
    if (prepared_.at(slot).exchange(0) != record.sequence()) ++faults;
    if (record.sequence() != ++visited) ++faults;
    return visited < last_;
  }

  uint64_t visited = 0;
  std::atomic<int> faults = 0;

 private:
  const uint64_t last_;
  std::array<std::atomic<uint64_t>, kSlots> prepared_ = {};
};

TEST_F(RecordBeltTest, EachRecordIsPreparedOnceInASlotThatIsItsOwn) {
  CheckingVisitor visitor(kRecords + 1);
  ASSERT_TRUE(journal_->Read(1, visitor).ok());
  EXPECT_EQ(visitor.visited, static_cast<uint64_t>(kRecords));
  EXPECT_EQ(visitor.faults, 0);
}

TEST_F(RecordBeltTest, TheWalkEndsWhereTheVisitorWantsNoMore) {
  for (const uint64_t last : {1, 63, 64, 65, 128, 300, kRecords}) {
    CheckingVisitor visitor(last);
    ASSERT_TRUE(journal_->Read(1, visitor).ok());
    EXPECT_EQ(visitor.visited, last);
    EXPECT_EQ(visitor.faults, 0);
  }
}

TEST_F(RecordBeltTest, AShortStretchIsPreparedToo) {
  CheckingVisitor visitor(0);
  visitor.visited = kRecords - 5;
  ASSERT_TRUE(journal_->Read(kRecords - 4, visitor).ok());
  EXPECT_EQ(visitor.visited, static_cast<uint64_t>(kRecords - 4));
  EXPECT_EQ(visitor.faults, 0);
}

// Stays with the first record until another thread has prepared one.
class BusyVisitor : public RecordVisitor {
 public:
  void Prepare(size_t, const v1::Record&) override {
    if (std::this_thread::get_id() != visits_on_) ++helped;
    if (helped == 1) help_.Notify();
  }
  bool Visit(size_t, const v1::Record&) override {
    if (visited++ == 0) busy.Notify();
    help_.WaitForNotification();
    return true;
  }

  absl::Notification busy;
  int helped = 0, visited = 0;

 private:
  const std::thread::id visits_on_ = std::this_thread::get_id();
  absl::Notification help_;
};

TEST(RecordBeltWithoutJournalTest, TheReaderPreparesForAVisitorThatIsBusy) {
  BusyVisitor visitor;
  RecordBelt belt(visitor);
  std::thread reader([&] {
    // A text of a megabyte is a batch of its own.
    for (int i = 0; i < 2; ++i) {
      if (i == 1) visitor.busy.WaitForNotification();
      belt.NextSlot()->set_sequence(i + 1);
      belt.Put(1 << 20);
    }
    belt.End();
  });
  EXPECT_TRUE(belt.VisitAll());
  reader.join();
  EXPECT_EQ(visitor.helped, 1);
  EXPECT_EQ(visitor.visited, 2);
}

}  // namespace
}  // namespace gpubinder
