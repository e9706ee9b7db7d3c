// A whole binder in the process: journal, loop, leadership, gRPC service.
// `gpubinder run` has one against a cluster, `gpubinder sandbox` against the
// embedded server.

#ifndef RECONCILER_BINDER_H_
#define RECONCILER_BINDER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "reconciler/leader.h"
#include "reconciler/loop.h"

namespace gpubinder {

struct BinderOptions {
  Config config;  // has passed CheckLeaseTimes
  std::string journal_directory;
  std::string pod_name;      // the first part of the Lease's identity
  std::string grpc_address;  // host:port, port 0 for any; empty: no service
  // Asked for a client each for watches, writes and the Lease, so that none
  // delays another.
  std::function<std::unique_ptr<ApiClient>()> new_client;
  // On the loop's thread.
  std::function<void(const FinishedPass&)> on_pass;
  std::function<void(const v1::Record&)> on_outcome;
  // On any thread.
  std::function<void(Kind, const absl::Status&)> on_trouble;
  std::function<void(const LeaderState&)> on_leadership;
};

class Binder {
 public:
  // Opens the journal and folds it. Errors: the journal's (UNAVAILABLE:
  // another process has it; DATA_LOSS: damaged), the address's.
  static absl::StatusOr<std::unique_ptr<Binder>> Open(BinderOptions options);
  // Stops.
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // Once.
  void Start();
  // Ends passes, waits for the answers of writes under way, gives the Lease
  // up. At most the request timeout and a little.
  void Stop();
  // Blocks until the loop has ended by itself: the journal has failed, and
  // nothing is sent any more. OK after Stop from another thread.
  absl::Status Wait();

  // Takes effect with the next pass; the times of the Lease and of requests
  // with the next start. From any thread.
  void OnConfig(Config config);

  const Loop& loop() const;
  const std::string& journal_uid() const;
  int grpc_port() const;  // 0: no service

 private:
  class Impl;
  explicit Binder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubinder

#endif  // RECONCILER_BINDER_H_
