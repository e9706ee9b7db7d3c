// ApiClient to a real API server: libcurl on one thread of its own, HTTP/2
// over TLS where the server offers it, one kept connection for all calls.
//
// All calls of one client share a connection, and one stalled connection
// stalls them all: whoever renews the Lease has a client for that alone.
//
// Nothing is sent twice, with two exceptions: a call is sent once more after
// a 401 if the token's file holds another token by now, since a 401 was not
// applied; and a read whose kept connection turns out dead is sent on a new
// one. A call that was cut short may have been applied (kDeadlineExceeded,
// ApiErrorOf().sent); one that never left was not (kUnavailable).

#ifndef K8S_HTTP_API_CLIENT_H_
#define K8S_HTTP_API_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "k8s/identity.h"

namespace gpubinder {

class BearerToken;
class CurlLoop;
struct ApiCall;
struct TransferEnd;

struct HttpApiOptions {
  // Not "curl...": the API server then sends indented JSON, twice the bytes.
  std::string user_agent = "gpubinder";
  absl::Duration connect_timeout = absl::Seconds(10);
  // What a watch may last beyond the time the server was told.
  absl::Duration watch_slack = absl::Seconds(30);
  // An answer over these is kDataLoss. Objects are 1.5 MiB at most in etcd.
  size_t max_page_bytes = size_t{256} << 20;
  size_t max_object_bytes = size_t{4} << 20;  // also a line of a watch
  // What a watch may have read and its caller not yet taken.
  size_t max_waiting_watch_bytes = size_t{64} << 20;
};

class HttpApiClient : public ApiClient {
 public:
  // kFailedPrecondition: the identity names no http or https server. Opens no
  // connection yet.
  static absl::StatusOr<std::unique_ptr<HttpApiClient>> Open(
      const Identity& identity, HttpApiOptions options);
  // No call may be under way.
  ~HttpApiClient() override;

  absl::StatusOr<std::string> Get(const ResourcePath& path,
                                  absl::Duration timeout) override;
  // The page's JSON is not checked beyond its first and last byte.
  absl::StatusOr<std::string> List(const ResourcePath& path,
                                   const ListOptions& options) override;
  // Half a line at the end is dropped. A line over max_object_bytes is
  // kDataLoss, a caller too slow by max_waiting_watch_bytes kUnavailable.
  absl::Status Watch(
      const ResourcePath& path, const WatchOptions& options,
      const std::function<bool(absl::string_view line)>& on_event) override;
  absl::StatusOr<std::string> Create(const ResourcePath& path,
                                     absl::string_view body,
                                     absl::Duration timeout) override;
  absl::StatusOr<std::string> Replace(const ResourcePath& path,
                                      absl::string_view body,
                                      absl::Duration timeout) override;
  absl::StatusOr<std::string> Patch(const ResourcePath& path, PatchType type,
                                    absl::string_view body,
                                    absl::Duration timeout) override;
  absl::StatusOr<std::string> Delete(const ResourcePath& path,
                                     absl::string_view body,
                                     absl::Duration timeout) override;
  void Stop() override;

 private:
  HttpApiClient(const Identity& identity, HttpApiOptions options,
                std::unique_ptr<CurlLoop> loop);

  absl::StatusOr<std::string> Call(const ApiCall& call);
  absl::StatusOr<std::string> Settle(const ApiCall& call,
                                     const TransferEnd& end, std::string body);
  absl::Status Stream(const ApiCall& call, const std::string& token,
                      const std::function<bool(absl::string_view)>& on_event);

  const HttpApiOptions options_;
  const bool disable_compression_;
  const std::unique_ptr<BearerToken> token_;
  const std::unique_ptr<CurlLoop> loop_;
  // After a timeout the connection itself is in doubt.
  std::atomic<bool> connect_anew_ = false;
};

}  // namespace gpubinder

#endif  // K8S_HTTP_API_CLIENT_H_
