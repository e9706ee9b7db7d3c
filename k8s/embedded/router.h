// From a request to the function that answers it.

#ifndef K8S_EMBEDDED_ROUTER_H_
#define K8S_EMBEDDED_ROUTER_H_

#include "k8s/embedded/api_message.h"
#include "k8s/embedded/backend.h"

namespace gpubinder::embedded {

// Never fails: whatever comes in, the answer is a response.
ApiAnswer HandleRequest(Backend& backend, const ApiRequest& request);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_ROUTER_H_
