// Sets that ask the same of nodes share a shape: for it each cell of nodes is
// judged once in a pass, and again only what units a booking has changed.

#ifndef RECONCILER_MODEL_SHAPE_H_
#define RECONCILER_MODEL_SHAPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/node_cells.h"
#include "reconciler/model/node_facts.h"

namespace gpubinder {

// A text that is equal for demands to which every node gives the same answer,
// as far as it does not depend on the sets that ask: their claims, their pods
// and the nodes that refused them.
std::string ShapeKey(const Demand& demand, const Snapshot& snapshot);

// The labels that the demand asks for, sorted, each once.
std::vector<LabelKey> LabelsAsked(const Demand& demand,
                                  const Snapshot& snapshot);

// A selector taken apart by the columns of the labels it asks for.
class NodeMatcher {
 public:
  NodeMatcher(const StringMap& selector, NodeFacts& facts);
  enum class Fields { kMatch, kIgnore };
  NodeMatcher(const NodeSelector& selector, Fields fields, NodeFacts& facts);

  // O(requirements).
  bool Matches(NodeIndex node) const;

 private:
  struct Test {
    const LabelColumn* column = nullptr;
    std::vector<bool> holds;  // by value
  };
  std::vector<std::vector<Test>> any_of_;
};

// The reasons as bytes: what groups are told apart and put in order by.
std::string KeyOfReasons(const Reasons& reasons);

// One list of reasons that nodes get.
struct Judgement {
  std::shared_ptr<const Reasons> reasons;
  uint32_t nodes = 0;  // by the last count
  NodeIndex first = 0;
};

class Shape {
 public:
  // `cells` are parted by LabelsAsked and the resources needed; it and `facts`
  // outlive this. O(what the demand asks + values of those labels).
  Shape(const Demand& demand, NodeCells& cells, NodeFacts& facts);

  // Judges what is new and counts, as the books are now. Nothing changed since
  // the last time: O(1), else O(cells + judgements).
  void Count();

  // By number; those without nodes are left over from before.
  const std::vector<Judgement>& judgements() const { return judgements_; }
  // Their numbers, by key.
  const absl::btree_map<std::string, uint32_t>& by_key() const {
    return by_key_;
  }
  uint32_t JudgementOf(size_t cell) const {
    return (*judgement_of_cell_)[cell];
  }
  const NodeCells& cells() const { return cells_; }
  // The cells whose nodes fit, by the last count.
  const std::vector<size_t>& fitting_cells() const { return fitting_; }
  // What is left on a node of that cell when the set is placed there.
  int64_t FreeAfter(const NodeCells::Cell& cell) const;
  // Of the last count, no node judged apart.
  const JudgedNodes& judged() const { return judged_; }
  // The same with other groups, and with nodes judged apart.
  JudgedNodes Judged(std::vector<NodeGroup> groups,
                     std::vector<uint32_t> group_of_judgement,
                     std::vector<std::pair<NodeIndex, uint32_t>> apart) const;

 private:
  uint32_t Judge(const NodeCells::Cell& cell);
  // Equal for kinds of cells that differ in nothing the reasons tell.
  uint32_t Signature(const NodeCells::Cell& cell);
  // What the matchers say of the cell's nodes.
  uint64_t Answers(const NodeCells::Cell& cell);
  void MakeJudged();

  Demand demand_;  // without what is the set's own
  NodeCells& cells_;
  NodeFacts& facts_;
  std::vector<NodeMatcher> matchers_;
  std::vector<const UseColumn*> uses_;  // by need
  PairNumbers numbers_;                 // of signatures, and of many answers
  std::vector<uint32_t> signature_of_kind_;
  // By signature and answers: of these there are few.
  std::vector<std::vector<std::pair<uint64_t, uint32_t>>> known_;
  std::shared_ptr<std::vector<uint32_t>> judgement_of_cell_;
  std::vector<Judgement> judgements_;
  absl::btree_map<std::string, uint32_t> by_key_;
  std::vector<size_t> fitting_;
  size_t counted_changes_ = 0;  // of the history
  bool counted_ = false;
  JudgedNodes judged_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SHAPE_H_
