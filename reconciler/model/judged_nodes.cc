#include "reconciler/model/judged_nodes.h"

#include <algorithm>
#include <tuple>

#include "absl/base/call_once.h"
#include "absl/container/btree_map.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr size_t kNoGroup = ~size_t{0};

struct Sum {
  NodeLine line;
  size_t group = kNoGroup;  // the last one that was counted
};

std::vector<NodeLine> LinesOf(const std::vector<NodeGroup>& groups) {
  using Key = std::tuple<v1::Reason, absl::string_view, absl::string_view>;
  absl::btree_map<Key, Sum> sums;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const v1::ReasonDetail& detail : *groups[i].reasons) {
      Sum& sum = sums[{detail.reason(), AbslView(detail.resource()),
                       AbslView(detail.claim())}];
      sum.line.most_free = std::max(sum.line.most_free, detail.free());
      sum.line.wanted = std::max(sum.line.wanted, detail.wanted());
      if (sum.group == i) continue;  // a node counts once per line
      sum.group = i;
      sum.line.nodes += groups[i].nodes;
      if (sum.line.example.empty() || groups[i].example < sum.line.example) {
        sum.line.example = groups[i].example;
      }
    }
  }
  std::vector<NodeLine> lines;
  for (auto& [key, sum] : sums) {
    NodeLine& line = lines.emplace_back(std::move(sum.line));
    line.reason = std::get<0>(key);
    line.resource = std::string(std::get<1>(key));
    line.claim = std::string(std::get<2>(key));
  }
  return lines;
}

}  // namespace

struct JudgedNodes::Kept {
  explicit Kept(Parts made) : parts(std::move(made)) {}

  const Parts parts;
  mutable absl::once_flag asked;
  mutable std::vector<NodeLine> lines;  // once they were asked for
};

JudgedNodes::JudgedNodes(Parts parts)
    : kept_(std::make_shared<const Kept>(std::move(parts))) {}

const std::vector<NodeGroup>& JudgedNodes::groups() const {
  static const auto& none = *new std::vector<NodeGroup>;
  return kept_ == nullptr ? none : kept_->parts.groups;
}

const std::vector<NodeLine>& JudgedNodes::lines() const {
  static const auto& none = *new std::vector<NodeLine>;
  if (kept_ == nullptr) return none;
  absl::call_once(kept_->asked,
                  [this] { kept_->lines = LinesOf(kept_->parts.groups); });
  return kept_->lines;
}

void JudgedNodes::ForEachNode(
    absl::FunctionRef<void(const std::string& node, size_t group)> visit)
    const {
  if (kept_ == nullptr) return;
  const Parts& parts = kept_->parts;
  const CellHistory& history = *parts.history;
  std::vector<uint32_t> cells = history.cells;
  for (size_t i = 0; i < parts.changes; ++i) {
    cells[history.changes[i].node] = history.changes[i].cell;
  }
  auto apart = parts.apart.begin();
  for (NodeIndex node = 0; node < cells.size(); ++node) {
    const bool own = apart != parts.apart.end() && apart->first == node;
    const size_t group =
        own ? (apart++)->second
            : parts.group_of_judgement[(*parts.judgement_of_cell)[cells[node]]];
    visit((*history.names)[node], group);
  }
}

const NodeGroup* JudgedNodes::Find(absl::string_view name) const {
  if (kept_ == nullptr) return nullptr;
  const Parts& parts = kept_->parts;
  const CellHistory& history = *parts.history;
  const auto& names = *history.names;
  auto place =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const std::string& one, absl::string_view text) {
                         return one < text;
                       });
  if (place == names.end() || *place != name) return nullptr;
  const NodeIndex node = static_cast<NodeIndex>(place - names.begin());
  auto own = std::lower_bound(parts.apart.begin(), parts.apart.end(),
                              std::make_pair(node, uint32_t{0}));
  if (own != parts.apart.end() && own->first == node) {
    return &parts.groups[own->second];
  }
  uint32_t cell = history.cells[node];
  for (size_t i = 0; i < parts.changes; ++i) {
    if (history.changes[i].node == node) cell = history.changes[i].cell;
  }
  return &parts.groups[parts.group_of_judgement[(
      *parts.judgement_of_cell)[cell]]];
}

}  // namespace gpubinder
