// Units by node and resource: allocatable, booked, raw (rules C1 to C5).
//
// Books begin with what the index counts and then follow what the pass decides:
// Assume uses units up at once for all later steps (C9); what a
// decision frees stays booked until a later pass has seen it.

#ifndef RECONCILER_MODEL_CAPACITY_H_
#define RECONCILER_MODEL_CAPACITY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/numeric/int128.h"
#include "reconciler/model/index.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// The resource of a claim's units: what was written with its binding, else
// its class's now (C2). kNoName when the class has gone too.
NameId ResourceOf(Row claim, const Snapshot& snapshot);

// The VMI whose pods a claim's units cover: of its set, or, for a template
// claim that is in no set any more, the one of its namespace that owns it.
std::optional<Row> CoveredVmi(Row claim, const Snapshot& snapshot);

// A sum of units in the range of int64.
int64_t Clamped(absl::int128 sum);

class Books {
 public:
  // The snapshot's index is up to date, and both outlive the books.
  // O(effects in flight). Effects without outcome count on the old node and on
  // the new one (C10).
  explicit Books(const Snapshot& snapshot);

  // A node or resource nobody has used gives zeros. O(resources of a node).
  NodeUse Use(NameId node, NameId resource) const;
  // Every resource of the node that is allocatable, booked or raw there.
  std::vector<std::pair<NameId, NodeUse>> UsesOf(NameId node) const;
  // Uses up units on a node, for an own claim.
  void Assume(NameId node, NameId resource, int64_t units);
  // The same for a pod that no claim covers.
  void AssumeRaw(NameId node, NameId resource, int64_t units);
  // The same as Assume for a claim of that VMI: its pods there that were raw
  // are covered by it, so that they do not count twice.
  void AssumeFor(Row vmi, NameId node, NameId resource, int64_t units);

  // Raw units on a node that pods listed by this VMI account for.
  int64_t RawOfVmi(Row vmi, NameId node, NameId resource) const;
  // The nodes where there are some, one by one; one may come twice.
  // O(log VMIs + those).
  std::vector<NameId> RawNodesOf(Row vmi) const;

  // The nodes of which units were assumed since the books were made, one entry
  // a time and in that order: what was read of other nodes is still so.
  const std::vector<NameId>& touched() const { return touched_; }
  // The nodes on which more is used than the index counts, by number.
  std::vector<NameId> ChangedNodes() const;

 private:
  NodeUse& At(NameId node, NameId resource);
  void Book(NameId node, NameId resource, int64_t units);
  void AddAssumed();
  void Cover(Row vmi, NameId node, NameId resource, int64_t units);

  const Snapshot& snapshot_;
  // What differs from the index.
  absl::btree_map<NodeAndResource, NodeUse> changed_;
  absl::btree_map<VmiPlace, int64_t> covered_;
  std::vector<NameId> touched_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_CAPACITY_H_
