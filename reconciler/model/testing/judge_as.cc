#include "reconciler/model/testing/judge_as.h"

#include <map>
#include <memory>
#include <utility>

namespace gpubinder {

JudgedNodes JudgeAs(const std::vector<NodesAlike>& groups) {
  JudgedNodes::Parts parts;
  std::map<std::string, uint32_t> group_of_node;
  auto cells = std::make_shared<std::vector<uint32_t>>();
  for (const NodesAlike& group : groups) {
    const uint32_t index = static_cast<uint32_t>(parts.groups.size());
    for (const std::string& node : group.nodes) group_of_node[node] = index;
    parts.groups.push_back(
        {.reasons = std::make_shared<const Reasons>(group.reasons),
         .nodes = static_cast<uint32_t>(group.nodes.size()),
         .example = group.nodes.front()});
    parts.group_of_judgement.push_back(index);
    cells->push_back(index);
  }
  auto history = std::make_shared<CellHistory>();
  std::vector<std::string> names;
  for (const auto& [node, group] : group_of_node) {
    names.push_back(node);
    history->cells.push_back(group);
  }
  history->names =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  parts.history = std::move(history);
  parts.judgement_of_cell = std::move(cells);
  return JudgedNodes(std::move(parts));
}

std::vector<NodesAlike> NodesOf(const JudgedNodes& judged) {
  std::vector<NodesAlike> groups;
  for (const NodeGroup& group : judged.groups()) {
    groups.push_back({.reasons = *group.reasons});
  }
  judged.ForEachNode([&](const std::string& node, size_t group) {
    groups[group].nodes.push_back(node);
  });
  return groups;
}

}  // namespace gpubinder
