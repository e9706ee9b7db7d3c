// The objects of a plan, and what an API server would make of the binder's
// requests: patches with preconditions, finalizers, deletion with what an
// object owns. Nothing else happens here: no admission, no scheduler, no
// schema, no quota.
//
// What a hand-written object lacks is filled in, and does not depend on the
// order of the input: a uid from kind, namespace and name, and version 1.

#ifndef TOOLS_PLANNED_CLUSTER_H_
#define TOOLS_PLANNED_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "k8s/effect_codec.h"
#include "proto/journal.pb.h"
#include "reconciler/model/objects.h"
#include "tools/input.h"

namespace gpubinder {

// A state of an object as a watch would tell it.
struct ObjectState {
  v1::ObjectEvent event;  // LISTED, ADDED, MODIFIED or DELETED
  Object object;
};

class PlannedCluster {
 public:
  // `now` is the time of creations and deletions.
  explicit PlannedCluster(absl::Time now);
  ~PlannedCluster();
  PlannedCluster(const PlannedCluster&) = delete;
  PlannedCluster& operator=(const PlannedCluster&) = delete;

  // Puts an object in as it was read. kInvalidArgument: another object of the
  // kind has its uid.
  absl::Status Add(const InputObject& object);
  // Visits the kind's objects as a list has them, by namespace and name.
  void ForEach(Kind kind, absl::FunctionRef<void(ObjectState)> visit) const;

  struct Answer {
    std::string json;  // the object as it was written
    // The states that the request brought about, that of its own object
    // first. Empty for kinds that are not modelled, and for what changed
    // nothing.
    std::vector<ObjectState> changes;
  };
  // O(size of the object + what it owns). The errors are those of ApiClient.
  absl::StatusOr<Answer> Send(const EffectRequest& request);

 private:
  using Key = std::tuple<Kind, std::string, std::string>;
  struct Stored;
  class Writer;

  ObjectState StateOf(const Key& key, const Stored& stored,
                      v1::ObjectEvent::Type type) const;
  void SetOwners(const Key& key, const Object& object, Stored& stored);

  std::map<Key, std::unique_ptr<Stored>> objects_;
  std::map<std::string, std::vector<Key>> owned_;  // by the owner's uid
  // What has each uid of a kind; uids of objects that are gone.
  std::map<std::pair<Kind, std::string>, std::string> uids_;
  std::set<std::string> gone_;
  const absl::Time now_;
  uint64_t version_ = 1000;
};

}  // namespace gpubinder

#endif  // TOOLS_PLANNED_CLUSTER_H_
