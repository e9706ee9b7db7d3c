// The nodes, numbered by name, and what demands ask of them as numbers: equal
// numbers of two nodes, equal facts. So nodes can be told apart without a look
// at texts. Kept from pass to pass, nothing in it points into a snapshot.

#ifndef RECONCILER_MODEL_NODE_FACTS_H_
#define RECONCILER_MODEL_NODE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/name_table.h"
#include "reconciler/model/node_use.h"
#include "reconciler/model/table.h"

namespace gpubinder {

class Books;
struct Snapshot;

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

// What happened, in order; its beginning may have been forgotten.
template <typename T>
struct EventLog {
  size_t first = 0;  // the number of the first entry that is left
  std::vector<T> entries;

  size_t end() const { return first + entries.size(); }
  void Forget() {
    first = end();
    entries.clear();
  }
};

// A label's key; nothing: the node's name.
using LabelKey = std::optional<std::string>;

// Appends a text of any bytes to a key, such that what follows cannot be taken
// for its end.
void AppendPart(absl::string_view part, std::string& key);

struct LabelColumn {
  std::vector<uint32_t> value_of_node;  // 0: no such label
  std::deque<std::string> texts;        // of the others, in their order
  absl::btree_map<std::string, uint32_t> numbers;

  size_t values() const { return texts.size() + 1; }
  const std::string* value(size_t number) const {
    return number == 0 ? nullptr : &texts[number - 1];
  }
};

struct UseColumn {
  using Key = std::tuple<int64_t, int64_t, int64_t, bool, bool>;
  std::vector<uint32_t> use_of_node;
  std::vector<NodeUse> uses;
  absl::btree_map<Key, uint32_t> numbers;
};

class NodeFacts {
 public:
  // O(nodes x log).
  explicit NodeFacts(const Snapshot& snapshot);

  // Reads the node's object again. False: it has come or gone, and no number
  // of a node holds any more. O(columns x log).
  bool Read(NameId node, const Snapshot& snapshot);
  // Reads again what is used of a node, if there is one.
  // O(columns x (resources + log)).
  void ReadUses(NameId node, const Books& books);

  size_t size() const { return rows_.size(); }
  Row row(NodeIndex node) const { return rows_[node]; }
  NameId name(NodeIndex node) const { return ids_[node]; }
  const std::shared_ptr<const std::vector<std::string>>& names() const {
    return names_;
  }
  // Nothing when there is no such node. O(log nodes).
  std::optional<NodeIndex> Find(NameId node) const;

  // What N1 asks of a node: its state, its taints and KubeVirt's label.
  const std::vector<uint32_t>& states() const { return states_; }
  // The number of a column. The first call O(nodes x log).
  size_t LabelAt(const LabelKey& key, const Snapshot& snapshot);
  size_t UseAt(NameId resource, const Books& books);
  const LabelColumn& label(size_t number) const { return labels_[number]; }
  const UseColumn& use(size_t number) const { return uses_[number]; }
  // Nodes of which some number has changed.
  const EventLog<NodeIndex>& changes() const { return changes_; }

  // Passes are told apart by a number.
  uint64_t pass() const { return pass_; }
  void EndPass();
  // There are more numbers that no node has any more than is good.
  bool IsWorn() const;

 private:
  // Whether the node's number has changed by it.
  bool ReadState(NodeIndex node, const Snapshot& snapshot);
  bool ReadLabel(NodeIndex node, const LabelKey& key, LabelColumn& column,
                 const Snapshot& snapshot);
  bool ReadUse(NodeIndex node, size_t column, const NodeUse& use);

  uint64_t pass_ = 0;
  std::vector<Row> rows_;
  std::vector<NameId> ids_;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<std::pair<NameId, NodeIndex>> by_id_;
  std::vector<uint32_t> states_;
  absl::btree_map<std::string, uint32_t> state_numbers_;
  std::vector<LabelColumn> labels_;
  absl::btree_map<LabelKey, size_t> label_of_key_;
  std::vector<UseColumn> uses_;
  absl::btree_map<NameId, size_t> use_of_resource_;
  EventLog<NodeIndex> changes_;
};

// Whether so many numbers are too many for so many nodes: most of them stand
// for nothing any more.
inline bool AreWorn(size_t numbers, size_t nodes) {
  return numbers > 2 * nodes + 1000;
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_FACTS_H_
