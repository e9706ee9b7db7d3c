// The nodes as a pass judged them for one set, in two forms: nodes with equal
// reasons together, and, when asked, every node with its own.
//
// The rows are not kept. Nodes of which nothing asked differs share a cell, and
// cells share a judgement; a value of this type knows the cells of its moment.
// A small value, cheap to copy. Once the pass that made it has ended nothing it
// points to changes any more, and any thread may read it.

#ifndef RECONCILER_MODEL_JUDGED_NODES_H_
#define RECONCILER_MODEL_JUDGED_NODES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"

namespace gpubinder {

using Reasons = std::vector<v1::ReasonDetail>;
// A node's place in the order of names.
using NodeIndex = uint32_t;

// Nodes that one list of reasons holds for; none: these nodes fit.
struct NodeGroup {
  std::shared_ptr<const Reasons> reasons;  // never null
  uint32_t nodes = 0;                      // never 0
  std::string example;                     // the first by name
};

// What the reasons of one kind about one thing come to over all nodes.
struct NodeLine {
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  std::string resource, claim;
  uint32_t nodes = 0;
  std::string example;  // the first by name
  int64_t most_free = 0, wanted = 0;
};

// Which cell each node was in, at each moment of a pass.
struct CellHistory {
  struct Change {
    NodeIndex node = 0;
    uint32_t cell = 0;
  };
  std::shared_ptr<const std::vector<std::string>> names;  // in their order
  std::vector<uint32_t> cells;                            // at first, by node
  std::vector<Change> changes;                            // in their order
};

class JudgedNodes {
 public:
  struct Parts {
    std::vector<NodeGroup> groups;
    std::shared_ptr<const CellHistory> history;
    size_t changes = 0;  // of the history, that had happened
    // By cell its judgement, and by that the index of its group.
    std::shared_ptr<const std::vector<uint32_t>> judgement_of_cell;
    std::vector<uint32_t> group_of_judgement;
    // Nodes that were judged apart, with the index of their group, by node.
    std::vector<std::pair<NodeIndex, uint32_t>> apart;
  };

  // No step looked at the nodes, or there are none.
  JudgedNodes() = default;
  // The history and the judgements may still grow, but not change.
  explicit JudgedNodes(Parts parts);

  bool empty() const { return groups().empty(); }
  // In an order that depends on nothing but the reasons, fitting nodes first.
  const std::vector<NodeGroup>& groups() const;
  // By reason, then resource, then claim. The first call, on whatever thread,
  // O(reasons of the groups x log).
  const std::vector<NodeLine>& lines() const;
  // The very same judgement: nothing changed between the questions.
  bool IsSameAs(const JudgedNodes& other) const { return kept_ == other.kept_; }
  // Each node with the index of its group, by name. O(nodes + changes).
  void ForEachNode(
      absl::FunctionRef<void(const std::string& node, size_t group)> visit)
      const;
  // The group of a node; null: no such node. O(log nodes + changes).
  const NodeGroup* Find(absl::string_view node) const;

 private:
  struct Kept;
  std::shared_ptr<const Kept> kept_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_JUDGED_NODES_H_
