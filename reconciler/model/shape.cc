#include "reconciler/model/shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/volume.h"

namespace gpubinder {
namespace {

constexpr uint32_t kUnjudged = ~uint32_t{0};

}  // namespace

std::string KeyOfReasons(const Reasons& reasons) {
  std::string key;
  for (const v1::ReasonDetail& detail : reasons) {
    absl::StrAppend(&key, detail.SerializeAsString(), "\n");
  }
  return key;
}

struct Shape::Counting {
  const Question& question;
  const NodeCells& cells;
  const NodeFacts& facts;
  // The question's without what is the set's own, once it is needed.
  std::optional<Demand> demand;
};

Shape::Shape(const Question& question, uint32_t cells, NodeFacts& facts)
    : cells_number_(cells),
      judgement_of_cell_(std::make_shared<std::vector<uint32_t>>()),
      table_pass_(facts.pass()) {
  const Demand& demand = question.demand;
  const Snapshot& snapshot = question.snapshot;
  auto match = [&](const StringMap& selector,
                   const std::optional<NodeSelector>& required) {
    matchers_.emplace_back(selector, facts, snapshot);
    if (!required.has_value()) return;
    matchers_.emplace_back(*required, NodeMatcher::Fields::kMatch, facts,
                           snapshot);
  };
  for (const GpuClass* found : demand.classes) {
    match(found->node_selector, std::nullopt);
  }
  if (demand.pod != nullptr) {
    match(demand.pod->node_selector, demand.pod->required);
  }
  if (const SchedulingClass* found = demand.scheduling_class) {
    match(found->node_selector, found->required);
  }
  for (const std::string& claim : demand.volume_claims) {
    const VolumeReach reach = ReachOf(demand.name_space, claim, snapshot);
    if (reach.nodes == nullptr) continue;
    matchers_.emplace_back(*reach.nodes, NodeMatcher::Fields::kIgnore, facts,
                           snapshot);
  }
  for (const Demand::Need& need : demand.needs) {
    wants_.push_back({.use = facts.UseAt(need.resource, question.books),
                      .units = std::max(need.units, need.pod_units),
                      .of_set = need.units > 0});
  }
}

uint64_t Shape::Answers(const NodeCells::Cell& cell, const NodeFacts& facts) {
  const NodeIndex node = *cell.nodes.begin();
  uint64_t all = 0;
  for (size_t i = 0; i < matchers_.size();) {
    uint64_t answers = 0;
    const size_t end = std::min(matchers_.size(), i + 64);
    for (; i < end; ++i) {
      answers = answers << 1 | (matchers_[i].Matches(node, facts) ? 1 : 0);
    }
    all = matchers_.size() <= 64 ? answers : numbers_.Of(all, answers);
  }
  return all;
}

uint32_t Shape::Signature(const NodeCells::Cell& cell, const NodeFacts& facts) {
  if (cell.kind >= signature_of_kind_.size()) {
    signature_of_kind_.resize(cell.kind + 1, kUnjudged);
  }
  uint32_t& known = signature_of_kind_[cell.kind];
  if (known != kUnjudged) return known;
  uint32_t signature = cell.state;
  for (size_t i = 0; i < wants_.size(); ++i) {
    const bool has =
        HasUnits(facts.use(wants_[i].use).uses[cell.uses[i]], wants_[i].units);
    signature = numbers_.Of(signature, has ? 0 : 1 + cell.uses[i]);
  }
  known = signature;
  return signature;
}

std::vector<uint32_t>& Shape::Table(uint64_t pass) {
  // What earlier passes have told is read by other threads: it is left alone.
  if (table_pass_ != pass) {
    judgement_of_cell_ =
        std::make_shared<std::vector<uint32_t>>(*judgement_of_cell_);
    table_pass_ = pass;
  }
  return *judgement_of_cell_;
}

uint32_t Shape::Judge(uint32_t cell, Counting& counting) {
  if (cell < judgement_of_cell_->size()) {
    const uint32_t known = (*judgement_of_cell_)[cell];
    if (known != kUnjudged) return known;
  }
  std::vector<uint32_t>& table = Table(counting.facts.pass());
  table.resize(counting.cells.cells().size(), kUnjudged);
  table[cell] = JudgeAnew(counting.cells.cells()[cell], counting);
  return table[cell];
}

uint32_t Shape::JudgeAnew(const NodeCells::Cell& cell, Counting& counting) {
  const uint64_t answers = Answers(cell, counting.facts);
  const uint32_t signature = Signature(cell, counting.facts);
  if (signature >= known_.size()) known_.resize(signature + 1);
  for (const auto& [other, judgement] : known_[signature]) {
    if (other == answers) return judgement;
  }
  const Question& question = counting.question;
  if (!counting.demand.has_value()) {
    Demand& demand = counting.demand.emplace(question.demand);
    demand.own.clear();
    demand.leaving.clear();
    demand.rejections.clear();
    demand.vmi.reset();
  }
  Reasons reasons =
      JudgeNode(counting.facts.row(*cell.nodes.begin()), *counting.demand,
                question.snapshot, question.books);
  std::string key = KeyOfReasons(reasons);
  auto [place, is_new] = by_key_.emplace(
      std::move(key), static_cast<uint32_t>(judgements_.size()));
  if (is_new) {
    judgements_.push_back(
        {.reasons = std::make_shared<const Reasons>(std::move(reasons))});
  }
  known_[signature].emplace_back(answers, place->second);
  return place->second;
}

void Shape::CountIn(uint32_t number, NodeIndex first, size_t nodes) {
  Judgement& judgement = judgements_[number];
  if (judgement.nodes == 0 || first < judgement.first) judgement.first = first;
  judgement.nodes += static_cast<uint32_t>(nodes);
}

void Shape::Recount(Counting& counting) {
  for (Judgement& judgement : judgements_) judgement.nodes = 0;
  fitting_.clear();
  const std::vector<NodeCells::Cell>& cells = counting.cells.cells();
  for (uint32_t i = 0; i < cells.size(); ++i) {
    if (cells[i].nodes.empty()) continue;
    const uint32_t number = Judge(i, counting);
    CountIn(number, *cells[i].nodes.begin(), cells[i].nodes.size());
    if (judgements_[number].reasons->empty()) fitting_.insert(i);
  }
}

// Takes the nodes that have moved from where they were counted to where they
// are.
void Shape::Follow(Counting& counting) {
  const EventLog<NodeCells::Move>& moves = counting.cells.moves();
  absl::btree_map<NodeIndex, uint32_t> counted_in;  // cells
  absl::btree_set<uint32_t> cells;
  for (size_t i = *counted_; i < moves.end(); ++i) {
    const NodeCells::Move& move = moves.entries[i - moves.first];
    counted_in.emplace(move.node, move.from);
    cells.insert(move.from);
    cells.insert(move.to);
  }
  absl::btree_set<uint32_t> headless;
  for (const auto& [node, cell] : counted_in) {
    const uint32_t number = (*judgement_of_cell_)[cell];
    --judgements_[number].nodes;
    if (judgements_[number].first == node) headless.insert(number);
  }
  for (const auto& [node, cell] : counted_in) {
    CountIn(Judge(counting.cells.CellOf(node), counting), node, 1);
  }
  for (const uint32_t i : cells) {
    const bool fits = !counting.cells.cells()[i].nodes.empty() &&
                      judgements_[Judge(i, counting)].reasons->empty();
    if (fits) {
      fitting_.insert(i);
    } else {
      fitting_.erase(i);
    }
  }
  FindFirst(headless, counting.cells);
}

// Of judgements that have lost their first node.
void Shape::FindFirst(const absl::btree_set<uint32_t>& headless,
                      const NodeCells& cells) {
  bool any = false;
  for (const uint32_t number : headless) {
    judgements_[number].first = kUnjudged;
    any = any || judgements_[number].nodes > 0;
  }
  if (!any) return;
  for (size_t i = 0; i < cells.cells().size(); ++i) {
    const auto& nodes = cells.cells()[i].nodes;
    if (nodes.empty()) continue;
    Judgement& judgement = judgements_[(*judgement_of_cell_)[i]];
    judgement.first = std::min(judgement.first, *nodes.begin());
  }
}

void Shape::Count(const Question& question, const NodeCells& cells,
                  const NodeFacts& facts) {
  asked_in_ = facts.pass();
  const EventLog<NodeCells::Move>& moves = cells.moves();
  if (counted_ == moves.end()) return;
  Counting counting{.question = question, .cells = cells, .facts = facts};
  const bool few = counted_.has_value() && *counted_ >= moves.first &&
                   moves.end() - *counted_ < cells.cells().size();
  if (few) {
    Follow(counting);
  } else {
    Recount(counting);
  }
  counted_ = moves.end();
  history_ = cells.history();
  history_changes_ = history_->changes.size();
  MakeJudged(facts);
}

void Shape::MakeJudged(const NodeFacts& facts) {
  std::vector<NodeGroup> groups;
  std::vector<uint32_t> group_of_judgement(judgements_.size(), kUnjudged);
  for (const auto& [key, number] : by_key_) {
    const Judgement& judgement = judgements_[number];
    if (judgement.nodes == 0) continue;
    group_of_judgement[number] = static_cast<uint32_t>(groups.size());
    groups.push_back({.reasons = judgement.reasons,
                      .nodes = judgement.nodes,
                      .example = (*facts.names())[judgement.first]});
  }
  judged_ = Judged(std::move(groups), std::move(group_of_judgement), {});
}

JudgedNodes Shape::Judged(
    std::vector<NodeGroup> groups, std::vector<uint32_t> group_of_judgement,
    std::vector<std::pair<NodeIndex, uint32_t>> apart) const {
  return JudgedNodes({.groups = std::move(groups),
                      .history = history_,
                      .changes = history_changes_,
                      .judgement_of_cell = judgement_of_cell_,
                      .group_of_judgement = std::move(group_of_judgement),
                      .apart = std::move(apart)});
}

int64_t Shape::FreeAfter(const NodeCells::Cell& cell,
                         const NodeFacts& facts) const {
  int64_t sum = 0;
  for (size_t i = 0; i < wants_.size(); ++i) {
    const Want& want = wants_[i];
    if (!want.of_set) continue;
    const int64_t left = SaturatingSub(
        facts.use(want.use).uses[cell.uses[i]].free(), want.units);
    sum = SaturatingAdd(sum, std::max<int64_t>(0, left));
  }
  return sum;
}

bool Shape::IsWorn(const NodeFacts& facts) const {
  return AreWorn(judgements_.size(), facts.size());
}

}  // namespace gpubinder
