#include "reconciler/model/node_matcher.h"

#include <algorithm>

#include "reconciler/model/selector.h"

namespace gpubinder {
NodeMatcher::NodeMatcher(const StringMap& selector, NodeFacts& facts,
                         const Snapshot& snapshot) {
  std::vector<Test>& tests = any_of_.emplace_back();
  for (const auto& [name, wanted] : selector) {
    tests.push_back(
        {.column = facts.LabelAt(name, snapshot), .wanted = wanted});
  }
}

NodeMatcher::NodeMatcher(const NodeSelector& selector, Fields fields,
                         NodeFacts& facts, const Snapshot& snapshot) {
  for (const SelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;
    std::vector<Test>& tests = any_of_.emplace_back();
    for (const Requirement& requirement : term.expressions) {
      tests.push_back({.column = facts.LabelAt(requirement.key, snapshot),
                       .wanted = requirement});
    }
    if (fields == Fields::kIgnore) continue;
    for (const Requirement& requirement : term.fields) {
      tests.push_back({.column = facts.LabelAt(std::nullopt, snapshot),
                       .wanted = Field{requirement}});
    }
  }
}

bool NodeMatcher::Matches(NodeIndex node, const NodeFacts& facts) {
  return std::any_of(any_of_.begin(), any_of_.end(), [&](auto& tests) {
    return std::all_of(tests.begin(), tests.end(),
                       [&](Test& test) { return Holds(test, node, facts); });
  });
}

bool NodeMatcher::Holds(Test& test, NodeIndex node, const NodeFacts& facts) {
  const LabelColumn& column = facts.label(test.column);
  const uint32_t number = column.value_of_node[node];
  while (test.holds.size() <= number) {
    const std::string* value = column.value(test.holds.size());
    bool holds = false;
    if (const auto* field = std::get_if<Field>(&test.wanted)) {
      // Every node has a name: what the first value says is not asked.
      holds = value != nullptr && FieldHolds(field->requirement, *value);
    } else if (const auto* wish = std::get_if<Requirement>(&test.wanted)) {
      holds = ExpressionHolds(*wish, value);
    } else {
      holds = value != nullptr && *value == std::get<std::string>(test.wanted);
    }
    test.holds.push_back(holds);
  }
  return test.holds[number];
}

}  // namespace gpubinder
