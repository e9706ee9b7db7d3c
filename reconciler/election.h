// Who leads, by the Lease: the rules of client-go's election, with epochs.
//
//   LeaseElection election(config, identity, client, SystemClocks());
//   for (;;) SleepUntil(election.Tick());
//
// Time is the boot clock of this machine: it counts while the machine sleeps,
// and nobody sets it. The wall clock is only what the Lease shows to people.
// A lease does not fence; what keeps two leaders from writing at once is
// MayStartWrite, and that a new leader waits until the old one's is false and
// its longest request is over.

#ifndef RECONCILER_ELECTION_H_
#define RECONCILER_ELECTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "reconciler/lease.h"
#include "reconciler/model/config.h"

namespace gpubinder {

struct ElectionClocks {
  std::function<absl::Duration()> boot;  // since the machine started
  std::function<absl::Time()> wall;
};
ElectionClocks SystemClocks();

struct LeaderState {
  bool leading = false;
  uint64_t epoch = 0;  // of our last term; 0: none yet
  std::string holder;  // as last seen; empty: nobody
  absl::Status last;   // what became of the last request
};

// kInvalidArgument unless requestTimeout + retryPeriod < renewDeadline <
// leaseDuration and leaseDuration is whole seconds: with other times a leader
// could never write, or two could.
absl::Status CheckLeaseTimes(const Config& config);

class LeaseElection {
 public:
  // `config` has passed CheckLeaseTimes. `identity` is "<pod>_<journal uid>":
  // one process at a time has it, guarded by the journal's lock. `client`
  // outlives this and has no other user, so that no other call delays one.
  LeaseElection(const Config& config, std::string identity, ApiClient& client,
                ElectionClocks clocks);

  // Sends at most one request if one is due and returns when, by the boot
  // clock, to be called again; earlier does no harm. One thread at a time.
  absl::Duration Tick();

  // Gives the Lease up so that another takes it without waiting. Not before
  // the last write under this leadership has been answered. Some requests, at
  // most until the renew deadline; no Tick afterwards.
  absl::Status Release();

  // Any thread. An epoch found in an object of the cluster: the next term
  // gets a higher one, and a leader with a lower one leads no more, at once.
  // Before the first Tick, tell the highest of the first lists.
  void NoteEpoch(uint64_t epoch);

  // Any thread. As of the last Tick.
  LeaderState State() const;
  // Any thread. Whether a write that starts now is over, or has timed out,
  // before another may lead. Reads the boot clock.
  bool MayStartWrite() const;

 private:
  enum class Due { kRead, kWrite };

  // Past its last moment, or its epoch is not the highest.
  void EndTermIfOver();
  void EndTerm();
  void StartLeadingIfDue();
  absl::Duration NextTick() const;

  void Read(absl::Duration now);
  void Write(absl::Duration now);
  void Observe(std::optional<Lease> lease);
  // What follows from the Lease just read.
  void Decide();
  // From when on a Lease that we do not hold may be taken.
  absl::Duration FreeAt() const;
  // There is none, though somebody has led before.
  bool WasDeleted() const;
  absl::Status ReleaseStep();

  // Nothing: the server has none.
  absl::StatusOr<std::optional<Lease>> Get();
  absl::StatusOr<Lease> Put(const LeaseHold& hold);
  ResourcePath Path(std::string name) const;
  // Keeps and returns the status.
  absl::Status Note(const absl::Status& status);

  const Config config_;
  const std::string identity_;
  ApiClient& client_;
  const ElectionClocks clocks_;

  // Of the thread that ticks.
  Due due_ = Due::kRead;
  absl::Duration due_at_ = -absl::InfiniteDuration();
  std::optional<Lease> lease_;  // as last seen; nothing: it is not there
  bool looked_ = false;         // there was an answer: lease_ says something
  bool existed_ = false;        // there was one at some time
  absl::Duration changed_at_;   // when lease_ was last seen to change
  absl::Duration wrote_at_ = -absl::InfiniteDuration();  // the last try
  bool holding_ = false;  // in a term; leads from lead_at_ on
  absl::Duration lead_at_;
  bool has_led_ = false;      // in this term
  absl::Duration lead_wait_;  // of the write that is due
  bool contested_ = false;    // a higher epoch ended the last term
  bool released_ = false;

  mutable absl::Mutex mu_;
  LeaderState state_ ABSL_GUARDED_BY(mu_);
  uint64_t noted_epoch_ ABSL_GUARDED_BY(mu_) = 0;    // in an object
  uint64_t highest_epoch_ ABSL_GUARDED_BY(mu_) = 0;  // there or in the Lease
  absl::Duration renewed_at_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
};

}  // namespace gpubinder

#endif  // RECONCILER_ELECTION_H_
