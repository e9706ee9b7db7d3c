// What Journal::Read wants of who reads.

#ifndef JOURNAL_RECORD_VISITOR_H_
#define JOURNAL_RECORD_VISITOR_H_

#include <cstddef>

#include "proto/journal.pb.h"

namespace gpubinder {

// Sees the records of a stretch in two steps.
class RecordVisitor {
 public:
  // Of the records prepared and not visited yet.
  static constexpr size_t kSlots = 128;

  virtual ~RecordVisitor() = default;
  // What can be made of a record without those before it. Called once for each
  // before its Visit, in any order, by one of two threads, both at a time.
  // Until that Visit the slot, which is below kSlots, is this record's.
  virtual void Prepare(size_t slot, const v1::Record& record) = 0;
  // In order, on the thread that called Read. False: no more records.
  virtual bool Visit(size_t slot, const v1::Record& record) = 0;
};

}  // namespace gpubinder

#endif  // JOURNAL_RECORD_VISITOR_H_
