// A call of ApiClient in HTTP's words: method, target, limits.

#ifndef K8S_API_CALL_H_
#define K8S_API_CALL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"

namespace gpubinder {

struct ApiCall {
  enum class Shape { kObject, kPage, kWatch };

  std::string what;    // "patch gpuclaims/status a/c", for messages
  std::string method;  // HTTP
  std::string target;  // path and query; the timeout comes on top
  std::string content_type, body;
  absl::Duration timeout;
  Shape shape = Shape::kObject;
};

ApiCall GetCall(const ResourcePath& path, absl::Duration timeout);
ApiCall ListCall(const ResourcePath& path, const ListOptions& options);
ApiCall WatchCall(const ResourcePath& path, const WatchOptions& options);
ApiCall CreateCall(const ResourcePath& path, absl::string_view body,
                   absl::Duration timeout);
ApiCall ReplaceCall(const ResourcePath& path, absl::string_view body,
                    absl::Duration timeout);
ApiCall PatchCall(const ResourcePath& path, PatchType type,
                  absl::string_view body, absl::Duration timeout);
ApiCall DeleteCall(const ResourcePath& path, absl::string_view body,
                   absl::Duration timeout);

// The target with ?timeout= for what is left of the call's time, so that the
// server gives up when we do. A watch has its own timeoutSeconds already.
std::string TargetWithin(const ApiCall& call, absl::Duration left);

}  // namespace gpubinder

#endif  // K8S_API_CALL_H_
