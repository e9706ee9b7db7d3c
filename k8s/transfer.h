// One HTTP request under way: what to send, and the answer as it comes.
//
// The caller makes a Transfer, hands it to CurlLoop::Start, and takes bytes
// until the end; the loop's thread fills it. It stays the caller's: it must
// outlive its end.

#ifndef K8S_TRANSFER_H_
#define K8S_TRANSFER_H_

#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "k8s/identity.h"

namespace gpubinder {

// Where the connections go, fixed for a client.
struct Endpoint {
  Identity identity;
  std::string base_url;    // with the name that the certificate must have
  std::string connect_to;  // curl's form; empty: as base_url says
  std::string user_agent;
  absl::Duration connect_timeout;
};

struct TransferRequest {
  std::string method;
  std::string target;        // path and query, after base_url
  std::string content_type;  // empty: no body
  std::string body;
  std::string token;  // empty: none
  absl::Duration timeout;
  // Bytes of the answer that may wait to be taken.
  size_t max_waiting_bytes = 0;
  enum class Compression { kNone, kGzip } compression = Compression::kNone;
  // A read may be sent again on a new connection if an idle one turns out
  // dead. A write may not: it might have been applied.
  enum class Resend { kNever, kOnDeadConnection } resend = Resend::kNever;
  enum class Connection { kReused, kNew } connection = Connection::kReused;
};

struct TransferEnd {
  int http_code = 0;       // 0: no answer began
  std::string trouble;     // why the answer is not whole; empty: it is
  bool sent = false;       // the request may have reached the server
  bool stopped = false;    // by Cancel or Stop
  bool timed_out = false;  // by `timeout`
  bool too_big = false;    // max_waiting_bytes
  absl::Duration retry_after = absl::ZeroDuration();
};

class Transfer {
 public:
  explicit Transfer(TransferRequest request);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  const TransferRequest& request() const { return request_; }

  // What came since the last call, waiting until there is something and the
  // HTTP code is known; empty: the end.
  struct Bytes {
    int http_code = 0;
    std::string text;
  };
  Bytes Take() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for the end and returns all that was not taken.
  std::string TakeAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for the end.
  TransferEnd AwaitEnd() ABSL_LOCKS_EXCLUDED(mutex_);

  // By the loop's thread. False: too many bytes wait.
  bool Append(int http_code, absl::string_view text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The last touch; the Transfer may be gone when it returns.
  void Finish(TransferEnd end) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const TransferRequest request_;
  absl::Mutex mutex_;
  int http_code_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string waiting_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  TransferEnd end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpubinder

#endif  // K8S_TRANSFER_H_
