// What a Snapshot is made of beside the tables of objects.

#ifndef RECONCILER_MODEL_SNAPSHOT_PARTS_H_
#define RECONCILER_MODEL_SNAPSHOT_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "reconciler/model/name_table.h"

namespace gpubinder {

enum class Phase : uint8_t { kPending, kBound, kLost };

// What a claim adds to `booked`: nothing while it has no resource.
struct CountedUnits {
  NameId node = kNoName, resource = kNoName;
  int64_t units = 0;
  bool operator==(const CountedUnits&) const = default;
};

// What a pass asks of every claim, by row of the claims table.
struct ClaimColumns {
  std::vector<Phase> phase;
  std::vector<NameId> node;      // kNoName unless Bound
  std::vector<NameId> resource;  // status.resourceName; kNoName: the class's
  std::vector<NameId> class_name;
  std::vector<int64_t> units;
  std::vector<CountedUnits> counted;
  std::vector<NameId> counted_class;
};

// One extended resource of a node.
struct NodeResource {
  NameId resource = kNoName;
  int64_t allocatable = 0;  // whole units, never negative
  bool malformed = false;   // unreadable, negative or beyond int64
};

struct NodeColumns {
  std::vector<NameId> name;
  std::vector<std::vector<NodeResource>> resources;  // by name id
};

struct KindState {
  bool served = false;
  bool listing = false;  // a list has begun and not ended
  bool listed = false;   // a complete list was folded
  // The server knows the kind no more; what was listed is kept (rule H6).
  bool gone = false;
  std::string resource_version;
};

// A launcher that its kubelet refused. KubeVirt removes such a pod within a
// tenth of a second, so what is known of it is kept until a pass has settled
// it.
struct KubeletRefusal {
  std::string name_space, pod_name, pod_uid;
  std::string vmi_name, vmi_uid;
  std::string node_name, reason;
  std::vector<std::string> resources;  // extended ones the pod asked for
  bool migrates = false;               // the pod has the label of a migration
  bool recorded = false;  // its rejection was seen in the set's memory
  absl::Time at = absl::UnixEpoch();
};

// A pin that the API refused for good: not tried again until the pod changes.
struct RefusedPin {
  std::string resource_version, message;
};

// A node that has less of a resource than is booked there.
struct Shortage {
  absl::Time since = absl::UnixEpoch();  // the first record that showed it
  // What the node has did not fall: somebody booked more than there was.
  bool overbooked = false;
};

// A node that is not Ready, by its own word or by KubeVirt's.
struct Silence {
  absl::Time told = absl::UnixEpoch();  // by the node, since when; epoch: not
  absl::Time seen = absl::UnixEpoch();  // the first record that said so

  // A time that lies in the future is some other clock's.
  absl::Time since() const {
    return told == absl::UnixEpoch() || told > seen ? seen : told;
  }
};

// A node that does not keep a set booked there, by the passes' word.
struct UnkeptNode {
  absl::Time since = absl::UnixEpoch();
  // It is one of so many that nothing is ended or lost: its age no longer
  // counts.
  bool held = false;
  // An operator has confirmed that it is lost: it is no part of a mass loss
  // any more, until it keeps its sets again.
  bool confirmed = false;
  // Of what it did not keep: it is back when it serves them, whoever took the
  // bookings away meanwhile.
  absl::btree_set<std::string> classes;
};

// By name of the node: the classes of what it does not keep.
using UnkeptNodes = absl::btree_map<std::string, absl::btree_set<std::string>>;

// For how long a VMI that was asked to end counts for the safety valve (M4).
inline constexpr absl::Duration kEndingWindow = absl::Minutes(10);

// How often in a row the writes of a set were refused, and when the next may
// be tried: a conflict at once, the rest at a rate that falls to two a minute.
struct WriteRate {
  int64_t refusals = 0;
  // "RecordRejection of GPUClaim t/web-gpu", and what came back.
  std::string write, answer;
  absl::Time until = absl::InfinitePast();
};

// The last write that was applied to one place of an object.
struct AppliedWrite {
  std::string content;
  absl::Time at = absl::InfinitePast();
};

// An effect by the sequence of its decision and its index there.
using EffectId = std::pair<uint64_t, uint32_t>;

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SNAPSHOT_PARTS_H_
