// An ApiClient that calls the embedded server without a socket, and a hook
// that makes calls fail the way networks do.

#ifndef K8S_EMBEDDED_EMBEDDED_API_CLIENT_H_
#define K8S_EMBEDDED_EMBEDDED_API_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "k8s/api_client.h"
#include "k8s/embedded/api_message.h"

namespace gpubinder::embedded {

struct Fault {
  enum class Kind {
    kNone,
    kRefuse,      // the server never sees the request; `error` is the answer
    kLoseAnswer,  // the server handles it; the caller gets `error`
  };
  Kind kind = Kind::kNone;
  ApiError error;  // code 0: no answer at all
};

// Asked before each call, watches included. Called on the caller's thread.
using FaultHook = std::function<Fault(const ApiRequest&)>;
// Handles a request: EmbeddedServer::Handle.
using ApiHandler = std::function<ApiAnswer(const ApiRequest&)>;

// A client of `handler` as `user`. An empty `faults` means none.
//
// Watch: a timeout of zero delivers what is there, a bookmark after it when
// asked for, and returns: deterministic tests poll with it. Otherwise it
// blocks until the timeout, Stop, or on_event returns false.
std::unique_ptr<ApiClient> NewEmbeddedApiClient(ApiHandler handler,
                                                absl::string_view user,
                                                FaultHook faults);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_EMBEDDED_API_CLIENT_H_
