// Node selectors, exactly as the scheduler's NodeAffinity filter reads them:
// terms are ORed, an empty term and one with a parse error match nothing,
// NotIn and DoesNotExist hold when the label is absent, Gt and Lt compare
// base-10 int64, matchFields knows metadata.name only.

#ifndef RECONCILER_MODEL_SELECTOR_H_
#define RECONCILER_MODEL_SELECTOR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

// Whether every pair of the selector is among the labels, byte for byte. An
// empty selector always matches. O(selector x log labels).
bool MatchesLabels(const StringMap& selector, const StringMap& labels);

// Whether a node of these labels and this name matches one of the terms; no
// term, no match. `node_name` is metadata.name, never empty for a real node.
// Keys and values that are not legal are parse errors of their term alone.
bool MatchesNodeSelector(const NodeSelector& selector, const StringMap& labels,
                         absl::string_view node_name);

// The same for the required node affinity of a PersistentVolume, which sees
// labels only: matchFields are taken as satisfied, though one that does not
// parse still spoils its term.
bool MatchesVolumeAffinity(const NodeSelector& selector,
                           const StringMap& labels);

// The parts of that, for who asks one selector of many nodes. Whether a term
// can match at all: it is not empty, and all of it parses.
bool CanMatch(const SelectorTerm& term);
// Whether an expression of such a term holds for the label's value; null: the
// node has no such label.
bool ExpressionHolds(const Requirement& requirement, const std::string* label);
// Whether a field of such a term holds for a node of this name.
bool FieldHolds(const Requirement& requirement, absl::string_view node_name);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SELECTOR_H_
