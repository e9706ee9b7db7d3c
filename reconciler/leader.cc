#include "reconciler/leader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/time/time.h"
#include "proto/check.h"

namespace gpubinder {

Leader::Leader(const Config& config, std::string identity, ApiClient& client,
               ElectionClocks clocks)
    : election_(config, std::move(identity), client, clocks),
      clocks_(std::move(clocks)) {}

Leader::~Leader() {
  if (thread_.joinable()) Stop().IgnoreError();
}

void Leader::Start(std::function<void(const LeaderState&)> on_change) {
  BINDER_CHECK(!thread_.joinable());
  on_change_ = std::move(on_change);
  thread_ = std::thread([this] { Run(); });
}

absl::Status Leader::Stop() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return absl::OkStatus();
  thread_.join();
  absl::Status released = election_.Release();
  Report();
  return released;
}

void Leader::NoteEpoch(uint64_t epoch) {
  const bool led = election_.State().leading;
  election_.NoteEpoch(epoch);
  if (!led || election_.State().leading) return;
  {
    std::lock_guard<std::mutex> lock(mu_);
    look_ = true;
  }
  wake_.notify_all();
}

void Leader::Run() {
  std::unique_lock<std::mutex> lock(mu_);
  while (!stopping_) {
    look_ = false;
    lock.unlock();
    const absl::Duration next = election_.Tick();
    Report();
    lock.lock();
    const absl::Duration wait =
        std::max(absl::ZeroDuration(), next - clocks_.boot());
    // A machine that slept wakes up late by this clock, not by the boot clock.
    const auto most = std::min(wait, absl::Seconds(1));
    wake_.wait_for(lock, absl::ToChronoNanoseconds(most),
                   [this] { return stopping_ || look_; });
  }
}

void Leader::Report() {
  LeaderState state = election_.State();
  const bool same = has_reported_ && state.leading == reported_.leading &&
                    state.epoch == reported_.epoch &&
                    state.holder == reported_.holder &&
                    state.last.code() == reported_.last.code();
  if (same) return;
  has_reported_ = true;
  reported_ = state;
  on_change_(state);
}

}  // namespace gpubinder
