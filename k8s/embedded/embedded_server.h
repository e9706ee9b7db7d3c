// A Kubernetes API server in the process, with what stands in for KubeVirt,
// the scheduler, kubelets and the garbage collector.
//
//   EmbeddedServer server({.admission = hook});
//   std::unique_ptr<ApiClient> client = server.NewClient("system:admin", {});
//   client->Create({.version = "v1", .plural = "nodes"}, node, timeout);
//   server.RunUntilIdle();   // collector and stand-ins, on this thread
//
// Deterministic with an injected clock when everything runs on one thread:
// uids and generated names come from the seed, stand-ins act only in Step.
// README.md says what is real here and what is not.

#ifndef K8S_EMBEDDED_EMBEDDED_SERVER_H_
#define K8S_EMBEDDED_EMBEDDED_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "k8s/embedded/admission.h"
#include "k8s/embedded/api_message.h"
#include "k8s/embedded/embedded_api_client.h"
#include "k8s/embedded/store.h"

namespace gpubinder::embedded {

struct EmbeddedOptions {
  AdmissionHook admission;            // empty: no webhook is installed
  std::function<absl::Time()> clock;  // empty: absl::Now
  size_t event_window = 100000;       // revisions that watches can go back
  uint64_t seed = 1;                  // of uids and generated names
  std::string kubevirt_user =         // who creates VMIs and launchers
      "system:serviceaccount:cozy-kubevirt:kubevirt-controller";
  absl::Duration start_backoff = absl::Seconds(10);  // of failed VM starts
};

// Thread-safe. Destroying it stops what it started.
class EmbeddedServer {
 public:
  explicit EmbeddedServer(EmbeddedOptions options);
  ~EmbeddedServer();
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // A client without a socket. The server must outlive it.
  std::unique_ptr<ApiClient> NewClient(absl::string_view user,
                                       FaultHook faults);
  // One request, answered on this thread.
  ApiAnswer Handle(const ApiRequest& request);
  // Replaces the hook: a webhook that needs a client of this server is made
  // after it. Not while requests are under way.
  void SetAdmission(AdmissionHook hook);

  // Serves plain HTTP/1.1 on 127.0.0.1; port 0 takes a free one. At most
  // once. kUnavailable when the port is taken.
  absl::Status ListenHttp(int port);
  // The port that is listened on; 0 before ListenHttp.
  int port() const;

  // The last revision written.
  uint64_t revision() const;
  // Sees every later revision; see RevisionObserver for what it may do.
  void ObserveRevisions(RevisionObserver observer);
  // Forgets events up to `revision`: older watches and lists get 410.
  void CompactEvents(uint64_t revision);

  // Lets the collector, KubeVirt, scheduler and kubelet stand-ins act once
  // each, in that order. True: something was written.
  bool Step();
  // Steps until nothing is written. False: still busy after 1,000 steps.
  bool RunUntilIdle();
  // Steps on a thread of its own, after each write and every `period`. At
  // most once; ends with the server or StopStandIns.
  void StartStandIns(absl::Duration period);
  void StopStandIns();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_EMBEDDED_SERVER_H_
