#include "reconciler/model/judged_nodes.h"

#include <algorithm>

namespace gpubinder {

JudgedNodes::JudgedNodes(Parts parts)
    : parts_(std::make_shared<const Parts>(std::move(parts))) {}

const std::vector<NodeGroup>& JudgedNodes::groups() const {
  static const auto& none = *new std::vector<NodeGroup>;
  return parts_ == nullptr ? none : parts_->groups;
}

void JudgedNodes::ForEachNode(
    absl::FunctionRef<void(const std::string& node, size_t group)> visit)
    const {
  if (parts_ == nullptr) return;
  const CellHistory& history = *parts_->history;
  std::vector<uint32_t> cells = history.cells;
  for (size_t i = 0; i < parts_->changes; ++i) {
    cells[history.changes[i].node] = history.changes[i].cell;
  }
  auto apart = parts_->apart.begin();
  for (NodeIndex node = 0; node < cells.size(); ++node) {
    const bool own = apart != parts_->apart.end() && apart->first == node;
    const size_t group = own ? (apart++)->second
                             : parts_->group_of_judgement[(
                                   *parts_->judgement_of_cell)[cells[node]]];
    visit((*history.names)[node], group);
  }
}

const NodeGroup* JudgedNodes::Find(absl::string_view name) const {
  if (parts_ == nullptr) return nullptr;
  const CellHistory& history = *parts_->history;
  const auto& names = *history.names;
  auto place =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const std::string& one, absl::string_view text) {
                         return one < text;
                       });
  if (place == names.end() || *place != name) return nullptr;
  const NodeIndex node = static_cast<NodeIndex>(place - names.begin());
  auto own = std::lower_bound(parts_->apart.begin(), parts_->apart.end(),
                              std::make_pair(node, uint32_t{0}));
  if (own != parts_->apart.end() && own->first == node) {
    return &parts_->groups[own->second];
  }
  uint32_t cell = history.cells[node];
  for (size_t i = 0; i < parts_->changes; ++i) {
    if (history.changes[i].node == node) cell = history.changes[i].cell;
  }
  return &parts_->groups[parts_->group_of_judgement[(
      *parts_->judgement_of_cell)[cell]]];
}

}  // namespace gpubinder
