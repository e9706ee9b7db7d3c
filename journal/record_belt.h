// Carries records from a thread that reads them to one that visits them, so
// that reading, checking and decompressing go on while records are visited.
// While the visitor is busy the reader also prepares what it has read.
//
// Two threads: the reader calls NextSlot, Put and End, the visitor VisitAll.

#ifndef JOURNAL_RECORD_BELT_H_
#define JOURNAL_RECORD_BELT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "journal/record_visitor.h"
#include "proto/journal.pb.h"

namespace gpubinder {

class RecordBelt {
 public:
  // `visitor` outlives the belt.
  explicit RecordBelt(RecordVisitor& visitor) : visitor_(visitor) {}

  // Where the next record goes; it may hold an old one. Waits while the visitor
  // is two batches behind. Null: the visitor wants no more.
  v1::Record* NextSlot();
  // The slot holds a record of so many bytes now.
  void Put(uint64_t bytes);
  // No more records come.
  void End();

  // Visits all, in order, until End or until Visit returns false, which ends
  // the reader's walk too. True: visited to the end.
  bool VisitAll();

 private:
  static constexpr size_t kBatches = 2;
  // Enough that a hand-over costs nothing beside the records, and few enough
  // that the batches stay in the processor's cache.
  static constexpr size_t kBatchRecords = RecordVisitor::kSlots / kBatches;

  // Its records' buffers serve again. The first `size` are the visitor's, and
  // of them all from `prepared` on are prepared.
  struct Batch {
    std::vector<v1::Record> records;
    size_t size = 0;  // 0: the reader's
    size_t prepared = 0;
  };
  static size_t SlotOf(size_t batch, size_t record) {
    return batch * kBatchRecords + record;
  }
  void HandOver();
  // So that a waiting side sees that the other one is done.
  bool ReaderMayGoOn() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || batches_[filling_].size == 0;
  }
  bool VisitorMayGoOn() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return ended_ || batches_[visiting_].size > 0;
  }

  RecordVisitor& visitor_;

  // The reader's own: what it has put into the batch.
  size_t filled_ = 0;
  uint64_t bytes_ = 0;

  absl::Mutex mutex_;
  // Sizes change under the mutex; records are one side's.
  std::array<Batch, kBatches> batches_;
  // Each is written by one side, under the mutex.
  size_t filling_ = 0, visiting_ = 0;
  // The visitor has nothing to do, so that what is read is better handed over
  // than prepared. Only a hint.
  std::atomic<bool> idle_ = true;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpubinder

#endif  // JOURNAL_RECORD_BELT_H_
