// The Kubernetes API as the binder uses it: one interface, one answer type.
//
//   absl::StatusOr<std::string> pod = client.Get(
//       {.version = "v1", .plural = "pods", .name_space = "a", .name = "p"},
//       absl::Seconds(5));
//   if (!pod.ok() && ApiErrorOf(pod.status()).code == 404) ...
//
// Bodies are JSON text, as sent and as received. HttpApiClient speaks to a
// real server; the embedded server has one without a socket.
//
// Errors say what to do next: kUnavailable = retry the call (429, 503,
// connection refused before anything was sent), kAborted = read again and
// decide again (409 Conflict), kAlreadyExists (409 AlreadyExists),
// kFailedPrecondition = not until something changes (403, 422),
// kUnauthenticated (401), kNotFound (404), kOutOfRange = the version is too
// old, list again (410), kInvalidArgument (400, 405, 406, 413, 415),
// kDeadlineExceeded = may have been applied (a timeout or a cut connection
// once the request was out, and 500, 502, 504), kDataLoss = not the protocol
// (a body that is no JSON where one is due), kCancelled = Stop was called.

#ifndef K8S_API_CLIENT_H_
#define K8S_API_CLIENT_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gpubinder {

// A place in the API. Empty group: the core group. Empty name: a collection.
struct ResourcePath {
  std::string group, version, plural;
  std::string name_space;  // empty: cluster-scoped, or all namespaces
  std::string name;
  std::string subresource;  // status, or empty
};

// "/apis/gpu.cozystack.io/v1alpha1/namespaces/a/gpuclaims/c/status".
// Each part is escaped, so that no name reaches another place.
std::string PathText(const ResourcePath& path);
// `text` as one path segment or query value.
std::string EscapedForUrl(absl::string_view text);

struct ListOptions {
  int limit = 500;  // a page; 0: all at once
  std::string continue_token;
  std::string resource_version;  // empty: the most recent
  std::string label_selector, field_selector;
  absl::Duration timeout = absl::Seconds(60);
};

struct WatchOptions {
  std::string resource_version;
  std::string label_selector, field_selector;
  bool bookmarks = true;
  absl::Duration timeout = absl::Seconds(300);  // the server ends it then
};

enum class PatchType { kJson, kMerge };

// What the server said beside the status code; code 0 when it said nothing.
struct ApiError {
  int code = 0;         // HTTP
  std::string reason;   // of the Status object: Conflict, Expired, ...
  std::string message;  // of the Status object
  absl::Duration retry_after = absl::ZeroDuration();
  bool sent = false;  // whether the request may have reached the server
};
// The error that a status of an ApiClient carries.
ApiError ApiErrorOf(const absl::Status& status);
// `status`, which is not OK, carrying `error` from now on.
absl::Status WithApiError(absl::Status status, const ApiError& error);
// Maps an answer that is no success to a status that carries `error`; `what`
// is the call for the message ("patch pods a/p").
absl::Status StatusOfApiError(const ApiError& error, absl::string_view what);

// Thread-safe: calls may run at the same time and block their caller until
// answered. `timeout` is both ours and, as ?timeout=, the server's.
class ApiClient {
 public:
  virtual ~ApiClient() = default;

  virtual absl::StatusOr<std::string> Get(const ResourcePath& path,
                                          absl::Duration timeout) = 0;
  // One page: the List object as it came.
  virtual absl::StatusOr<std::string> List(const ResourcePath& path,
                                           const ListOptions& options) = 0;
  // Calls `on_event` with each whole JSON line ({"type":...,"object":...}) as
  // it comes, on the calling thread; returning false ends the watch. OK: the
  // server ended it in order, go on from the last version seen.
  virtual absl::Status Watch(
      const ResourcePath& path, const WatchOptions& options,
      const std::function<bool(absl::string_view line)>& on_event) = 0;
  virtual absl::StatusOr<std::string> Create(const ResourcePath& path,
                                             absl::string_view body,
                                             absl::Duration timeout) = 0;
  // PUT, for Leases: their record is replaced whole.
  virtual absl::StatusOr<std::string> Replace(const ResourcePath& path,
                                              absl::string_view body,
                                              absl::Duration timeout) = 0;
  // Also the status subresource, by path.subresource.
  virtual absl::StatusOr<std::string> Patch(const ResourcePath& path,
                                            PatchType type,
                                            absl::string_view body,
                                            absl::Duration timeout) = 0;
  // `body` is a DeleteOptions with preconditions.
  virtual absl::StatusOr<std::string> Delete(const ResourcePath& path,
                                             absl::string_view body,
                                             absl::Duration timeout) = 0;
  // Ends every call under way with kCancelled, and each later one.
  virtual void Stop() = 0;
};

}  // namespace gpubinder

#endif  // K8S_API_CLIENT_H_
