#include "reconciler/model/node_cells.h"

#include <optional>
#include <utility>

namespace gpubinder {
namespace {

constexpr uint32_t kNoCell = ~uint32_t{0};

}  // namespace

NodeCells::NodeCells(const std::vector<LabelKey>& keys,
                     std::vector<NameId> resources, NodeFacts& facts)
    : facts_(facts),
      resources_(std::move(resources)),
      fixed_(facts.states()),
      history_(std::make_shared<CellHistory>()) {
  for (const LabelKey& key : keys) {
    const LabelColumn& column = facts.Label(key);
    PairNumbers numbers;
    for (NodeIndex node = 0; node < fixed_.size(); ++node) {
      fixed_[node] = numbers.Of(fixed_[node], column.value_of_node[node]);
    }
  }
  for (const NameId resource : resources_) {
    uses_.push_back(&facts.Use(resource));
  }
  caught_up_ = facts.books().touched().size();
  for (NodeIndex node = 0; node < fixed_.size(); ++node) {
    cell_of_node_.push_back(CellByUse(node));
    auto& nodes = cells_[cell_of_node_.back()].nodes;
    nodes.insert(nodes.end(), node);
  }
  history_->names = facts.names();
  history_->cells = cell_of_node_;
}

uint32_t NodeCells::CellByUse(NodeIndex node) {
  uint32_t number = fixed_[node];
  for (const UseColumn* column : uses_) {
    number = numbers_.Of(number, column->use_of_node[node]);
  }
  if (number >= cell_of_number_.size()) {
    cell_of_number_.resize(number + 1, kNoCell);
  }
  uint32_t& cell = cell_of_number_[number];
  if (cell == kNoCell) {
    cell = static_cast<uint32_t>(cells_.size());
    Cell& made = cells_.emplace_back();
    made.state = facts_.states()[node];
    made.kind = made.state;
    for (const UseColumn* column : uses_) {
      made.uses.push_back(column->use_of_node[node]);
      made.kind = kinds_.Of(made.kind, made.uses.back());
    }
  }
  return cell;
}

void NodeCells::CatchUp() {
  const std::vector<NameId>& touched = facts_.books().touched();
  if (caught_up_ == touched.size()) return;
  for (const NameId resource : resources_) facts_.Use(resource);
  for (; caught_up_ < touched.size(); ++caught_up_) {
    const std::optional<NodeIndex> node = facts_.Find(touched[caught_up_]);
    if (!node.has_value()) continue;
    const uint32_t cell = CellByUse(*node);
    uint32_t& before = cell_of_node_[*node];
    if (cell == before) continue;
    cells_[before].nodes.erase(*node);
    cells_[cell].nodes.insert(*node);
    history_->changes.push_back({.node = *node, .cell = cell});
    before = cell;
  }
}

}  // namespace gpubinder
