// The nodes of a pass, numbered by name, and what demands ask of them as
// numbers: equal numbers of two nodes, equal facts. So nodes can be told apart
// without a look at texts.

#ifndef RECONCILER_MODEL_NODE_FACTS_H_
#define RECONCILER_MODEL_NODE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Numbers for pairs of numbers, counted from 0 as they are first asked for.
class PairNumbers {
 public:
  uint32_t Of(uint64_t a, uint64_t b) {
    const uint32_t next = static_cast<uint32_t>(numbers_.size());
    return numbers_.emplace(std::make_pair(a, b), next).first->second;
  }
  size_t size() const { return numbers_.size(); }

 private:
  absl::btree_map<std::pair<uint64_t, uint64_t>, uint32_t> numbers_;
};

// A label's key; nothing: the node's name.
using LabelKey = std::optional<std::string>;

// Appends a text of any bytes to a key, such that what follows cannot be taken
// for its end.
void AppendPart(absl::string_view part, std::string& key);

struct LabelColumn {
  std::vector<const std::string*> values;  // the first is null: no such label
  std::vector<uint32_t> value_of_node;
};

struct UseColumn {
  std::vector<NodeUse> uses;
  std::vector<uint32_t> use_of_node;
};

class NodeFacts {
 public:
  // The arguments outlive this. O(nodes x log).
  NodeFacts(const Snapshot& snapshot, const Books& books);

  const Snapshot& snapshot() const { return snapshot_; }
  const Books& books() const { return books_; }
  size_t size() const { return rows_.size(); }
  Row row(NodeIndex node) const { return rows_[node]; }
  NameId name(NodeIndex node) const {
    return snapshot_.node_columns.name[rows_[node]];
  }
  const std::shared_ptr<const std::vector<std::string>>& names() const {
    return names_;
  }
  // Nothing when there is no such node. O(log nodes).
  std::optional<NodeIndex> Find(NameId node) const;

  // What N1 asks of a node: its state, its taints and KubeVirt's label.
  const std::vector<uint32_t>& states() const { return states_; }
  // The first call O(nodes x log). Stays where it is.
  const LabelColumn& Label(const LabelKey& key);
  // As the books have it now. The first call O(nodes x log), then O(nodes that
  // were touched since).
  const UseColumn& Use(NameId resource);

 private:
  using UseKey = std::tuple<int64_t, int64_t, int64_t, bool, bool>;
  struct KeptUse {
    UseColumn column;
    absl::btree_map<UseKey, uint32_t> numbers;
    size_t caught_up = 0;  // of the books' touched nodes
  };
  void Read(NodeIndex node, NameId resource, KeptUse& kept);

  const Snapshot& snapshot_;
  const Books& books_;
  std::vector<Row> rows_;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<std::pair<NameId, NodeIndex>> by_id_;
  std::vector<uint32_t> states_;
  absl::btree_map<LabelKey, std::unique_ptr<const LabelColumn>> labels_;
  absl::btree_map<NameId, std::unique_ptr<KeptUse>> uses_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_FACTS_H_
