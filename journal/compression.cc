#include "journal/compression.h"

namespace gpubinder {

Compression::Compression(const RecordCodec& codec, uint64_t first,
                         absl::Span<v1::Record> records)
    : codec_(codec), first_(first), records_(records) {
  stored_.resize(records.size());
}

void Compression::Help() {
  size_t compressed = 0;
  for (size_t i; (i = next_.fetch_add(1)) < stored_.size(); ++compressed) {
    stored_[i] = codec_.Compress(first_ + i, records_[i]);
  }
  if (compressed == 0) return;
  done_.fetch_add(compressed);
  done_.notify_all();
}

std::vector<absl::StatusOr<std::string>>& Compression::Wait() {
  for (size_t done; (done = done_.load()) < stored_.size();) done_.wait(done);
  return stored_;
}

}  // namespace gpubinder
