// A versioned object store in memory: what etcd is to an API server.
//
// One counter of revisions for everything; each write is one revision and one
// event. A window of events is kept, for watches, exact lists and continue
// tokens; what is older answers "expired". Objects are immutable once stored,
// so that readers share them. Not thread-safe: its owner locks.

#ifndef K8S_EMBEDDED_STORE_H_
#define K8S_EMBEDDED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

using JsonPtr = std::shared_ptr<const nlohmann::json>;

struct StoreKey {
  std::string resource;  // "pods", "gpuclaims.gpu.cozystack.io"
  std::string name_space, name;
  bool operator<(const StoreKey& other) const {
    return std::tie(resource, name_space, name) <
           std::tie(other.resource, other.name_space, other.name);
  }
};

enum class StoreEventType { kAdded, kModified, kDeleted };

struct StoreEvent {
  uint64_t revision = 0;
  StoreEventType type = StoreEventType::kAdded;
  StoreKey key;
  JsonPtr object;    // deleted: the last state with the revision of the delete
  JsonPtr previous;  // null when added
};

// Sees every revision, in order, under the server's lock: it must not call
// the server.
using RevisionObserver = std::function<void(const StoreEvent&)>;

class Store {
 public:
  // Keeps the last `event_window` events, at least one.
  explicit Store(size_t event_window);

  // The last revision written. Starts at 1, as etcd does.
  uint64_t revision() const { return revision_; }
  // Events after this revision are kept.
  uint64_t compacted() const { return compacted_; }
  // Null when there is none. O(log n).
  JsonPtr Get(const StoreKey& key) const;
  // In the order of namespace and name; of all namespaces when empty.
  std::vector<JsonPtr> List(absl::string_view resource,
                            absl::string_view name_space) const;
  // As of `revision`, or nothing when that is compacted. O(n + events since).
  std::optional<std::vector<JsonPtr>> ListAt(absl::string_view resource,
                                             absl::string_view name_space,
                                             uint64_t revision) const;
  // Stores `object` with its new resourceVersion and returns it as stored.
  JsonPtr Put(const StoreKey& key, nlohmann::json object);
  // Returns the deleted object with the revision of the delete; null when
  // there is none.
  JsonPtr Remove(const StoreKey& key);

  // The first kept event after `revision`; null when there is none yet. The
  // caller has checked that `revision` is not compacted.
  const StoreEvent* EventAfter(uint64_t revision) const;
  // Forgets events up to `revision`, as a compaction does.
  void Compact(uint64_t revision);
  void SetObserver(RevisionObserver observer);

 private:
  void Append(StoreEvent event);

  using Objects = std::map<StoreKey, JsonPtr>;
  size_t window_;
  uint64_t revision_ = 1, compacted_ = 1;
  Objects objects_;
  std::deque<StoreEvent> events_;  // of revisions compacted_ + 1 ... revision_
  RevisionObserver observer_;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_STORE_H_
