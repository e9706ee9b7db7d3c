// Lists a kind, then watches it, for as long as the process runs: what the
// cluster holds arrives at a sink, in order, as the bytes the server sent.
//
//   Reflector pods({.kind = Kind::kPod, ...}, client, RealReflectorTiming());
//   pods.Start();
//   ...
//   client.Stop();  // ends the watch under way
//   pods.Stop();
//
// A list is true as a whole: between kListBegan and kListEnded come all
// objects of the kind; whatever is not among them is gone. A kListBegan before
// the kListEnded starts the list over. After it the watch adds to it from the
// list's version on; events may come twice, none is left out.
//
// Clean end of a watch: goes on at once from the last version seen (bookmarks
// count). 429, 503, a cut or no connection: waits and goes on from the same
// version. Anything else (410, an event of unknown type, a watch that ends
// within a second without an event): waits and lists again. A watch that was
// silent for all its time is asked whether the server's versions went back
// (etcd was restored): then lists again.

#ifndef K8S_REFLECTOR_H_
#define K8S_REFLECTOR_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "k8s/backoff.h"
#include "reconciler/model/kind.h"

namespace gpubinder {

struct RawObject;

struct ReflectedEvent {
  enum Type {
    kListBegan,
    kListed,
    kListEnded,  // resource_version: the list's
    kAdded,
    kModified,
    kDeleted,    // json: the last state
    kServed,     // first of all, and again after kNotServed
    kNotServed,  // the server does not know the kind: there are no objects
  };
  Type type;
  Kind kind;
  // Empty for events that are of no object.
  std::string name_space, name, uid, resource_version;
  // The object. Items of a built-in kind's list lack apiVersion and kind.
  std::string json;
};

struct ReflectorTiming {
  std::function<absl::Time()> now;  // must not go back
  // Waits, but not beyond the notification.
  std::function<void(absl::Duration, const absl::Notification& stop)> wait;
  std::function<absl::Duration(absl::Duration limit)> jitter;  // [0, limit]
};
ReflectorTiming RealReflectorTiming();

struct ReflectorOptions {
  Kind kind;
  int page_limit = 500;
  absl::Duration list_timeout = absl::Seconds(60);
  absl::Duration watch_timeout = absl::Seconds(300);
  std::string name_space;  // empty: all
  std::string label_selector, field_selector;
  // Called on the reflector's thread, in order. It may block; a watch is then
  // buffered up to the client's limit.
  std::function<void(ReflectedEvent)> sink;
  // Each failed try and the wait that follows, for logs and metrics. May be
  // empty.
  std::function<void(const absl::Status&, absl::Duration wait)> on_trouble;
};

class Reflector {
 public:
  // `client` must outlive this.
  Reflector(ReflectorOptions options, ApiClient& client,
            ReflectorTiming timing);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  // Stops, if it was started.
  ~Reflector();

  // Once.
  void Start();
  // Joins the thread; no event comes afterwards. A silent watch ends only
  // with its time or with client.Stop(), so stop the client first. Not from
  // the sink.
  void Stop();

 private:
  enum class Next { kList, kListUnpaged, kWatch, kStop };

  void Main();
  Next ListOnce(int limit);
  absl::Status ListPages(int limit, std::string& continue_token);
  Next AfterFailedList(const absl::Status& status, bool on_continue);
  Next WatchOnce();
  bool TakeLine(absl::string_view line, absl::Status& trouble, int& lines);
  Next AfterFailedWatch(const absl::Status& status);
  Next ProbeVersion();
  void Emit(ReflectedEvent::Type type, RawObject object);
  // Waits for the next try, at least `at_least`.
  void WaitAfter(const absl::Status& status, absl::Duration at_least);

  const ReflectorOptions options_;
  const ResourcePath path_;
  ApiClient& client_;
  const ReflectorTiming timing_;

  // The thread's own.
  Backoff backoff_;
  std::string version_;  // to watch from
  enum class Serving { kUnknown, kServed, kNotServed };
  Serving serving_ = Serving::kUnknown;

  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace gpubinder

#endif  // K8S_REFLECTOR_H_
