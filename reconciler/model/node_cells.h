// Cells: the nodes parted by some of their facts. All nodes of a cell get the
// same answer to whatever asks those facts only.

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
  struct Move {
    NodeIndex node = 0;
    uint32_t from = 0, to = 0;  // cells
  };

  // By state, these columns of labels and these of uses.
  // O(nodes x columns x log).
  NodeCells(std::vector<size_t> labels, std::vector<size_t> uses,
            const NodeFacts& facts);

  // Moves the nodes whose facts have changed. `facts` are those that this was
  // made of. O(those x columns x log); the first move of a pass O(nodes).
  void CatchUp(const NodeFacts& facts);
  // As of the last time that this was caught up. A cell keeps its number.
  const std::vector<Cell>& cells() const { return cells_; }
  uint32_t CellOf(NodeIndex node) const { return cell_of_node_[node]; }
  const EventLog<Move>& moves() const { return moves_; }
  // What is told of it is not changed by later passes.
  std::shared_ptr<const CellHistory> history() const { return history_; }
  // Most cells have lost their nodes for good.
  bool IsWorn() const;

 private:
  // The number of the node's cell by its present facts.
  uint32_t CellByFacts(NodeIndex node, const NodeFacts& facts);
  void Recell(NodeIndex node, const NodeFacts& facts);
  CellHistory& HistoryOf(uint64_t pass);

  std::vector<size_t> labels_, uses_;
  PairNumbers numbers_;  // of states, labels and uses
  PairNumbers kinds_;
  std::vector<uint32_t> cell_of_number_;
  std::vector<uint32_t> cell_of_node_;
  std::vector<Cell> cells_;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::shared_ptr<CellHistory> history_;
  uint64_t history_pass_ = 0;
  EventLog<Move> moves_;
  size_t caught_up_ = 0;  // of the facts' changes
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_CELLS_H_
