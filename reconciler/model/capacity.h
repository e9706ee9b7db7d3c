// Units by node and resource: allocatable, booked, raw (rules C1 to C5).
//
// Books are made once at the start of a pass and then follow what the pass
// decides: Assume uses units up at once for all later steps (C9); what a
// decision frees stays booked until a later pass has seen it.

#ifndef RECONCILER_MODEL_CAPACITY_H_
#define RECONCILER_MODEL_CAPACITY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// What one node has of one resource.
struct NodeUse {
  int64_t allocatable = 0;
  int64_t booked = 0;
  int64_t raw = 0;
  bool served = false;     // allocatable names the resource, above 0
  bool malformed = false;  // allocatable cannot be used

  // Never below 0 and never wrapped.
  int64_t free() const;
};

class Books {
 public:
  // O(claims + pods + effects in flight). Effects without outcome count on
  // the old node and on the new one (C10).
  Books(const Snapshot& snapshot, const ClaimSets& sets);

  // A node or resource nobody has used gives zeros. O(resources of a node).
  NodeUse Use(NameId node, NameId resource) const;
  // Every resource of the node that is allocatable, booked or raw there.
  std::vector<std::pair<NameId, NodeUse>> UsesOf(NameId node) const;
  // Uses up units on a node, for an own claim.
  void Assume(NameId node, NameId resource, int64_t units);
  // The same for a claim of that VMI: its pods there that were raw are covered
  // by it, so that they do not count twice.
  void AssumeFor(Row vmi, NameId node, NameId resource, int64_t units);

  // Raw units on a node that pods listed by this VMI account for.
  int64_t RawOfVmi(Row vmi, NameId node, NameId resource) const;

  // The resource of a claim's units: what was written with its binding, else
  // its class's now (C2). kNoName when the class has gone too.
  NameId ResourceOf(Row claim) const;

 private:
  struct Entry {
    NameId resource = kNoName;
    NodeUse use;
  };
  NodeUse& At(NameId node, NameId resource);
  void AddNodes();
  void AddClaims();
  void AddAssumed();
  // Bindings in flight to where the claim is not seen yet: visit(claim, node,
  // resource).
  template <typename Visit>
  void ForEachAssumed(Visit visit) const;
  void AddPods(const ClaimSets& sets);

  const Snapshot& snapshot_;
  absl::btree_map<NameId, NameId> resource_of_class_;
  // By node name id; entries sorted by resource id.
  std::vector<std::vector<Entry>> nodes_;
  // By VMI, node and resource.
  absl::btree_map<std::pair<Row, std::pair<NameId, NameId>>, int64_t> of_vmi_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_CAPACITY_H_
