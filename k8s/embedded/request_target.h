// The path and query of a request, taken apart.

#ifndef K8S_EMBEDDED_REQUEST_TARGET_H_
#define K8S_EMBEDDED_REQUEST_TARGET_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "k8s/embedded/write.h"

namespace gpubinder::embedded {

struct RequestTarget {
  std::vector<std::string> path;  // segments, decoded
  std::map<std::string, std::string> query;

  // Empty when it is not there.
  std::string Query(const std::string& name) const;
  bool Says(const std::string& name) const;  // true or 1
};

// Nothing for broken percent-encoding or a target that does not begin with /.
std::optional<RequestTarget> ParseTarget(absl::string_view target);

// The place that /api/... and /apis/... paths name; nothing when no such
// kind is served. An empty name is a collection.
std::optional<ObjectPlace> PlaceOf(const RequestTarget& target);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_REQUEST_TARGET_H_
