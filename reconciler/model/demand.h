// What a set asks of a node.

#ifndef RECONCILER_MODEL_DEMAND_H_
#define RECONCILER_MODEL_DEMAND_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

struct Demand {
  struct Need {
    NameId resource = kNoName;
    int64_t units = 0;      // of the set's members
    int64_t pod_units = 0;  // of its pod, claims or not
  };
  std::vector<Need> needs;               // by resource name
  std::vector<const GpuClass*> classes;  // by name, each once
  const Pod* pod = nullptr;              // with a launcher: its rules too
  const SchedulingClass* scheduling_class = nullptr;
  std::string missing_scheduling_class;  // named by the pod, not there
  std::string name_space;
  std::vector<std::string> volume_claims;
  std::vector<RejectedNode> rejections;  // those that have not lapsed by time
  std::optional<Row> vmi;
  // Units of the set's own claims by node and resource, which judging the set
  // leaves out of booked; and those of them that are being deleted.
  absl::btree_map<NodeAndResource, int64_t> own, leaving;
};

// The classes of all members must exist (ClaimSet::problems says so).
// O(members + extended resources).
Demand MakeDemand(const ClaimSet& set, const Snapshot& snapshot,
                  absl::Time now);

// The resource names the binder governs: every class's and the extra ones,
// sorted, each once.
std::vector<std::string> GovernedResources(const Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_DEMAND_H_
