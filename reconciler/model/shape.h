// Sets that ask the same of nodes share a shape: for it each cell of nodes is
// judged once, and again only what has changed of the nodes since.

#ifndef RECONCILER_MODEL_SHAPE_H_
#define RECONCILER_MODEL_SHAPE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/node_cells.h"
#include "reconciler/model/node_facts.h"
#include "reconciler/model/node_matcher.h"

namespace gpubinder {

class Books;
struct Demand;
struct Snapshot;

// The reasons as bytes: what groups are told apart and put in order by.
std::string KeyOfReasons(const Reasons& reasons);

// One list of reasons that nodes get.
struct Judgement {
  std::shared_ptr<const Reasons> reasons;
  uint32_t nodes = 0;  // by the last count
  NodeIndex first = 0;
};

// What the pass that asks has, and what it asks. All demands of a shape agree
// in all that the shape is about.
struct Question {
  const Demand& demand;
  const Snapshot& snapshot;
  const Books& books;
};

class Shape {
 public:
  // Cells parted by the labels that the demand asks for and the resources
  // needed have the number `cells` among those kept.
  // O(what the demand asks + nodes where a label is new).
  Shape(const Question& question, uint32_t cells, NodeFacts& facts);

  // Judges what is new and counts. `cells` and `facts` are caught up with the
  // question's snapshot and books. Nothing changed since the last time: O(1);
  // few nodes changed: O(those + judgements); else O(cells + judgements).
  void Count(const Question& question, const NodeCells& cells,
             const NodeFacts& facts);

  // By number; those without nodes are left over from before.
  const std::vector<Judgement>& judgements() const { return judgements_; }
  // Their numbers, by key.
  const absl::btree_map<std::string, uint32_t>& by_key() const {
    return by_key_;
  }
  uint32_t JudgementOf(size_t cell) const {
    return (*judgement_of_cell_)[cell];
  }
  // The cells whose nodes fit, by the last count.
  const absl::btree_set<uint32_t>& fitting_cells() const { return fitting_; }
  // What is left on a node of that cell when the set is placed there.
  int64_t FreeAfter(const NodeCells::Cell& cell, const NodeFacts& facts) const;
  // Of the last count, no node judged apart.
  const JudgedNodes& judged() const { return judged_; }
  // The same with other groups, and with nodes judged apart.
  JudgedNodes Judged(std::vector<NodeGroup> groups,
                     std::vector<uint32_t> group_of_judgement,
                     std::vector<std::pair<NodeIndex, uint32_t>> apart) const;

  uint32_t cells_number() const { return cells_number_; }
  // The pass that counted last, by the number of the facts.
  uint64_t asked_in() const { return asked_in_; }
  bool IsWorn(const NodeFacts& facts) const;

 private:
  struct Counting;  // what one count is about

  void Recount(Counting& counting);
  void Follow(Counting& counting);
  void CountIn(uint32_t judgement, NodeIndex first, size_t nodes);
  void FindFirst(const absl::btree_set<uint32_t>& headless,
                 const NodeCells& cells);
  // The number of the cell's judgement.
  uint32_t Judge(uint32_t cell, Counting& counting);
  uint32_t JudgeAnew(const NodeCells::Cell& cell, Counting& counting);
  // Equal for kinds of cells that differ in nothing the reasons tell.
  uint32_t Signature(const NodeCells::Cell& cell, const NodeFacts& facts);
  // What the matchers say of the cell's nodes.
  uint64_t Answers(const NodeCells::Cell& cell, const NodeFacts& facts);
  std::vector<uint32_t>& Table(uint64_t pass);
  void MakeJudged(const NodeFacts& facts);

  struct Want {
    size_t use = 0;       // a column
    int64_t units = 0;    // that a node must have left
    bool of_set = false;  // not its pod's alone
  };

  uint32_t cells_number_;
  std::vector<Want> wants_;
  std::vector<NodeMatcher> matchers_;
  PairNumbers numbers_;  // of signatures, and of many answers
  std::vector<uint32_t> signature_of_kind_;
  // By signature and answers: of these there are few.
  std::vector<std::vector<std::pair<uint64_t, uint32_t>>> known_;
  std::shared_ptr<std::vector<uint32_t>> judgement_of_cell_;
  uint64_t table_pass_;  // the one that may change it
  std::vector<Judgement> judgements_;
  absl::btree_map<std::string, uint32_t> by_key_;
  absl::btree_set<uint32_t> fitting_;
  std::optional<size_t> counted_;  // of the cells' moves
  uint64_t asked_in_ = 0;
  std::shared_ptr<const CellHistory> history_;
  size_t history_changes_ = 0;
  JudgedNodes judged_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SHAPE_H_
