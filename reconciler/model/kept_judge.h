// What the judge keeps from pass to pass, so that a set that waits costs what
// has changed since it was judged.
//
// It is part of the index, and may be copied with it between passes. It holds
// until a node comes or goes, or what all sets depend on changes; of nodes that
// only change it is told.

#ifndef RECONCILER_MODEL_KEPT_JUDGE_H_
#define RECONCILER_MODEL_KEPT_JUDGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "reconciler/model/node_cells.h"
#include "reconciler/model/node_facts.h"
#include "reconciler/model/shape.h"

namespace gpubinder {

struct KeptJudge {
  // Labels and resources that cells are parted by.
  using Parting = std::pair<std::vector<LabelKey>, std::vector<NameId>>;

  std::optional<NodeFacts> facts;
  std::map<uint32_t, NodeCells> cells;  // by a number of their own
  absl::btree_map<Parting, uint32_t> cells_of;
  uint32_t next_cells = 0;
  std::map<std::string, Shape> shapes;  // by ShapeKey
  // What is to be read again: nodes whose object or units have changed, and
  // those on which the last pass has assumed units.
  absl::btree_set<NameId> changed_nodes, changed_units, assumed;
};

// The index has seen changes of these nodes, and of units on those.
void NoteChanges(const absl::btree_set<NameId>& nodes,
                 const absl::btree_set<NameId>& units, KeptJudge& kept);

// Before the first question of a pass: reads what has changed.
// O(nodes that have x columns x log); all anew when one came or went.
void CatchUp(const Snapshot& snapshot, const Books& books, KeptJudge& kept);

// After the last one: what was not asked for lately goes. O(shapes).
void EndPass(KeptJudge& kept);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_KEPT_JUDGE_H_
