#include "reconciler/model/node_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/taint.h"

namespace gpubinder {
namespace {

// All that N1 asks of a node but its class's labels.
std::string StateText(const Node& node, const Snapshot& snapshot) {
  std::string text;
  // What is wrong with a node is told with its name.
  if (!node.meta.problems.empty()) AppendPart(node.meta.name, text);
  for (const FieldProblem& problem : node.meta.problems) {
    AppendPart(problem.field, text);
    AppendPart(problem.message, text);
  }
  absl::StrAppend(&text, IsReady(node) ? "r" : "-",
                  IsCordoned(node) ? "c" : "-",
                  node.meta.deleting.has_value() ? "d" : "-",
                  IsKubeVirtReady(node, snapshot) ? "k" : "-");
  for (const Taint& taint : node.taints) {
    if (IsConditionTaint(taint)) continue;
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    AppendPart(taint.key, text);
    AppendPart(taint.value, text);
    AppendPart(taint.effect, text);
  }
  return text;
}

bool Replace(uint32_t& number, uint32_t by) {
  return std::exchange(number, by) != by;
}

}  // namespace

void AppendPart(absl::string_view part, std::string& text) {
  absl::StrAppend(&text, part.size(), ":", part);
}

NodeFacts::NodeFacts(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const NodeIndex node = static_cast<NodeIndex>(rows_.size());
    rows_.push_back(row);
    ids_.push_back(snapshot.node_columns.name[row]);
    by_id_.emplace_back(ids_.back(), node);
    names.push_back(snapshot.nodes()[row].meta.name);
    states_.push_back(0);
    ReadState(node, snapshot);
  }
  std::sort(by_id_.begin(), by_id_.end());
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

std::optional<NodeIndex> NodeFacts::Find(NameId node) const {
  auto found = std::lower_bound(by_id_.begin(), by_id_.end(),
                                std::make_pair(node, NodeIndex{0}));
  if (found == by_id_.end() || found->first != node) return std::nullopt;
  return found->second;
}

bool NodeFacts::Read(NameId name, const Snapshot& snapshot) {
  const std::optional<NodeIndex> node = Find(name);
  const std::optional<Row> row =
      snapshot.nodes().FindRow("", snapshot.names.Text(name));
  if (node.has_value() != row.has_value()) return false;
  if (!node.has_value()) return true;
  rows_[*node] = *row;
  bool changed = ReadState(*node, snapshot);
  for (const auto& [key, number] : label_of_key_) {
    changed |= ReadLabel(*node, key, labels_[number], snapshot);
  }
  if (changed) changes_.entries.push_back(*node);
  return true;
}

void NodeFacts::ReadUses(NameId name, const Books& books) {
  const std::optional<NodeIndex> node = Find(name);
  if (!node.has_value()) return;
  bool changed = false;
  for (const auto& [resource, number] : use_of_resource_) {
    changed |= ReadUse(*node, number, books.Use(name, resource));
  }
  if (changed) changes_.entries.push_back(*node);
}

size_t NodeFacts::LabelAt(const LabelKey& key, const Snapshot& snapshot) {
  auto [place, is_new] = label_of_key_.emplace(key, labels_.size());
  if (!is_new) return place->second;
  labels_.emplace_back().value_of_node.resize(size());
  for (NodeIndex node = 0; node < size(); ++node) {
    ReadLabel(node, key, labels_.back(), snapshot);
  }
  return place->second;
}

size_t NodeFacts::UseAt(NameId resource, const Books& books) {
  auto [place, is_new] = use_of_resource_.emplace(resource, uses_.size());
  if (!is_new) return place->second;
  uses_.emplace_back().use_of_node.resize(size());
  for (NodeIndex node = 0; node < size(); ++node) {
    ReadUse(node, place->second, books.Use(ids_[node], resource));
  }
  return place->second;
}

void NodeFacts::EndPass() {
  ++pass_;
  if (changes_.entries.size() > size()) changes_.Forget();
}

bool NodeFacts::IsWorn() const {
  return AreWorn(state_numbers_.size(), size()) ||
         std::any_of(labels_.begin(), labels_.end(),
                     [&](const LabelColumn& column) {
                       return AreWorn(column.values(), size());
                     }) ||
         std::any_of(uses_.begin(), uses_.end(), [&](const UseColumn& column) {
           return AreWorn(column.uses.size(), size());
         });
}

bool NodeFacts::ReadState(NodeIndex node, const Snapshot& snapshot) {
  const uint32_t next = static_cast<uint32_t>(state_numbers_.size());
  const auto [place, is_new] = state_numbers_.emplace(
      StateText(snapshot.nodes()[rows_[node]], snapshot), next);
  return Replace(states_[node], place->second);
}

bool NodeFacts::ReadLabel(NodeIndex node, const LabelKey& key,
                          LabelColumn& column, const Snapshot& snapshot) {
  const ObjectMeta& meta = snapshot.nodes()[rows_[node]].meta;
  const std::string* value = &meta.name;
  if (key.has_value()) {
    auto label = meta.labels.find(*key);
    value = label == meta.labels.end() ? nullptr : &label->second;
  }
  uint32_t number = 0;
  if (value != nullptr) {
    const uint32_t next = static_cast<uint32_t>(column.values());
    auto [place, is_new] = column.numbers.emplace(*value, next);
    if (is_new) column.texts.push_back(*value);
    number = place->second;
  }
  return Replace(column.value_of_node[node], number);
}

bool NodeFacts::ReadUse(NodeIndex node, size_t column_number,
                        const NodeUse& use) {
  UseColumn& column = uses_[column_number];
  const uint32_t next = static_cast<uint32_t>(column.uses.size());
  auto [place, is_new] =
      column.numbers.emplace(UseColumn::Key{use.allocatable, use.booked,
                                            use.raw, use.served, use.malformed},
                             next);
  if (is_new) column.uses.push_back(use);
  return Replace(column.use_of_node[node], place->second);
}

}  // namespace gpubinder
