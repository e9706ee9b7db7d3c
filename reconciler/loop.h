// The one loop with side effects.
//
//   news -> append -> fold -> pass -> append decision -> sync -> effects
//     ^                                                            |
//     +------------------ outcomes are news ------------------------+
//
// One thread takes in what came (watch events, outcomes, leadership, a new
// config), appends it as one group, folds it, and runs a pass when something a
// pass could use has changed or its timer is due. A decision is synced before
// its first effect leaves. Writes go on meanwhile: a pass may begin while some
// are under way (rule C10).
//
// A follower and an observer do all of it too; their passes are journaled as
// shadows and nothing is sent.

#ifndef RECONCILER_LOOP_H_
#define RECONCILER_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "journal/journal.h"
#include "k8s/api_client.h"
#include "reconciler/inbox.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// A finished pass, as it is shown to whoever looks on.
struct FinishedPass {
  const PassResult& result;
  const v1::Record& record;  // of its Decision
  const Snapshot& snapshot;  // with the decision folded
};

struct LoopOptions {
  Config config;
  // A client for the watches; asked for again when this process begins to
  // lead, since a leader's first pass follows complete lists.
  std::function<std::unique_ptr<ApiClient>()> new_watch_client;
  std::function<absl::Time()> wall_clock;
  std::function<int64_t()> boot_clock_nanos;
  // Whether the lease still lets a write start. From any thread.
  std::function<bool()> may_write;
  // The first complete lists of all kinds are folded. Once, on the loop's
  // thread.
  std::function<void()> on_synced;
  // Each finished pass, each outcome and each trouble of a watch. On the
  // loop's thread, but trouble on any.
  std::function<void(const FinishedPass&)> on_pass;
  std::function<void(const v1::Record&)> on_outcome;
  std::function<void(Kind, const absl::Status&)> on_trouble;
};

class Loop {
 public:
  // Folds what the journal holds. `journal` and `writes` outlive the loop;
  // the journal is the loop's to append to. Errors: the journal's.
  static absl::StatusOr<std::unique_ptr<Loop>> Open(LoopOptions options,
                                                    Journal& journal,
                                                    ApiClient& writes);
  // Stops.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Starts the thread and the watches. Once.
  void Start();
  // Ends the thread after syncing what was appended, and waits for the answers
  // of writes under way (or stop their client first).
  void Stop();
  // Waits for the end of the thread, from any thread: OK after Stop, else the
  // failure of the journal, after which nothing was sent any more.
  absl::Status Wait();

  void OnLeadership(LeadershipNews news);
  void OnConfig(Config config);

  // Journals what an operator does by hand (by_hand.h), filled in, and returns
  // its record once it is synced; a pass follows. Blocks till then; from any
  // thread but the loop's. kFailedPrecondition: this replica does not lead, or
  // only observes; kDeadlineExceeded: it may still be done; else
  // PrepareByHand's and the journal's.
  absl::StatusOr<v1::Record> CarryOut(v1::ByHand command, absl::Time deadline);

  // Calls `read` with the snapshot held still. From any thread; the loop
  // waits meanwhile.
  void WithSnapshot(absl::FunctionRef<void(const Snapshot&)> read) const;
  // OK: the snapshot can be answered from. kUnavailable: not all kinds have
  // been listed yet, or the journal has failed. From any thread, at once.
  absl::Status Health() const;
  // The highest status.decision.epoch of any claim or set seen.
  uint64_t HighestEpochSeen() const;
  // Nothing is waiting, under way or left to do but for the clock.
  bool IsSettled() const;

 private:
  class Impl;
  explicit Loop(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubinder

#endif  // RECONCILER_LOOP_H_
