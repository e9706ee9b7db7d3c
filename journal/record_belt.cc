#include "journal/record_belt.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "journal/record.h"

namespace gpubinder {
namespace {

constexpr uint64_t kBatchBytes = 256 << 10;

// The text was written by another core, from where each line would be waited
// for.
void Prefetch(absl::string_view text) {
  constexpr size_t kLine = 64, kMost = 8 << 10;
  for (size_t at = 0; at < std::min(text.size(), kMost); at += kLine) {
    __builtin_prefetch(text.data() + at);
  }
}

}  // namespace

v1::Record* RecordBelt::NextSlot() {
  std::vector<v1::Record>& records = batches_[filling_].records;
  if (filled_ == 0) {
    absl::MutexLock hold(&mutex_);
    mutex_.Await(absl::Condition(this, &RecordBelt::ReaderMayGoOn));
    if (stopped_) return nullptr;
    records.resize(kBatchRecords);
  }
  return &records[filled_];
}

void RecordBelt::Put(uint64_t bytes) {
  ++filled_;
  bytes_ += bytes;
  if (filled_ == kBatchRecords || bytes_ >= kBatchBytes) HandOver();
}

void RecordBelt::HandOver() {
  Batch& batch = batches_[filling_];
  size_t prepared = filled_;
  // From the end, so that the visitor begins with those it prepares itself.
  while (prepared > 0 && !idle_.load(std::memory_order_relaxed)) {
    --prepared;
    visitor_.Prepare(SlotOf(filling_, prepared), batch.records[prepared]);
  }
  absl::MutexLock hold(&mutex_);
  batch.prepared = prepared;
  batch.size = filled_;
  filling_ ^= 1;
  filled_ = 0;
  bytes_ = 0;
}

void RecordBelt::End() {
  if (filled_ > 0) HandOver();
  absl::MutexLock hold(&mutex_);
  ended_ = true;
}

bool RecordBelt::VisitAll() {
  for (;;) {
    Batch& batch = batches_[visiting_];
    {
      absl::MutexLock hold(&mutex_);
      idle_.store(true, std::memory_order_relaxed);
      mutex_.Await(absl::Condition(this, &RecordBelt::VisitorMayGoOn));
      if (batch.size == 0) return true;
      idle_.store(false, std::memory_order_relaxed);
    }
    bool more = true;
    for (size_t i = 0; more && i < batch.size; ++i) {
      v1::Record& record = batch.records[i];
      const size_t slot = SlotOf(visiting_, i);
      if (i < batch.prepared) {
        if (i + 1 < batch.prepared) {
          Prefetch(batch.records[i + 1].object().json());
        }
        visitor_.Prepare(slot, record);
      }
      more = visitor_.Visit(slot, record);
      if (record.object().json().size() > kKeptBytes) record.Clear();
    }
    absl::MutexLock hold(&mutex_);
    batch.size = 0;
    stopped_ = !more;
    if (!more) {
      idle_.store(true, std::memory_order_relaxed);
      return false;
    }
    visiting_ ^= 1;
  }
}

}  // namespace gpubinder
