#include "reconciler/model/node_facts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/config.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/taint.h"

namespace gpubinder {
namespace {

// All that N1 asks of a node but labels.
std::string StateText(const Node& node) {
  std::string text;
  // What is wrong with a node is told with its name.
  if (!node.meta.problems.empty()) AppendPart(node.meta.name, text);
  absl::StrAppend(&text, IsReady(node) ? "r" : "-",
                  IsCordoned(node) ? "c" : "-",
                  node.meta.deleting.has_value() ? "d" : "-");
  for (const Taint& taint : node.taints) {
    if (IsConditionTaint(taint)) continue;
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    AppendPart(taint.key, text);
    AppendPart(taint.value, text);
    AppendPart(taint.effect, text);
  }
  return text;
}

}  // namespace

void AppendPart(absl::string_view part, std::string& text) {
  absl::StrAppend(&text, part.size(), ":", part);
}

NodeFacts::NodeFacts(const Snapshot& snapshot, const Books& books)
    : snapshot_(snapshot), books_(books) {
  std::vector<std::string> names;
  absl::btree_map<std::string, uint32_t> numbers;
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const Node& node = snapshot.nodes()[row];
    by_id_.emplace_back(snapshot.node_columns.name[row],
                        static_cast<NodeIndex>(rows_.size()));
    rows_.push_back(row);
    names.push_back(node.meta.name);
    const uint32_t next = static_cast<uint32_t>(numbers.size());
    states_.push_back(numbers.emplace(StateText(node), next).first->second);
  }
  std::sort(by_id_.begin(), by_id_.end());
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  if (!snapshot.Serves(Kind::kVirtualMachineInstance)) return;
  // KubeVirt's word for readiness. Launchers ask for it too.
  const LabelColumn& ready = Label(kKubeVirtSchedulable);
  PairNumbers pairs;
  for (NodeIndex node = 0; node < states_.size(); ++node) {
    states_[node] = pairs.Of(states_[node], ready.value_of_node[node]);
  }
}

std::optional<NodeIndex> NodeFacts::Find(NameId node) const {
  auto found = std::lower_bound(by_id_.begin(), by_id_.end(),
                                std::make_pair(node, NodeIndex{0}));
  if (found == by_id_.end() || found->first != node) return std::nullopt;
  return found->second;
}

const LabelColumn& NodeFacts::Label(const LabelKey& key) {
  std::unique_ptr<const LabelColumn>& kept = labels_[key];
  if (kept != nullptr) return *kept;
  auto column = std::make_unique<LabelColumn>();
  column->values.push_back(nullptr);
  absl::btree_map<absl::string_view, uint32_t> numbers;
  for (const Row row : rows_) {
    const ObjectMeta& meta = snapshot_.nodes()[row].meta;
    const std::string* value = &meta.name;
    if (key.has_value()) {
      auto label = meta.labels.find(*key);
      value = label == meta.labels.end() ? nullptr : &label->second;
    }
    uint32_t number = 0;
    if (value != nullptr) {
      const uint32_t next = static_cast<uint32_t>(column->values.size());
      auto [place, is_new] = numbers.emplace(*value, next);
      if (is_new) column->values.push_back(value);
      number = place->second;
    }
    column->value_of_node.push_back(number);
  }
  kept = std::move(column);
  return *kept;
}

void NodeFacts::Read(NodeIndex node, NameId resource, KeptUse& kept) {
  const NodeUse use = books_.Use(name(node), resource);
  const uint32_t next = static_cast<uint32_t>(kept.column.uses.size());
  auto [place, is_new] = kept.numbers.emplace(
      UseKey{use.allocatable, use.booked, use.raw, use.served, use.malformed},
      next);
  if (is_new) kept.column.uses.push_back(use);
  kept.column.use_of_node[node] = place->second;
}

const UseColumn& NodeFacts::Use(NameId resource) {
  std::unique_ptr<KeptUse>& kept = uses_[resource];
  const std::vector<NameId>& touched = books_.touched();
  if (kept == nullptr) {
    kept = std::make_unique<KeptUse>();
    kept->column.use_of_node.resize(rows_.size());
    for (NodeIndex node = 0; node < rows_.size(); ++node) {
      Read(node, resource, *kept);
    }
    kept->caught_up = touched.size();
  }
  for (; kept->caught_up < touched.size(); ++kept->caught_up) {
    const std::optional<NodeIndex> node = Find(touched[kept->caught_up]);
    if (node.has_value()) Read(*node, resource, *kept);
  }
  return kept->column;
}

}  // namespace gpubinder
