// Sends the effects of a decision and answers what became of each.
//
// Effects of one set go out one after the other, in the order of the
// decision; sets go in parallel, up to a bound, and at most one request is
// under way for an object. A failed one ends the rest of its set. An outcome
// that is not known (a timeout, a cut connection) is read back before anything
// else is written to the object; nothing is sent twice. No opinions here: what
// to do about an outcome is the next pass's.

#ifndef RECONCILER_EFFECTOR_H_
#define RECONCILER_EFFECTOR_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "proto/journal.pb.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

struct EffectorOptions {
  int parallel = 16;  // requests under way
  absl::Duration request_timeout = absl::Seconds(5);
  // Whether a write may still start: the lease says so. Asked right before
  // each request, from any thread.
  std::function<bool()> may_write;
  // Takes each outcome, from any thread, in the order of its set.
  std::function<void(v1::Outcome)> on_outcome;
};

class Effector {
 public:
  // `client` outlives this.
  Effector(EffectorOptions options, ApiClient& client);
  // Stops: effects not yet sent are dropped without an outcome, since the
  // process is about to end. Stop the client first, or wait for its answers.
  ~Effector();
  Effector(const Effector&) = delete;
  Effector& operator=(const Effector&) = delete;

  // The decision's record must be synced. Returns at once.
  void Send(const v1::Decision& decision, const DecisionKey& key);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubinder

#endif  // RECONCILER_EFFECTOR_H_
