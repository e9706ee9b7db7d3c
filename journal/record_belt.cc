#include "journal/record_belt.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

// Enough that a hand-over costs nothing beside the records, and few enough that
// two batches stay in the processor's cache.
constexpr size_t kBatchRecords = 64;
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
  absl::MutexLock hold(&mutex_);
  batches_[filling_].size = filled_;
  filling_ ^= 1;
  filled_ = 0;
  bytes_ = 0;
}

void RecordBelt::End() {
  if (filled_ > 0) HandOver();
  absl::MutexLock hold(&mutex_);
  ended_ = true;
}

bool RecordBelt::VisitAll(const std::function<bool(const v1::Record&)>& visit) {
  for (;;) {
    Batch& batch = batches_[visiting_];
    {
      absl::MutexLock hold(&mutex_);
      mutex_.Await(absl::Condition(this, &RecordBelt::VisitorMayGoOn));
      if (batch.size == 0) return true;
    }
    bool more = true;
    for (size_t i = 0; more && i < batch.size; ++i) {
      if (i + 1 < batch.size) Prefetch(batch.records[i + 1].object().json());
      more = visit(batch.records[i]);
    }
    absl::MutexLock hold(&mutex_);
    batch.size = 0;
    stopped_ = !more;
    if (!more) return false;
    visiting_ ^= 1;
  }
}

}  // namespace gpubinder
