// The embedded server on a loopback port: plain HTTP/1.1, keep-alive, chunked
// watches. A thread a connection, at most 256; more are answered 503.

#ifndef K8S_EMBEDDED_HTTP_FRONT_H_
#define K8S_EMBEDDED_HTTP_FRONT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "k8s/embedded/embedded_api_client.h"

namespace gpubinder::embedded {

// Who asks is taken from Impersonate-User or X-Remote-User, else
// system:admin: there is no authentication, which is why it is loopback only.
// Bodies up to 3 MiB, headers up to 64 KiB; a connection that says nothing for
// two minutes is closed.
class HttpFront {
 public:
  virtual ~HttpFront() = default;  // ends every connection and joins
  virtual int port() const = 0;
};

// Listens on 127.0.0.1:`port`; 0 takes a free port. kUnavailable when it is
// taken. `handler` is called from many threads.
absl::StatusOr<std::unique_ptr<HttpFront>> StartHttpFront(ApiHandler handler,
                                                          int port);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_HTTP_FRONT_H_
