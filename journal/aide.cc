#include "journal/aide.h"

#include <utility>

namespace gpubinder {

Aide::~Aide() {
  {
    absl::MutexLock hold(&mutex_);
    closed_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Aide::Post(std::function<void()> task) {
  absl::MutexLock hold(&mutex_);
  tasks_.push_back(std::move(task));
  ++posted_;
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
}

void Aide::Drain() {
  absl::MutexLock hold(&mutex_);
  const uint64_t posted = posted_;
  auto done = [this, posted]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return done_ >= posted;
  };
  mutex_.Await(absl::Condition(&done));
}

void Aide::Work() {
  for (;;) {
    std::function<void()> task;
    {
      absl::MutexLock hold(&mutex_);
      mutex_.Await(absl::Condition(this, &Aide::HasWork));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    // What it holds goes before anybody hears that it is done.
    task = nullptr;
    absl::MutexLock hold(&mutex_);
    ++done_;
  }
}

}  // namespace gpubinder
