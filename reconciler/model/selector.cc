#include "reconciler/model/selector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/label_syntax.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {
namespace {

// Go's ParseInt(text, 10, 64). SimpleAtoi alone would take white space.
std::optional<int64_t> ReadInt(absl::string_view text) {
  const size_t sign =
      !text.empty() && (text.front() == '+' || text.front() == '-') ? 1 : 0;
  const absl::string_view digits = text.substr(sign);
  int64_t value = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

bool Contains(const std::vector<std::string>& values, absl::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool IsOrdering(absl::string_view op) { return op == "Gt" || op == "Lt"; }

// Whether the operator is known and has as many values as it takes.
bool HasLegalShape(const Requirement& requirement) {
  const absl::string_view op = requirement.op;
  const size_t values = requirement.values.size();
  if (op == "In" || op == "NotIn") return values > 0;
  if (op == "Exists" || op == "DoesNotExist") return values == 0;
  return IsOrdering(op) && values == 1 && ReadInt(requirement.values[0]);
}

bool ExpressionParses(const Requirement& requirement) {
  return IsQualifiedName(requirement.key) && HasLegalShape(requirement) &&
         std::all_of(requirement.values.begin(), requirement.values.end(),
                     IsLabelValue);
}

bool FieldParses(const Requirement& requirement) {
  return (requirement.op == "In" || requirement.op == "NotIn") &&
         requirement.values.size() == 1;
}

// Of an ordering whose label is there.
bool OrderHolds(const Requirement& requirement, absl::string_view label) {
  const std::optional<int64_t> have = ReadInt(label);
  if (!have) return false;
  const std::optional<int64_t> want = ReadInt(requirement.values[0]);
  return requirement.op == "Gt" ? *have > *want : *have < *want;
}

bool TermHolds(const SelectorTerm& term, const StringMap& labels,
               absl::string_view node_name) {
  return CanMatch(term) &&
         std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const Requirement& requirement) {
                       const auto label = labels.find(requirement.key);
                       return ExpressionHolds(
                           requirement,
                           label == labels.end() ? nullptr : &label->second);
                     }) &&
         (node_name.empty() ||
          std::all_of(term.fields.begin(), term.fields.end(),
                      [&](const Requirement& requirement) {
                        return FieldHolds(requirement, node_name);
                      }));
}

}  // namespace

bool MatchesLabels(const StringMap& selector, const StringMap& labels) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& pair) {
    const auto label = labels.find(pair.first);
    return label != labels.end() && label->second == pair.second;
  });
}

bool MatchesNodeSelector(const NodeSelector& selector, const StringMap& labels,
                         absl::string_view node_name) {
  return std::any_of(selector.terms.begin(), selector.terms.end(),
                     [&](const SelectorTerm& term) {
                       return TermHolds(term, labels, node_name);
                     });
}

bool MatchesVolumeAffinity(const NodeSelector& selector,
                           const StringMap& labels) {
  // The scheduler asks about a node without a name, for which it does not
  // evaluate matchFields at all.
  return MatchesNodeSelector(selector, labels, "");
}

bool CanMatch(const SelectorTerm& term) {
  return !term.empty() &&
         std::all_of(term.expressions.begin(), term.expressions.end(),
                     ExpressionParses) &&
         std::all_of(term.fields.begin(), term.fields.end(), FieldParses);
}

bool ExpressionHolds(const Requirement& requirement, const std::string* label) {
  const absl::string_view op = requirement.op;
  if (label == nullptr) return op == "NotIn" || op == "DoesNotExist";
  if (IsOrdering(op)) return OrderHolds(requirement, *label);
  if (op == "In") return Contains(requirement.values, *label);
  if (op == "NotIn") return !Contains(requirement.values, *label);
  return op == "Exists";
}

// The field set holds metadata.name and nothing else, and what it does not
// hold reads as empty.
bool FieldHolds(const Requirement& requirement, absl::string_view node_name) {
  const absl::string_view value =
      requirement.key == "metadata.name" ? node_name : "";
  return (requirement.values[0] == value) == (requirement.op == "In");
}

}  // namespace gpubinder
