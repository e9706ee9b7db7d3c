// One thread that drives all transfers of a client through libcurl's multi
// interface: connections are kept and shared, over TLS as HTTP/2 streams.

#ifndef K8S_CURL_LOOP_H_
#define K8S_CURL_LOOP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "k8s/transfer.h"

namespace gpubinder {

class CurlEasy;  // one request as libcurl wants it

// Fills base_url and connect_to from identity.server and tls_server_name.
// kFailedPrecondition: not an http or https URL.
absl::StatusOr<Endpoint> EndpointOf(const Identity& identity);

class CurlLoop {
 public:
  explicit CurlLoop(Endpoint endpoint);
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;
  // Stops, and waits for the thread.
  ~CurlLoop();

  // Thread-safe, all three. Each started transfer is finished once; after
  // Stop at once. Start gives the number to cancel it by: its address may
  // be another's by the time the order is seen.
  uint64_t Start(Transfer* transfer);
  void Cancel(uint64_t number);
  void Stop();

 private:
  void Main();
  bool TakeOrders() ABSL_LOCKS_EXCLUDED(mutex_);
  void Begin(uint64_t number, Transfer* transfer);
  void End(uint64_t number, TransferEnd end);
  void CollectEnded();

  const Endpoint endpoint_;
  void* const multi_;  // CURLM
  // The thread's own.
  std::map<uint64_t, std::unique_ptr<CurlEasy>> running_;

  absl::Mutex mutex_;
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Transfer*> to_start_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> to_cancel_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it uses the rest
};

}  // namespace gpubinder

#endif  // K8S_CURL_LOOP_H_
