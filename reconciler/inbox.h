// What the loop has to take in next: one queue for all threads that have news
// for it.

#ifndef RECONCILER_INBOX_H_
#define RECONCILER_INBOX_H_

#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "k8s/reflector.h"
#include "proto/journal.pb.h"
#include "reconciler/model/config.h"

namespace gpubinder {

// A watch's event, with the generation of watches that it comes from: events
// of watches that were replaced are dropped.
struct WatchNews {
  uint64_t generation = 0;
  ReflectedEvent event;
};
struct LeadershipNews {
  bool leading = false;
  uint64_t epoch = 0;
  std::string holder;
};
// What an operator does by hand, and who waits for what becomes of it.
struct CommandAnswer {
  absl::Notification given;
  absl::StatusOr<v1::Record> result = absl::UnavailableError("not given");

  void Give(absl::StatusOr<v1::Record> what) {
    result = std::move(what);
    given.Notify();
  }
};
struct CommandNews {
  v1::ByHand command;
  std::shared_ptr<CommandAnswer> answer;
};
using News =
    std::variant<WatchNews, v1::Outcome, LeadershipNews, CommandNews, Config>;

class Inbox {
 public:
  // Waits while `kMostWaiting` are waiting, so that a slow disk slows the
  // watches down and not the memory; never waits for anything but watches.
  void Push(News news) {
    absl::MutexLock lock(&mutex_);
    if (std::holds_alternative<WatchNews>(news)) {
      mutex_.Await(absl::Condition(this, &Inbox::HasRoom));
    }
    waiting_.push_back(std::move(news));
  }
  // All that has come, after waiting for something until `deadline`.
  std::vector<News> Take(absl::Time deadline) {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithDeadline(absl::Condition(this, &Inbox::HasNews), deadline);
    std::vector<News> taken(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    return taken;
  }
  // Take returns at once from now on, and Push waits no more.
  void Close() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  // Lets everything in while the watches are being replaced by the very thread
  // that empties the inbox.
  void SetUnbounded(bool unbounded) {
    absl::MutexLock lock(&mutex_);
    unbounded_ = unbounded;
  }
  bool closed() const {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }
  bool empty() const {
    absl::MutexLock lock(&mutex_);
    return waiting_.empty();
  }

 private:
  static constexpr size_t kMostWaiting = 50000;

  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || unbounded_ || waiting_.size() < kMostWaiting;
  }
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || !waiting_.empty();
  }

  mutable absl::Mutex mutex_;
  std::deque<News> waiting_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool unbounded_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpubinder

#endif  // RECONCILER_INBOX_H_
