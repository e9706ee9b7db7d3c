#include "reconciler/model/judge.h"

#include <algorithm>
#include <optional>

#include "reconciler/model/filter.h"
#include "reconciler/model/node_cells.h"
#include "reconciler/model/shape.h"
#include "reconciler/model/shape_key.h"

namespace gpubinder {
namespace {

constexpr uint32_t kNoGroup = ~uint32_t{0};

// Counts of a shape's judgements as one set has them: without its own nodes,
// which come back with the reasons that they have for it.
class Recount {
 public:
  struct Line {
    std::shared_ptr<const Reasons> reasons;
    uint32_t nodes = 0;
    NodeIndex first = 0;
    uint32_t group = kNoGroup;
  };

  Recount(const Shape& shape, const NodeCells& cells,
          const std::vector<NodeIndex>& apart)
      : shape_(shape), cells_(cells), apart_(apart) {
    for (const Judgement& judgement : shape.judgements()) {
      lines_.push_back({.reasons = judgement.reasons,
                        .nodes = judgement.nodes,
                        .first = judgement.first});
    }
  }

  // Takes the nodes apart out of what the shape has counted.
  void TakeOut(const std::vector<std::pair<NodeIndex, uint32_t>>& judgements) {
    absl::btree_set<uint32_t> headless;
    for (const auto& [node, judgement] : judgements) {
      Line& line = lines_[judgement];
      if (--line.nodes > 0 && line.first == node) headless.insert(judgement);
    }
    if (!headless.empty()) FindFirst(headless);
  }

  // Puts a node where its reasons belong; the line's number.
  uint32_t PutIn(NodeIndex node, Reasons reasons) {
    std::string key = KeyOfReasons(reasons);
    auto known = shape_.by_key().find(key);
    uint32_t number = 0;
    if (known != shape_.by_key().end()) {
      number = known->second;
    } else {
      auto [place, is_new] =
          own_.emplace(std::move(key), static_cast<uint32_t>(lines_.size()));
      number = place->second;
      if (is_new) {
        lines_.push_back(
            {.reasons = std::make_shared<const Reasons>(std::move(reasons))});
      }
    }
    Line& line = lines_[number];
    if (line.nodes++ == 0 || node < line.first) line.first = node;
    return number;
  }

  // Numbers the lines that have nodes as groups, by the keys of both.
  std::vector<NodeGroup> Groups(const std::vector<std::string>& names) {
    std::vector<NodeGroup> groups;
    auto add = [&](uint32_t number) {
      Line& line = lines_[number];
      if (line.nodes == 0) return;
      line.group = static_cast<uint32_t>(groups.size());
      groups.push_back({.reasons = line.reasons,
                        .nodes = line.nodes,
                        .example = names[line.first]});
    };
    auto own = own_.begin();
    for (const auto& [key, number] : shape_.by_key()) {
      for (; own != own_.end() && own->first < key; ++own) add(own->second);
      add(number);
    }
    for (; own != own_.end(); ++own) add(own->second);
    return groups;
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  // Of the lines whose first node was taken out.
  void FindFirst(const absl::btree_set<uint32_t>& headless) {
    for (const uint32_t number : headless) lines_[number].first = kNoGroup;
    const std::vector<NodeCells::Cell>& cells = cells_.cells();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].nodes.empty()) continue;
      const uint32_t number = shape_.JudgementOf(i);
      if (!headless.contains(number)) continue;
      for (const NodeIndex node : cells[i].nodes) {
        if (node >= lines_[number].first) break;
        if (std::binary_search(apart_.begin(), apart_.end(), node)) continue;
        lines_[number].first = node;
        break;
      }
    }
  }

  const Shape& shape_;
  const NodeCells& cells_;
  const std::vector<NodeIndex>& apart_;
  std::vector<Line> lines_;  // the shape's, then those of this set alone
  absl::btree_map<std::string, uint32_t> own_;
};

}  // namespace

NodeJudge::NodeJudge(const Snapshot& snapshot, const Books& books,
                     KeptJudge& kept)
    : snapshot_(snapshot), books_(books), kept_(kept) {}

// Brings the facts up to what the pass has decided.
void NodeJudge::FollowBooks() {
  const std::vector<NameId>& touched = books_.touched();
  if (!caught_up_) {
    CatchUp(snapshot_, books_, kept_);
    caught_up_ = true;
    followed_ = touched.size();
  }
  for (; followed_ < touched.size(); ++followed_) {
    kept_.facts->ReadUses(touched[followed_], books_);
    kept_.assumed.insert(touched[followed_]);
  }
}

uint32_t NodeJudge::CellsOf(const Demand& demand) {
  KeptJudge::Parting parting{LabelsAsked(demand, snapshot_), {}};
  for (const Demand::Need& need : demand.needs) {
    parting.second.push_back(need.resource);
  }
  auto known = kept_.cells_of.find(parting);
  if (known != kept_.cells_of.end()) return known->second;
  std::vector<size_t> labels, uses;
  for (const LabelKey& key : parting.first) {
    labels.push_back(kept_.facts->LabelAt(key, snapshot_));
  }
  for (const NameId resource : parting.second) {
    uses.push_back(kept_.facts->UseAt(resource, books_));
  }
  const uint32_t number = kept_.next_cells++;
  kept_.cells.try_emplace(number, std::move(labels), std::move(uses),
                          *kept_.facts);
  kept_.cells_of.emplace(std::move(parting), number);
  return number;
}

Shape& NodeJudge::ShapeOf(const Question& question) {
  std::string key = ShapeKey(question.demand, snapshot_);
  auto known = kept_.shapes.find(key);
  if (known != kept_.shapes.end()) return known->second;
  const uint32_t cells = CellsOf(question.demand);
  return kept_.shapes.try_emplace(std::move(key), question, cells, *kept_.facts)
      .first->second;
}

std::vector<NodeIndex> NodeJudge::Apart(
    const Demand& demand, const std::vector<NameId>& others) const {
  std::vector<NameId> names = others;
  for (const auto& [place, units] : demand.own) names.push_back(place.first);
  for (const auto& [place, units] : demand.leaving) {
    names.push_back(place.first);
  }
  if (demand.vmi.has_value()) {
    for (const NameId node : books_.RawNodesOf(*demand.vmi)) {
      names.push_back(node);
    }
  }
  for (const RejectedNode& entry : demand.rejections) {
    const std::optional<NameId> node = snapshot_.names.Find(entry.node_name);
    if (node.has_value()) names.push_back(*node);
  }
  std::vector<NodeIndex> apart;
  for (const NameId name : names) {
    const std::optional<NodeIndex> node = kept_.facts->Find(name);
    if (node.has_value()) apart.push_back(*node);
  }
  std::sort(apart.begin(), apart.end());
  apart.erase(std::unique(apart.begin(), apart.end()), apart.end());
  return apart;
}

void NodeJudge::JudgeApart(const Demand& demand, const Shape& shape,
                           Judged& judged) const {
  const NodeCells& cells = kept_.cells.at(shape.cells_number());
  std::vector<std::pair<NodeIndex, uint32_t>> places;
  for (const NodeIndex node : judged.apart) {
    places.emplace_back(node, shape.JudgementOf(cells.CellOf(node)));
  }
  Recount recount(shape, cells, judged.apart);
  recount.TakeOut(places);
  for (auto& [node, line] : places) {
    const Row row = kept_.facts->row(node);
    Reasons reasons = JudgeNode(row, demand, snapshot_, books_);
    if (reasons.empty()) {
      judged.fitting_apart.emplace_back(
          node, FreeAfter(row, demand, snapshot_, books_));
    }
    line = recount.PutIn(node, std::move(reasons));
  }
  std::vector<NodeGroup> groups = recount.Groups(*kept_.facts->names());
  std::vector<uint32_t> group_of_judgement;
  for (const Recount::Line& line : recount.lines()) {
    group_of_judgement.push_back(line.group);
  }
  for (auto& [node, line] : places) line = group_of_judgement[line];
  group_of_judgement.resize(shape.judgements().size());
  judged.nodes = shape.Judged(std::move(groups), std::move(group_of_judgement),
                              std::move(places));
}

Judged NodeJudge::Judge(const Demand& demand,
                        const std::vector<NameId>& others) {
  FollowBooks();
  const Question question{
      .demand = demand, .snapshot = snapshot_, .books = books_};
  Shape& shape = ShapeOf(question);
  NodeCells& cells = kept_.cells.at(shape.cells_number());
  cells.CatchUp(*kept_.facts);
  shape.Count(question, cells, *kept_.facts);
  Judged judged{.nodes = shape.judged(), .apart = Apart(demand, others)};
  for (const uint32_t i : shape.fitting_cells()) {
    const NodeCells::Cell& cell = cells.cells()[i];
    judged.cells.push_back({.free_after = shape.FreeAfter(cell, *kept_.facts),
                            .nodes = &cell.nodes});
  }
  if (!judged.apart.empty()) JudgeApart(demand, shape, judged);
  return judged;
}

}  // namespace gpubinder
