// Carries records from a thread that reads them to one that visits them, so
// that reading, checking and decompressing go on while records are visited.
//
// Two threads: the reader calls NextSlot, Put and End, the visitor VisitAll.

#ifndef JOURNAL_RECORD_BELT_H_
#define JOURNAL_RECORD_BELT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/journal.pb.h"

namespace gpubinder {

class RecordBelt {
 public:
  // Where the next record goes; it may hold an old one. Waits while the visitor
  // is two batches behind. Null: the visitor wants no more.
  v1::Record* NextSlot();
  // The slot holds a record of so many bytes now.
  void Put(uint64_t bytes);
  // No more records come.
  void End();

  // Visits all, in order, until End or until visit returns false, which ends
  // the reader's walk too. True: visited to the end.
  bool VisitAll(const std::function<bool(const v1::Record&)>& visit);

 private:
  // Its records' buffers serve again. The first `size` are the visitor's.
  struct Batch {
    std::vector<v1::Record> records;
    size_t size = 0;  // 0: the reader's
  };
  void HandOver();
  // So that a waiting side sees that the other one is done.
  bool ReaderMayGoOn() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || batches_[filling_].size == 0;
  }
  bool VisitorMayGoOn() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return ended_ || batches_[visiting_].size > 0;
  }

  // The reader's own: what it has put into the batch.
  size_t filled_ = 0;
  uint64_t bytes_ = 0;

  absl::Mutex mutex_;
  // Sizes change under the mutex; records are one side's.
  std::array<Batch, 2> batches_;
  // Each is written by one side, under the mutex.
  size_t filling_ = 0, visiting_ = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpubinder

#endif  // JOURNAL_RECORD_BELT_H_
