#include "reconciler/model/node_cells.h"

#include <utility>

namespace gpubinder {
namespace {

constexpr uint32_t kNoCell = ~uint32_t{0};

}  // namespace

NodeCells::NodeCells(std::vector<size_t> labels, std::vector<size_t> uses,
                     const NodeFacts& facts)
    : labels_(std::move(labels)),
      uses_(std::move(uses)),
      names_(facts.names()),
      history_pass_(facts.pass()),
      caught_up_(facts.changes().end()) {
  for (NodeIndex node = 0; node < facts.size(); ++node) {
    cell_of_node_.push_back(CellByFacts(node, facts));
    auto& nodes = cells_[cell_of_node_.back()].nodes;
    nodes.insert(nodes.end(), node);
  }
  history_ = std::make_shared<CellHistory>(
      CellHistory{.names = names_, .cells = cell_of_node_});
}

uint32_t NodeCells::CellByFacts(NodeIndex node, const NodeFacts& facts) {
  const uint32_t state = facts.states()[node];
  uint32_t number = state;
  for (const size_t label : labels_) {
    number = numbers_.Of(number, facts.label(label).value_of_node[node]);
  }
  for (const size_t use : uses_) {
    number = numbers_.Of(number, facts.use(use).use_of_node[node]);
  }
  if (number >= cell_of_number_.size()) {
    cell_of_number_.resize(number + 1, kNoCell);
  }
  uint32_t& cell = cell_of_number_[number];
  if (cell == kNoCell) {
    cell = static_cast<uint32_t>(cells_.size());
    Cell& made = cells_.emplace_back();
    made.state = made.kind = state;
    for (const size_t use : uses_) {
      made.uses.push_back(facts.use(use).use_of_node[node]);
      made.kind = kinds_.Of(made.kind, made.uses.back());
    }
  }
  return cell;
}

void NodeCells::CatchUp(const NodeFacts& facts) {
  const EventLog<NodeIndex>& changes = facts.changes();
  if (caught_up_ == changes.end()) return;
  if (caught_up_ < changes.first) {
    for (NodeIndex node = 0; node < facts.size(); ++node) Recell(node, facts);
  } else {
    for (size_t i = caught_up_; i < changes.end(); ++i) {
      Recell(changes.entries[i - changes.first], facts);
    }
  }
  caught_up_ = changes.end();
}

void NodeCells::Recell(NodeIndex node, const NodeFacts& facts) {
  const uint32_t to = CellByFacts(node, facts);
  const uint32_t from = cell_of_node_[node];
  if (to == from) return;
  HistoryOf(facts.pass()).changes.push_back({.node = node, .cell = to});
  cells_[from].nodes.erase(node);
  cells_[to].nodes.insert(node);
  cell_of_node_[node] = to;
  moves_.entries.push_back({.node = node, .from = from, .to = to});
}

// What earlier passes have told is read by other threads: it is left alone.
CellHistory& NodeCells::HistoryOf(uint64_t pass) {
  if (history_pass_ != pass) {
    history_pass_ = pass;
    history_ = std::make_shared<CellHistory>(
        CellHistory{.names = names_, .cells = cell_of_node_});
    if (moves_.entries.size() > cell_of_node_.size()) moves_.Forget();
  }
  return *history_;
}

bool NodeCells::IsWorn() const {
  return AreWorn(cells_.size(), cell_of_node_.size());
}

}  // namespace gpubinder
