// A cluster in the process with a binder in it: the embedded API server, its
// stand-ins for KubeVirt, scheduler and kubelets, the admission functions, and
// the real binder with a real journal.
//
//   auto cluster = SandboxCluster::Start(options);
//   (*cluster)->Apply(texts);
//   (*cluster)->AwaitQuiet(absl::Seconds(2), absl::Minutes(1));

#ifndef TOOLS_SANDBOX_CLUSTER_H_
#define TOOLS_SANDBOX_CLUSTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "k8s/embedded/embedded_server.h"
#include "reconciler/binder.h"
#include "tools/text_files.h"

namespace gpubinder {

struct SandboxOptions {
  Config config;
  std::string journal_directory;
  std::string grpc_address;  // empty: no gRPC service
  // Of VMs whose start has failed; KubeVirt's own is 10 s and grows.
  absl::Duration start_backoff = absl::Seconds(10);
  // Whether KubeVirt, scheduler and kubelets act by themselves.
  bool stand_ins = true;
  // On the loop's thread. May be empty.
  std::function<void(const FinishedPass&)> on_pass;
  std::function<void(const v1::Record&)> on_outcome;
  // Asked while it waits: whether to wait no longer. May be empty.
  std::function<bool()> is_interrupted;
  // Sees every revision of the server, under its lock. May be empty.
  embedded::RevisionObserver on_revision;
};

class SandboxCluster {
 public:
  // Returns once the binder leads. Errors: the journal's, the address's;
  // CANCELLED: interrupted.
  static absl::StatusOr<std::unique_ptr<SandboxCluster>> Start(
      SandboxOptions options);
  ~SandboxCluster();
  SandboxCluster(const SandboxCluster&) = delete;
  SandboxCluster& operator=(const SandboxCluster&) = delete;

  // Creates each object, or patches the one that is there (a merge patch with
  // the whole text). Objects of kinds that are not modelled are passed over
  // and named in `skipped`. The first error ends it, and names the text;
  // CANCELLED: interrupted.
  absl::Status Apply(const std::vector<InputText>& texts,
                     std::vector<std::string>& skipped);

  // Waits until nothing but the Lease was written for `quiet` and the binder
  // has nothing to do. False: not within `limit`, or interrupted.
  bool AwaitQuiet(absl::Duration quiet, absl::Duration limit);

  embedded::EmbeddedServer& server() { return server_; }
  const Binder& binder() const { return *binder_; }
  ApiClient& client() { return *client_; }

 private:
  explicit SandboxCluster(SandboxOptions options);
  absl::Status Begin();
  absl::Status AwaitLeading();
  bool IsInterrupted() const {
    return options_.is_interrupted && options_.is_interrupted();
  }
  absl::StatusOr<std::string> Admit(const embedded::AdmissionCall& call);

  const SandboxOptions options_;
  std::atomic<uint64_t> writes_ = 0;  // but those of the Lease
  std::atomic<bool> led_ = false;
  absl::Notification leads_;
  embedded::EmbeddedServer server_;
  std::unique_ptr<ApiClient> client_, admission_client_;
  std::unique_ptr<Binder> binder_;
};

}  // namespace gpubinder

#endif  // TOOLS_SANDBOX_CLUSTER_H_
