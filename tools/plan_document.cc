#include "tools/plan_document.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "k8s/effect_codec.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/budget.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/reason.h"
#include "tools/malformed.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(absl::string_view text) {
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

Json Time(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", time, absl::UTCTimeZone());
}

Json ReasonRow(const v1::ReasonDetail& detail) {
  Json row = {{"reason", std::string(ReasonName(detail.reason()))}};
  const auto add = [&row](const char* name, const std::string& text) {
    if (!text.empty()) row[name] = text;
  };
  add("resource", detail.resource());
  add("taint", detail.taint());
  add("class", detail.class_name());
  add("claim", detail.claim());
  add("volume", detail.volume());
  add("object", detail.object());
  add("field", detail.field());
  add("text", detail.text());
  switch (detail.reason()) {
    case v1::INSUFFICIENT_UNITS:
      row["wanted"] = detail.wanted();
      row["free"] = detail.free();
      row["allocatable"] = detail.allocatable();
      row["booked"] = detail.booked();
      row["raw"] = detail.raw();
      break;
    case v1::RESOURCE_NOT_SERVED:
    case v1::MALFORMED_QUANTITY:
      row["wanted"] = detail.wanted();
      break;
    case v1::REJECTED_BY_NODE:
      row["until"] = Time(absl::FromUnixSeconds(detail.until_unix_seconds()));
      break;
    default:
      break;
  }
  return row;
}

// Every node with its verdict, by name.
Json JudgedNodes(const std::vector<NodeGroup>& groups) {
  std::map<std::string, const NodeGroup*> by_name;
  for (const NodeGroup& group : groups) {
    for (const std::string& node : group.nodes) by_name[node] = &group;
  }
  Json nodes = Json::array();
  for (const auto& [name, group] : by_name) {
    Json reasons = Json::array();
    for (const v1::ReasonDetail& detail : group->reasons) {
      reasons.push_back(ReasonRow(detail));
    }
    nodes.push_back({{"name", name},
                     {"fits", group->reasons.empty()},
                     {"reasons", std::move(reasons)}});
  }
  return nodes;
}

bool IsMisconfigured(v1::Reason reason) {
  return reason >= v1::INVALID_CLAIMS && reason <= v1::MALFORMED_OBJECT;
}

class Document {
 public:
  explicit Document(const PlanRun& run)
      : run_(run),
        snapshot_(run.snapshot),
        sets_(BuildClaimSets(run.snapshot)),
        books_(run.snapshot, sets_),
        budgets_(run.snapshot, sets_, books_) {}

  Json Build() const {
    return {{"apiVersion", "gpubinder/v1"},
            {"kind", "Plan"},
            {"passes", run_.passes},
            {"settled", run_.settled},
            {"claims", Claims()},
            {"sets", Sets()},
            {"nodes", Nodes()},
            {"budgets", BudgetRows()},
            {"effects", Effects()},
            {"malformed", Malformed()}};
  }

  bool AnyWaits() const {
    return std::any_of(
        sets_.sets.begin(), sets_.sets.end(), [&](const ClaimSet& set) {
          return set.waits_at_gate() || !set.missing.empty() ||
                 std::any_of(set.members.begin(), set.members.end(),
                             [&](Row row) {
                               return snapshot_.claim_columns.phase[row] !=
                                      Phase::kBound;
                             });
        });
  }

 private:
  Json Claims() const {
    Json rows = Json::array();
    for (const auto& [key, row] : snapshot_.claims().by_name()) {
      rows.push_back(ClaimRow(row));
    }
    return rows;
  }

  Json ClaimRow(Row row) const {
    const GpuClaim& claim = snapshot_.claims()[row];
    const Condition* bound = nullptr;
    for (const Condition& condition : claim.conditions) {
      if (condition.type == "Bound") bound = &condition;
    }
    Json rejected = Json::array();
    for (const RejectedNode& entry : claim.rejected_nodes) {
      rejected.push_back(
          {{"nodeName", entry.node_name}, {"until", Time(entry.until)}});
    }
    return {{"namespace", claim.meta.name_space},
            {"name", claim.meta.name},
            {"className", TextOrNull(claim.class_name)},
            {"count", claim.units},
            {"phase", claim.phase.empty() ? "Pending" : claim.phase},
            {"nodeName", TextOrNull(claim.node_name)},
            {"reason", TextOrNull(bound == nullptr ? "" : bound->reason)},
            {"message", TextOrNull(bound == nullptr ? "" : bound->message)},
            {"vmi", TextOrNull(VmiOf(row))},
            {"rejectedNodes", std::move(rejected)}};
  }

  // The name of the VMI the claim is for; empty: none.
  std::string VmiOf(Row row) const {
    const uint32_t set = sets_.set_of_claim[row];
    if (set != kNoSet && sets_.sets[set].vmi.has_value()) {
      return snapshot_.vmis()[*sets_.sets[set].vmi].meta.name;
    }
    const GpuClaim& claim = snapshot_.claims()[row];
    if (claim.attached_to.has_value()) return claim.attached_to->name;
    const std::string* owner = TemplateOwner(claim);
    if (owner == nullptr) return "";
    const std::optional<Row> vmi = snapshot_.vmis().FindUid(*owner);
    return vmi.has_value() ? snapshot_.vmis()[*vmi].meta.name : "";
  }

  Json Sets() const {
    std::vector<const ClaimSet*> sets;
    for (const ClaimSet& set : sets_.sets) sets.push_back(&set);
    std::sort(sets.begin(), sets.end(), [](const auto* a, const auto* b) {
      return std::tie(a->name_space, a->name, b->of_vm) <
             std::tie(b->name_space, b->name, a->of_vm);
    });
    Json rows = Json::array();
    for (const ClaimSet* set : sets) rows.push_back(SetRow(*set));
    return rows;
  }

  Json SetRow(const ClaimSet& set) const {
    const std::string key = set.key();
    auto verdict = run_.verdicts.find(key);
    auto judged = run_.judged.find(key);
    const bool has = verdict != run_.verdicts.end();
    const v1::Reason reason =
        has ? verdict->second.reason : v1::REASON_UNSPECIFIED;
    Json members = Json::array();
    for (const Row row : set.members) {
      members.push_back(snapshot_.claims()[row].meta.name);
    }
    const bool looked = judged != run_.judged.end() && !IsMisconfigured(reason);
    return {{"namespace", set.name_space},
            {"name", set.name},
            {"vmi", TextOrNull(set.vmi.has_value()
                                   ? snapshot_.vmis()[*set.vmi].meta.name
                                   : "")},
            {"launcher",
             TextOrNull(set.launcher.pod.has_value()
                            ? snapshot_.pods()[*set.launcher.pod].meta.name
                            : "")},
            {"pinned", set.launcher.state == LauncherState::kPinned},
            {"nodeName", TextOrNull(NodeOf(set))},
            {"reason", TextOrNull(ReasonName(reason))},
            {"message", TextOrNull(has ? MessageOf(verdict->second) : "")},
            {"members", std::move(members)},
            {"nodes", looked ? JudgedNodes(judged->second) : Json::array()}};
  }

  // Where the whole set stands; empty: nowhere, or on several nodes.
  std::string NodeOf(const ClaimSet& set) const {
    std::string node;
    for (const Row row : set.members) {
      const std::string& own =
          snapshot_.names.Text(snapshot_.claim_columns.node[row]);
      if (own.empty() || (!node.empty() && node != own)) return "";
      node = own;
    }
    return node;
  }

  Json Nodes() const {
    const std::vector<std::string> names = GovernedResources(snapshot_);
    const std::set<std::string> governed(names.begin(), names.end());
    Json rows = Json::array();
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
      rows.push_back({{"name", snapshot_.nodes()[row].meta.name},
                      {"resources", std::move(resources)}});
    }
    return rows;
  }

  Json BudgetRows() const {
    Json rows = Json::array();
    for (const Budget& budget : budgets_.All()) {
      rows.push_back({{"tenant", budget.tenant},
                      {"key", budget.key},
                      {"limit", budget.limit},
                      {"carvedOut", budget.carved_out},
                      {"used", budget.used}});
    }
    return rows;
  }

  Json Effects() const {
    Json rows = Json::array();
    for (const PlannedEffect& planned : run_.effects) {
      const v1::Target& target = planned.effect.target();
      rows.push_back(
          {{"pass", planned.pass},
           {"kind", std::string(EffectKindName(planned.effect))},
           {"target",
            {{"kind", target.kind()},
             {"namespace", TextOrNull(target.namespace_())},
             {"name", target.name()},
             {"uid", TextOrNull(target.uid())}}},
           {"fields", Json::parse(EffectFieldsJson(planned.effect))}});
    }
    return rows;
  }

  Json Malformed() const {
    Json rows = Json::array();
    for (const MalformedField& field :
         MalformedFields(snapshot_, budgets_.problems())) {
      rows.push_back({{"kind", field.kind},
                      {"namespace", TextOrNull(field.name_space)},
                      {"name", field.name},
                      {"field", field.field},
                      {"message", field.message}});
    }
    return rows;
  }

  const PlanRun& run_;
  const Snapshot& snapshot_;
  const ClaimSets sets_;
  const Books books_;
  const Budgets budgets_;
};

}  // namespace

Json PlanDocument(const PlanRun& run) { return Document(run).Build(); }

bool AnySetWaits(const PlanRun& run) { return Document(run).AnyWaits(); }

}  // namespace gpubinder
