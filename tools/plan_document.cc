#include "tools/plan_document.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/budget.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/reason.h"
#include "tools/effect_row.h"
#include "tools/json_yaml.h"
#include "tools/malformed.h"
#include "tools/reason_row.h"
#include "tools/yaml_scalar.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(absl::string_view text) {
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

// The epoch stands where there is no time, or none that can be read.
Json TimeOrNull(absl::Time time) {
  if (time == absl::UnixEpoch()) return nullptr;
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", time, absl::UTCTimeZone());
}

Json ReasonRows(const NodeGroup& group) {
  Json reasons = Json::array();
  for (const v1::ReasonDetail& detail : *group.reasons) {
    reasons.push_back(ReasonRow(detail));
  }
  return reasons;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsMisconfigured(v1::Reason reason) {
  return reason >= v1::INVALID_CLAIMS && reason <= v1::MALFORMED_OBJECT;
}

constexpr struct {
  PlanSection section;
  const char* name;
} kSections[] = {
    {PlanSection::kClaims, "claims"},   {PlanSection::kSets, "sets"},
    {PlanSection::kNodes, "nodes"},     {PlanSection::kBudgets, "budgets"},
    {PlanSection::kEffects, "effects"}, {PlanSection::kMalformed, "malformed"}};

}  // namespace

class PlanDocument::Rows {
 public:
  using Visit = absl::FunctionRef<void(const Json&)>;

  explicit Rows(const PlanRun& run)
      : run_(run),
        snapshot_(run.snapshot),
        books_(run.snapshot),
        budgets_(run.snapshot) {
    for (const Slot slot : SlotsInOrder(snapshot_.index)) {
      sets_.push_back(&snapshot_.index.sets[slot].set);
    }
  }

  Json Head() const {
    return {{"apiVersion", "gpubinder/v1"},
            {"kind", "Plan"},
            {"passes", run_.passes},
            {"settled", run_.settled}};
  }

  void ForEach(PlanSection section, Visit visit) const {
    switch (section) {
      case PlanSection::kClaims:
        return Claims(visit);
      case PlanSection::kSets:
        return ForEachSet([&](const ClaimSet& set) { visit(SetRow(set)); });
      case PlanSection::kNodes:
        return Nodes(visit);
      case PlanSection::kBudgets:
        return BudgetRows(visit);
      case PlanSection::kEffects:
        return Effects(visit);
      case PlanSection::kMalformed:
        return Malformed(visit);
    }
  }

  void ForEachSet(absl::FunctionRef<void(const ClaimSet&)> visit) const {
    std::vector<const ClaimSet*> sets = sets_;
    std::sort(sets.begin(), sets.end(), [](const auto* a, const auto* b) {
      return std::tie(a->name_space, a->name, b->of_vm) <
             std::tie(b->name_space, b->name, a->of_vm);
    });
    for (const ClaimSet* set : sets) visit(*set);
  }

  // The nodes as they were judged for the set; none when it is misconfigured.
  JudgedNodes Judged(const ClaimSet& set) const {
    auto judged = run_.judged.find(set.key());
    if (judged == run_.judged.end() || IsMisconfigured(Verdict(set).reason)) {
      return {};
    }
    return judged->second;
  }

  bool AnyWaits() const {
    return std::any_of(sets_.begin(), sets_.end(), [&](const ClaimSet* set) {
      return set->waits_at_gate() || !set->missing.empty() ||
             std::any_of(
                 set->members.begin(), set->members.end(), [&](Row row) {
                   return snapshot_.claim_columns.phase[row] != Phase::kBound;
                 });
    });
  }

 private:
  void Claims(Visit visit) const {
    for (const auto& [key, row] : snapshot_.claims().by_name()) {
      visit(ClaimRow(row));
    }
  }

  Json ClaimRow(Row row) const {
    const GpuClaim& claim = snapshot_.claims()[row];
    const Condition* bound = nullptr;
    for (const Condition& condition : claim.conditions) {
      if (condition.type == "Bound") bound = &condition;
    }
    Json rejected = Json::array();
    for (const RejectedNode& entry : claim.rejected_nodes) {
      rejected.push_back({{"nodeName", TextOrNull(entry.node_name)},
                          {"until", TimeOrNull(entry.until)}});
    }
    // Else a default would pass for the claim's own word.
    const auto readable = [&](absl::string_view field, Json value) {
      return IsUnreadable(claim.meta, field) ? Json(nullptr) : value;
    };
    return {{"namespace", claim.meta.name_space},
            {"name", claim.meta.name},
            {"className", TextOrNull(claim.class_name)},
            {"count", readable("spec.count", claim.units)},
            {"phase", readable("status.phase",
                               claim.phase.empty() ? "Pending" : claim.phase)},
            {"nodeName", TextOrNull(claim.node_name)},
            {"reason", TextOrNull(bound == nullptr ? "" : bound->reason)},
            {"message", TextOrNull(bound == nullptr ? "" : bound->message)},
            {"vmi", TextOrNull(VmiOf(row))},
            {"rejectedNodes", std::move(rejected)}};
  }

  // The name of the VMI the claim is for; empty: none.
  std::string VmiOf(Row row) const {
    const ClaimSet* set = snapshot_.index.SetOf(row);
    if (set != nullptr && set->vmi.has_value()) {
      return snapshot_.vmis()[*set->vmi].meta.name;
    }
    const GpuClaim& claim = snapshot_.claims()[row];
    if (claim.attached_to.has_value()) return claim.attached_to->name;
    const std::string* owner = TemplateOwner(claim);
    if (owner == nullptr) return "";
    const std::optional<Row> vmi = snapshot_.vmis().FindUid(*owner);
    return vmi.has_value() ? snapshot_.vmis()[*vmi].meta.name : "";
  }

  PlannedVerdict Verdict(const ClaimSet& set) const {
    auto verdict = run_.verdicts.find(set.key());
    return verdict == run_.verdicts.end() ? PlannedVerdict() : verdict->second;
  }

 public:
  Json SetRow(const ClaimSet& set) const {
    const PlannedVerdict verdict = Verdict(set);
    Json members = Json::array();
    for (const Row row : MembersOf(set)) {
      members.push_back(snapshot_.claims()[row].meta.name);
    }
    return {{"namespace", set.name_space},
            {"name", set.name},
            {"vmi", TextOrNull(set.vmi.has_value()
                                   ? absl::string_view(
                                         snapshot_.vmis()[*set.vmi].meta.name)
                                   : "")},
            {"launcher",
             TextOrNull(set.launcher.pod.has_value()
                            ? absl::string_view(
                                  snapshot_.pods()[*set.launcher.pod].meta.name)
                            : "")},
            {"pinned", set.launcher.state == LauncherState::kPinned},
            {"nodeName", TextOrNull(NodeOf(set))},
            {"reason", TextOrNull(ReasonName(verdict.reason))},
            {"message", TextOrNull(verdict.message)},
            {"members", std::move(members)}};
  }

  Json SetNodes(const ClaimSet& set) const {
    const JudgedNodes judged = Judged(set);
    Json nodes = Json::array();
    judged.ForEachNode([&](const std::string& name, size_t index) {
      const NodeGroup& group = judged.groups()[index];
      nodes.push_back({{"name", name},
                       {"fits", group.reasons->empty()},
                       {"reasons", ReasonRows(group)}});
    });
    return nodes;
  }

  // The row with its nodes. Nodes of a group share the text of their reasons:
  // there may be millions.
  std::string SetText(const ClaimSet& set) const {
    const JudgedNodes judged = Judged(set);
    std::vector<std::string> tails;
    for (const NodeGroup& group : judged.groups()) {
      tails.push_back(
          absl::StrCat(",\"fits\":", group.reasons->empty() ? "true" : "false",
                       ",\"reasons\":", Dump(ReasonRows(group)), "}"));
    }
    std::string text = Dump(SetRow(set));
    text.pop_back();
    text += ",\"nodes\":[";
    const char* before = "{\"name\":";
    judged.ForEachNode([&](const std::string& name, size_t group) {
      absl::StrAppend(&text, before, JsonQuoted(name), tails[group]);
      before = ",{\"name\":";
    });
    return text + "]}";
  }

 private:
  // A claim that is being deleted leaves its VM's set, but not its own row.
  static const std::vector<Row>& MembersOf(const ClaimSet& set) {
    return set.of_vm || !set.members.empty() ? set.members : set.leaving;
  }

  // Where the whole set stands; empty: nowhere, or on several nodes.
  std::string NodeOf(const ClaimSet& set) const {
    std::string node;
    for (const Row row : MembersOf(set)) {
      const std::string& own =
          snapshot_.names.Text(snapshot_.claim_columns.node[row]);
      if (own.empty() || (!node.empty() && node != own)) return "";
      node = own;
    }
    return node;
  }

  void Nodes(Visit visit) const {
    const std::vector<std::string> names = GovernedResources(snapshot_);
    const std::set<std::string> governed(names.begin(), names.end());
    for (const auto& [key, row] : snapshot_.nodes().by_name()) {
      std::map<std::string, NodeUse> uses;
      for (const auto& [resource, use] :
           books_.UsesOf(snapshot_.node_columns.name[row])) {
        const std::string& name = snapshot_.names.Text(resource);
        if (!name.empty() && (use.booked > 0 || governed.contains(name))) {
          uses[name] = use;
        }
      }
      Json resources = Json::array();
      for (const auto& [name, use] : uses) {
        resources.push_back({{"name", name},
                             {"allocatable", use.allocatable},
                             {"booked", use.booked},
                             {"raw", use.raw},
                             {"free", use.free()}});
      }
      visit({{"name", snapshot_.nodes()[row].meta.name},
             {"resources", std::move(resources)}});
    }
  }

  void BudgetRows(Visit visit) const {
    for (const Budget& budget : budgets_.All()) {
      visit({{"tenant", budget.tenant},
             {"key", budget.key},
             {"limit", budget.limit},
             {"carvedOut", budget.carved_out},
             {"used", budget.used}});
    }
  }

  void Effects(Visit visit) const {
    for (const PlannedEffect& planned : run_.effects) {
      Json row = {{"pass", planned.pass}};
      row.update(EffectRow(planned.effect));
      visit(row);
    }
  }

  void Malformed(Visit visit) const {
    for (const MalformedField& field :
         MalformedFields(snapshot_, snapshot_.index.quota_problems)) {
      visit({{"kind", field.kind},
             {"namespace", TextOrNull(field.name_space)},
             {"name", field.name},
             {"field", field.field},
             {"message", field.message}});
    }
  }

  const PlanRun& run_;
  const Snapshot& snapshot_;
  std::vector<const ClaimSet*> sets_;  // in the order of the pass
  const Books books_;
  const Budgets budgets_;
};

PlanDocument::PlanDocument(const PlanRun& run)
    : rows_(std::make_unique<Rows>(run)) {}
PlanDocument::~PlanDocument() = default;

void PlanDocument::ForEachRow(
    PlanSection section, absl::FunctionRef<void(const Json&)> visit) const {
  rows_->ForEach(section, visit);
}

bool PlanDocument::AnySetWaits() const { return rows_->AnyWaits(); }

// One row a line.
void PlanDocument::WriteJson(std::ostream& out) const {
  std::string head = Dump(rows_->Head());
  head.pop_back();
  out << head;
  for (const auto& [section, name] : kSections) {
    out << ",\n \"" << name << "\": [";
    const char* before = "\n  ";
    if (section == PlanSection::kSets) {
      rows_->ForEachSet([&](const ClaimSet& set) {
        out << before << rows_->SetText(set);
        before = ",\n  ";
      });
    } else {
      rows_->ForEach(section, [&](const Json& row) {
        out << before << Dump(row);
        before = ",\n  ";
      });
    }
    out << "]";
  }
  out << "}\n";
}

void PlanDocument::WriteYaml(std::ostream& out) const {
  out << YamlText(rows_->Head());
  for (const auto& [section, name] : kSections) {
    bool empty = true;
    const auto write = [&, named = name](const Json& row) {
      if (std::exchange(empty, false)) out << named << ":\n";
      out << YamlText(Json::array({row}));
    };
    if (section == PlanSection::kSets) {
      rows_->ForEachSet([&](const ClaimSet& set) {
        Json row = rows_->SetRow(set);
        row["nodes"] = rows_->SetNodes(set);
        write(row);
      });
    } else {
      rows_->ForEach(section, write);
    }
    if (empty) out << name << ": []\n";
  }
}

}  // namespace gpubinder
