// The judge of a pass: which nodes accept a set, and why the others do not, at
// a cost of what has changed since the like was asked, in this pass or in an
// earlier one (rules N1 to N5, C8).
//
// Its answers are those of JudgeNode for each node, whatever is shared.

#ifndef RECONCILER_MODEL_JUDGE_H_
#define RECONCILER_MODEL_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/kept_judge.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Nodes that accept a set and are equal to it but for their names.
struct FittingCell {
  int64_t free_after = 0;  // as FreeAfter of filter.h
  // Some of them may be judged apart. Valid until the next question.
  const absl::btree_set<NodeIndex>* nodes = nullptr;
};

struct Judged {
  JudgedNodes nodes;
  std::vector<FittingCell> cells;
  // The nodes that were judged for this set alone, by name; those of them that
  // accept it, with what is left there.
  std::vector<NodeIndex> apart;
  std::vector<std::pair<NodeIndex, int64_t>> fitting_apart;
};

class NodeJudge {
 public:
  // The arguments outlive this, and the books are those of one pass. Nothing
  // is read before it is asked for.
  NodeJudge(const Snapshot& snapshot, const Books& books, KeptJudge& kept);
  NodeJudge(const NodeJudge&) = delete;
  NodeJudge& operator=(const NodeJudge&) = delete;

  // Judges all nodes as the books are now. Nodes where the demand's set has
  // claims, pods or a rejection are judged apart, and so are `others`.
  // The first of its shape: O(nodes x log); then, and where shapes ask for the
  // same labels and resources, O(nodes that changed + groups + nodes apart).
  // Where none has changed and none is apart: O(1) beside the fitting cells.
  Judged Judge(const Demand& demand, const std::vector<NameId>& others);

  // The node of that number.
  NameId NodeAt(NodeIndex node) const { return kept_.facts->name(node); }

 private:
  void FollowBooks();
  Shape& ShapeOf(const Question& question);
  uint32_t CellsOf(const Demand& demand);
  std::vector<NodeIndex> Apart(const Demand& demand,
                               const std::vector<NameId>& others) const;
  void JudgeApart(const Demand& demand, const Shape& shape,
                  Judged& judged) const;

  const Snapshot& snapshot_;
  const Books& books_;
  KeptJudge& kept_;
  bool caught_up_ = false;
  size_t followed_ = 0;  // of the books' touched nodes
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_JUDGE_H_
