#include "k8s/transfer.h"

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace gpubinder {

Transfer::Transfer(TransferRequest request) : request_(std::move(request)) {}

// Lets the loop's thread leave Finish before the mutex goes.
Transfer::~Transfer() { absl::MutexLock lock(&mutex_); }

bool Transfer::HasNews() const { return ended_ || !waiting_.empty(); }

Transfer::Bytes Transfer::Take() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Transfer::HasNews));
  return {.http_code = http_code_, .text = std::exchange(waiting_, {})};
}

std::string Transfer::TakeAll() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&ended_));
  return std::exchange(waiting_, {});
}

TransferEnd Transfer::AwaitEnd() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&ended_));
  return end_;
}

bool Transfer::Append(int http_code, absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  if (text.size() > request_.max_waiting_bytes - waiting_.size()) return false;
  http_code_ = http_code;
  waiting_.append(text.data(), text.size());
  return true;
}

void Transfer::Finish(TransferEnd end) {
  absl::MutexLock lock(&mutex_);
  http_code_ = end.http_code;
  end_ = std::move(end);
  ended_ = true;
}

}  // namespace gpubinder
