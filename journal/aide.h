// A thread beside the writer's that does what it is handed, in that order.
//
//   aide.Post([&] { ... }); ... aide.Drain();

#ifndef JOURNAL_AIDE_H_
#define JOURNAL_AIDE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace gpubinder {

// Thread-safe. The thread starts with the first task.
class Aide {
 public:
  Aide() = default;
  // All that was posted is done first.
  ~Aide();
  Aide(const Aide&) = delete;
  Aide& operator=(const Aide&) = delete;

  void Post(std::function<void()> task);
  // All that was posted before the call is done.
  void Drain();

 private:
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return !tasks_.empty() || closed_;
  }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  uint64_t posted_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // started under the mutex
};

}  // namespace gpubinder

#endif  // JOURNAL_AIDE_H_
