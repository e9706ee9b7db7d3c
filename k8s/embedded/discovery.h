// What a client asks to find out which kinds there are: /version, /api,
// /apis and below, /openapi/v3.

#ifndef K8S_EMBEDDED_DISCOVERY_H_
#define K8S_EMBEDDED_DISCOVERY_H_

#include <optional>
#include <string>

#include "k8s/embedded/request_target.h"

namespace gpubinder::embedded {

// The JSON document at that path; nothing when it is no discovery path.
// OpenAPI names each kind with its parameters, so that kubectl leaves field
// validation to the server; only our own kinds have their fields in it.
std::optional<std::string> DiscoveryDocument(const RequestTarget& target);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_DISCOVERY_H_
