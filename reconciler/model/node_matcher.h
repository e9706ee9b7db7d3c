// Selectors taken apart by the columns of the labels they ask for: each value
// of a label is looked at once.

#ifndef RECONCILER_MODEL_NODE_MATCHER_H_
#define RECONCILER_MODEL_NODE_MATCHER_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "reconciler/model/node_facts.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

class NodeMatcher {
 public:
  // Each: O(requirements + nodes where a label is new).
  NodeMatcher(const StringMap& selector, NodeFacts& facts,
              const Snapshot& snapshot);
  enum class Fields { kMatch, kIgnore };
  NodeMatcher(const NodeSelector& selector, Fields fields, NodeFacts& facts,
              const Snapshot& snapshot);

  // `facts` are those that this was made with. O(requirements), and for a new
  // value of a label what it costs to match it.
  bool Matches(NodeIndex node, const NodeFacts& facts);

 private:
  struct Field {
    Requirement requirement;
  };
  struct Test {
    size_t column = 0;
    // The value itself, a requirement on it, or one on the node's name.
    std::variant<std::string, Requirement, Field> wanted;
    std::vector<bool> holds;  // by value, those that were asked for yet
  };
  static bool Holds(Test& test, NodeIndex node, const NodeFacts& facts);

  std::vector<std::vector<Test>> any_of_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_MATCHER_H_
