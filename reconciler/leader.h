// Leadership on a thread of its own, so that neither a long pass nor a slow
// write delays a renewal.
//
//   Leader leader(config, identity, lease_client, SystemClocks());
//   leader.NoteEpoch(highest epoch in the first lists);
//   leader.Start([&](const LeaderState& state) { loop.Post(state); });
//   ...
//   if (leader.MayStartWrite()) Send(effect);

#ifndef RECONCILER_LEADER_H_
#define RECONCILER_LEADER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "k8s/api_client.h"
#include "reconciler/election.h"
#include "reconciler/model/config.h"

namespace gpubinder {

class Leader {
 public:
  // As LeaseElection.
  Leader(const Config& config, std::string identity, ApiClient& client,
         ElectionClocks clocks);
  // Stops, if nobody has. The Lease is released then.
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  // Once. `on_change` runs on the thread, at first with the state that the
  // first request gave, then whenever leading, epoch, holder or the code of
  // the last request is another. It delays renewals, so it must not block.
  void Start(std::function<void(const LeaderState&)> on_change);

  // Ends the thread and releases the Lease; `on_change` has then said that we
  // lead no more. Call it once the last write has been answered. Takes a
  // request or two, at most requestTimeout + renewDeadline. The status is
  // that of the release.
  absl::Status Stop();

  // Any thread; as in LeaseElection.
  void NoteEpoch(uint64_t epoch);
  LeaderState State() const { return election_.State(); }
  bool MayStartWrite() const { return election_.MayStartWrite(); }

 private:
  void Run();
  void Report();

  LeaseElection election_;
  const ElectionClocks clocks_;
  std::function<void(const LeaderState&)> on_change_;
  LeaderState reported_;
  bool has_reported_ = false;
  // Waits by the steady clock: Abseil's wait by the wall clock, which may be
  // set back an hour in the middle of a term.
  std::mutex mu_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mu_
  bool look_ = false;      // guarded by mu_: tick now
  std::thread thread_;
};

}  // namespace gpubinder

#endif  // RECONCILER_LEADER_H_
