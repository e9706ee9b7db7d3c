#include "reconciler/model/shape.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/volume.h"

namespace gpubinder {
namespace {

constexpr uint32_t kUnjudged = ~uint32_t{0};

void AppendNumber(int64_t number, std::string& key) {
  absl::StrAppend(&key, number, ",");
}

void Append(const StringMap& selector, std::string& key) {
  AppendNumber(static_cast<int64_t>(selector.size()), key);
  for (const auto& [name, value] : selector) {
    AppendPart(name, key);
    AppendPart(value, key);
  }
}

void Append(const std::vector<Requirement>& requirements, std::string& key) {
  AppendNumber(static_cast<int64_t>(requirements.size()), key);
  for (const Requirement& requirement : requirements) {
    AppendPart(requirement.key, key);
    AppendPart(requirement.op, key);
    AppendNumber(static_cast<int64_t>(requirement.values.size()), key);
    for (const std::string& value : requirement.values) AppendPart(value, key);
  }
}

void Append(const std::optional<NodeSelector>& selector, std::string& key) {
  if (!selector.has_value()) {
    AppendNumber(-1, key);
    return;
  }
  AppendNumber(static_cast<int64_t>(selector->terms.size()), key);
  for (const SelectorTerm& term : selector->terms) {
    Append(term.expressions, key);
    Append(term.fields, key);
  }
}

void Ask(const StringMap& selector, absl::btree_set<LabelKey>& keys) {
  for (const auto& [name, value] : selector) keys.insert(name);
}

void Ask(const NodeSelector& selector, absl::btree_set<LabelKey>& keys) {
  for (const SelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;
    for (const Requirement& requirement : term.expressions) {
      keys.insert(requirement.key);
    }
    if (!term.fields.empty()) keys.insert(std::nullopt);
  }
}

}  // namespace

std::string KeyOfReasons(const Reasons& reasons) {
  std::string key;
  for (const v1::ReasonDetail& detail : reasons) {
    absl::StrAppend(&key, detail.SerializeAsString(), "\n");
  }
  return key;
}

std::string ShapeKey(const Demand& demand, const Snapshot& snapshot) {
  std::string key;
  for (const GpuClass* found : demand.classes)
    AppendPart(found->meta.name, key);
  key += ';';
  for (const Demand::Need& need : demand.needs) {
    AppendNumber(need.resource, key);
    AppendNumber(need.units, key);
    AppendNumber(need.pod_units, key);
  }
  key += ';';
  if (demand.pod != nullptr) {
    Append(demand.pod->node_selector, key);
    Append(demand.pod->required, key);
    if (demand.scheduling_class != nullptr) {
      key += 's';
      AppendPart(demand.scheduling_class->meta.name, key);
    } else {
      AppendPart(demand.missing_scheduling_class, key);
    }
  }
  key += ';';
  for (const std::string& claim : demand.volume_claims) {
    if (ReachOf(demand.name_space, claim, snapshot).everywhere) continue;
    AppendPart(demand.name_space, key);
    AppendPart(claim, key);
  }
  return key;
}

std::vector<LabelKey> LabelsAsked(const Demand& demand,
                                  const Snapshot& snapshot) {
  absl::btree_set<LabelKey> keys;
  for (const GpuClass* found : demand.classes) Ask(found->node_selector, keys);
  if (demand.pod != nullptr) {
    Ask(demand.pod->node_selector, keys);
    if (demand.pod->required.has_value()) Ask(*demand.pod->required, keys);
  }
  if (const SchedulingClass* found = demand.scheduling_class) {
    Ask(found->node_selector, keys);
    if (found->required.has_value()) Ask(*found->required, keys);
  }
  for (const std::string& claim : demand.volume_claims) {
    const VolumeReach reach = ReachOf(demand.name_space, claim, snapshot);
    if (reach.nodes != nullptr) Ask(*reach.nodes, keys);
  }
  return {keys.begin(), keys.end()};
}

NodeMatcher::NodeMatcher(const StringMap& selector, NodeFacts& facts) {
  std::vector<Test>& tests = any_of_.emplace_back();
  for (const auto& [name, wanted] : selector) {
    Test& test = tests.emplace_back();
    test.column = &facts.Label(name);
    for (const std::string* value : test.column->values) {
      test.holds.push_back(value != nullptr && *value == wanted);
    }
  }
}

NodeMatcher::NodeMatcher(const NodeSelector& selector, Fields fields,
                         NodeFacts& facts) {
  for (const SelectorTerm& term : selector.terms) {
    if (!CanMatch(term)) continue;
    std::vector<Test>& tests = any_of_.emplace_back();
    for (const Requirement& requirement : term.expressions) {
      Test& test = tests.emplace_back();
      test.column = &facts.Label(requirement.key);
      for (const std::string* value : test.column->values) {
        test.holds.push_back(ExpressionHolds(requirement, value));
      }
    }
    if (fields == Fields::kIgnore) continue;
    for (const Requirement& requirement : term.fields) {
      Test& test = tests.emplace_back();
      test.column = &facts.Label(std::nullopt);
      for (const std::string* name : test.column->values) {
        // Every node has a name: what the first value says is not asked.
        test.holds.push_back(name != nullptr && FieldHolds(requirement, *name));
      }
    }
  }
}

bool NodeMatcher::Matches(NodeIndex node) const {
  return std::any_of(any_of_.begin(), any_of_.end(), [&](const auto& tests) {
    return std::all_of(tests.begin(), tests.end(), [&](const Test& test) {
      return test.holds[test.column->value_of_node[node]];
    });
  });
}

Shape::Shape(const Demand& demand, NodeCells& cells, NodeFacts& facts)
    : demand_(demand),
      cells_(cells),
      facts_(facts),
      judgement_of_cell_(std::make_shared<std::vector<uint32_t>>()) {
  demand_.own.clear();
  demand_.leaving.clear();
  demand_.rejections.clear();
  demand_.vmi.reset();
  for (const GpuClass* found : demand_.classes) {
    matchers_.emplace_back(found->node_selector, facts);
  }
  auto match = [&](const std::optional<NodeSelector>& required) {
    if (!required.has_value()) return;
    matchers_.emplace_back(*required, NodeMatcher::Fields::kMatch, facts);
  };
  if (demand_.pod != nullptr) {
    matchers_.emplace_back(demand_.pod->node_selector, facts);
    match(demand_.pod->required);
  }
  if (const SchedulingClass* found = demand_.scheduling_class) {
    matchers_.emplace_back(found->node_selector, facts);
    match(found->required);
  }
  for (const std::string& claim : demand_.volume_claims) {
    const VolumeReach reach =
        ReachOf(demand_.name_space, claim, facts.snapshot());
    if (reach.nodes == nullptr) continue;
    matchers_.emplace_back(*reach.nodes, NodeMatcher::Fields::kIgnore, facts);
  }
  for (const Demand::Need& need : demand_.needs) {
    uses_.push_back(&facts.Use(need.resource));
  }
}

uint64_t Shape::Answers(const NodeCells::Cell& cell) {
  const NodeIndex node = *cell.nodes.begin();
  uint64_t all = 0;
  for (size_t i = 0; i < matchers_.size();) {
    uint64_t answers = 0;
    const size_t end = std::min(matchers_.size(), i + 64);
    for (; i < end; ++i) {
      answers = answers << 1 | (matchers_[i].Matches(node) ? 1 : 0);
    }
    all = matchers_.size() <= 64 ? answers : numbers_.Of(all, answers);
  }
  return all;
}

uint32_t Shape::Signature(const NodeCells::Cell& cell) {
  if (cell.kind >= signature_of_kind_.size()) {
    signature_of_kind_.resize(cell.kind + 1, kUnjudged);
  }
  uint32_t& known = signature_of_kind_[cell.kind];
  if (known != kUnjudged) return known;
  uint32_t signature = cell.state;
  for (size_t i = 0; i < uses_.size(); ++i) {
    const Demand::Need& need = demand_.needs[i];
    const bool has = HasUnits(uses_[i]->uses[cell.uses[i]],
                              std::max(need.units, need.pod_units));
    signature = numbers_.Of(signature, has ? 0 : 1 + cell.uses[i]);
  }
  known = signature;
  return signature;
}

uint32_t Shape::Judge(const NodeCells::Cell& cell) {
  const uint64_t answers = Answers(cell);
  const uint32_t signature = Signature(cell);
  if (signature >= known_.size()) known_.resize(signature + 1);
  for (const auto& [other, judgement] : known_[signature]) {
    if (other == answers) return judgement;
  }
  Reasons reasons = JudgeNode(facts_.row(*cell.nodes.begin()), demand_,
                              facts_.snapshot(), facts_.books());
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

void Shape::Count() {
  cells_.CatchUp();
  if (counted_ && counted_changes_ == cells_.history()->changes.size()) return;
  for (Judgement& judgement : judgements_) judgement.nodes = 0;
  fitting_.clear();
  judgement_of_cell_->resize(cells_.cells().size(), kUnjudged);
  for (size_t i = 0; i < cells_.cells().size(); ++i) {
    const NodeCells::Cell& cell = cells_.cells()[i];
    if (cell.nodes.empty()) continue;
    uint32_t& number = (*judgement_of_cell_)[i];
    if (number == kUnjudged) number = Judge(cell);
    Judgement& judgement = judgements_[number];
    const NodeIndex first = *cell.nodes.begin();
    if (judgement.nodes == 0 || first < judgement.first) {
      judgement.first = first;
    }
    judgement.nodes += static_cast<uint32_t>(cell.nodes.size());
    if (judgement.reasons->empty()) fitting_.push_back(i);
  }
  counted_ = true;
  counted_changes_ = cells_.history()->changes.size();
  MakeJudged();
}

void Shape::MakeJudged() {
  std::vector<NodeGroup> groups;
  std::vector<uint32_t> group_of_judgement(judgements_.size(), kUnjudged);
  for (const auto& [key, number] : by_key_) {
    const Judgement& judgement = judgements_[number];
    if (judgement.nodes == 0) continue;
    group_of_judgement[number] = static_cast<uint32_t>(groups.size());
    groups.push_back({.reasons = judgement.reasons,
                      .nodes = judgement.nodes,
                      .example = (*facts_.names())[judgement.first]});
  }
  judged_ = Judged(std::move(groups), std::move(group_of_judgement), {});
}

JudgedNodes Shape::Judged(
    std::vector<NodeGroup> groups, std::vector<uint32_t> group_of_judgement,
    std::vector<std::pair<NodeIndex, uint32_t>> apart) const {
  return JudgedNodes({.groups = std::move(groups),
                      .history = cells_.history(),
                      .changes = counted_changes_,
                      .judgement_of_cell = judgement_of_cell_,
                      .group_of_judgement = std::move(group_of_judgement),
                      .apart = std::move(apart)});
}

int64_t Shape::FreeAfter(const NodeCells::Cell& cell) const {
  int64_t sum = 0;
  for (size_t i = 0; i < uses_.size(); ++i) {
    const Demand::Need& need = demand_.needs[i];
    if (need.units == 0) continue;  // its pod's alone: no resource of the set
    const int64_t left = SaturatingSub(uses_[i]->uses[cell.uses[i]].free(),
                                       std::max(need.units, need.pod_units));
    sum = SaturatingAdd(sum, std::max<int64_t>(0, left));
  }
  return sum;
}

}  // namespace gpubinder
