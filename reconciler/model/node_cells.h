// Cells: the nodes of a pass parted by some of their facts. All nodes of a cell
// get the same answer to whatever asks those facts only.

#ifndef RECONCILER_MODEL_NODE_CELLS_H_
#define RECONCILER_MODEL_NODE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/node_facts.h"

namespace gpubinder {

class NodeCells {
 public:
  struct Cell {
    uint32_t kind = 0;           // equal where state and uses are
    uint32_t state = 0;          // as in NodeFacts
    std::vector<uint32_t> uses;  // by resource, as in its column
    // Empty when the last one has left; it may be filled again.
    absl::btree_set<NodeIndex> nodes;
  };

  // By state, these labels and the use of these resources. `facts` outlives
  // this. O(nodes x (keys + resources) x log).
  NodeCells(const std::vector<LabelKey>& keys, std::vector<NameId> resources,
            NodeFacts& facts);

  // Moves the nodes whose use has changed. O(those x log).
  void CatchUp();
  // As of the last time that this was caught up with the books. A cell keeps
  // its number.
  const std::vector<Cell>& cells() const { return cells_; }
  uint32_t CellOf(NodeIndex node) const { return cell_of_node_[node]; }
  std::shared_ptr<const CellHistory> history() const { return history_; }

 private:
  // The number of the node's cell by its present use.
  uint32_t CellByUse(NodeIndex node);

  NodeFacts& facts_;
  const std::vector<NameId> resources_;
  std::vector<const UseColumn*> uses_;
  std::vector<uint32_t> fixed_;  // by node: its state and its labels
  PairNumbers numbers_;          // of what does not change and of uses
  PairNumbers kinds_;
  std::vector<uint32_t> cell_of_number_;
  std::vector<uint32_t> cell_of_node_;
  std::vector<Cell> cells_;
  std::shared_ptr<CellHistory> history_;
  size_t caught_up_ = 0;  // of the books' touched nodes
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_CELLS_H_
