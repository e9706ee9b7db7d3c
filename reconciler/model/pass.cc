#include "reconciler/model/pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "proto/utf8.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/quiet.h"
#include "reconciler/model/sha256.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

v1::Explanation Explain(const ClaimSet& set, const Verdict& verdict,
                        const Snapshot& snapshot) {
  v1::Explanation explanation;
  explanation.set_key(set.key());
  explanation.set_namespace_(set.name_space);
  explanation.set_name(set.name);
  if (set.vmi.has_value()) {
    explanation.set_vmi_uid(snapshot.vmis()[*set.vmi].meta.uid);
  }
  if (set.launcher.pod.has_value()) {
    explanation.set_pod_uid(snapshot.pods()[*set.launcher.pod].meta.uid);
  }
  explanation.set_reason(verdict.reason);
  explanation.set_message(MessageOf(verdict));
  explanation.set_node(verdict.node);
  FillGroups(verdict, explanation);
  return explanation;
}

// Whether the verdict is to be recorded: it differs from the last one. A set
// that has settled keeps the nodes it was judged on until it is judged again.
bool IsNews(const v1::Explanation& explanation, const Snapshot& snapshot) {
  auto last = snapshot.explanations.find(explanation.key());
  if (last == snapshot.explanations.end()) return true;
  const v1::Explanation& before = last->second;
  if (explanation.groups().empty() && explanation.set_reasons().empty() &&
      explanation.reason() == before.reason() &&
      explanation.node() == before.node() &&
      explanation.vmi_uid() == before.vmi_uid() &&
      explanation.pod_uid() == before.pod_uid()) {
    return false;
  }
  return before.SerializeAsString() != explanation.SerializeAsString();
}

SetView ViewOf(const IndexedSet& entry) {
  return {.set = entry.set, .verdict = entry.verdict, .frozen = entry.frozen};
}

// The verdicts of the pass to the index, what is new of them to the result.
void CollectExplanations(const Plan& plan, PassResult& result,
                         Snapshot& snapshot) {
  for (size_t i = 0; i < plan.size(); ++i) {
    IndexedSet& entry = snapshot.index.sets[plan.slot(i)];
    entry.frozen = plan.state(i).frozen;
    entry.verdict = {};
    const std::optional<Verdict> verdict =
        entry.frozen ? std::nullopt : FinalVerdict(i, plan);
    Said said = Said::kNothingNew;
    if (verdict.has_value()) {
      v1::Explanation explanation = Explain(plan.set(i), *verdict, snapshot);
      if (IsNews(explanation, snapshot)) {
        result.explanations.push_back(std::move(explanation));
        said = Said::kNews;
      }
      entry.verdict = *verdict;
    } else if (plan.state(i).verdict.has_value()) {
      entry.verdict.judged = plan.state(i).verdict->judged;
    }
    NoteQuiet(i, said, plan, snapshot);
    result.sets.push_back(ViewOf(entry));
  }
}

// Sets that are explained and that there are no more.
void CollectGone(PassResult& result, Snapshot& snapshot) {
  PassIndex& index = snapshot.index;
  for (const std::string& name_space : index.renewed) {
    absl::btree_set<std::string> keys;
    auto found = index.namespaces.find(name_space);
    if (found != index.namespaces.end()) {
      for (const Slot slot : found->second.sets) {
        keys.insert(index.sets[slot].set.key());
      }
    }
    const std::string prefix = name_space + "/";
    auto known = snapshot.explanations.lower_bound(prefix);
    for (; known != snapshot.explanations.end() &&
           absl::StartsWith(known->first, prefix);
         ++known) {
      if (!keys.contains(known->first))
        result.gone_sets.push_back(known->first);
    }
  }
  std::sort(result.gone_sets.begin(), result.gone_sets.end());
  index.renewed.clear();
}

void KeepRestless(const Plan& plan, Snapshot& snapshot) {
  for (size_t i = 0; i < plan.size(); ++i) {
    IndexedSet& entry = snapshot.index.sets[plan.slot(i)];
    if (HasSettled(entry, snapshot)) continue;
    entry.restless = true;
    snapshot.index.restless.push_back(plan.slot(i));
  }
}

void RunSteps(Plan& plan) {
  const bool enabled = plan.config().enabled;
  ProtectClasses(plan);
  ProtectClaims(plan);
  if (enabled) {
    JudgeMassLoss(plan);
    FollowMigrations(plan);
    RepairSets(plan);  // from here on every step changes whole sets only
    SettleRefusals(plan);
  }
  SettleAttachments(plan);
  if (enabled) {
    StartGatedPods(plan);  // a VM that waits comes before one that might move
    MoveUnkeptSets(plan);
    RebindLostSets(plan);
    PlaceNewOrders(plan);
  }
  // With the feature off too: deletions never hang, and what is used is told.
  RetireObjects(plan);
  KeepUsageRecords(plan);
  KeepSettings(plan);
  ReportVerdicts(plan);
  ReportClasses(plan);
}

}  // namespace

PassResult RunPass(Snapshot& snapshot, absl::Time now) {
  RefreshIndex(snapshot);
  Plan plan(snapshot, TakeRestless(snapshot), now);
  RunSteps(plan);
  PassResult result;
  CollectExplanations(plan, result, snapshot);
  CollectGone(result, snapshot);
  KeepRestless(plan, snapshot);
  EndPass(snapshot.index.judge);
  snapshot.index.classes_settled = plan.classes_settled();
  result.effects = std::move(plan.effects());
  result.next_timer = plan.next_timer();
  result.unkept_nodes = plan.unkept_nodes();
  result.mass_loss = plan.mass_loss();
  result.undone = plan.undone();
  return result;
}

std::vector<SetView> ViewsOf(const Snapshot& snapshot) {
  std::vector<SetView> views;
  for (const Slot slot : SlotsInOrder(snapshot.index)) {
    views.push_back(ViewOf(snapshot.index.sets[slot]));
  }
  return views;
}

v1::Decision ToRecord(const PassResult& result, uint64_t pass) {
  v1::Decision decision;
  decision.set_pass(pass);
  for (const v1::Effect& effect : result.effects) {
    *decision.add_effects() = effect;
  }
  std::string text;
  for (const v1::Explanation& explanation : result.explanations) {
    *decision.add_explanations() = explanation;
    text += explanation.SerializeAsString();
  }
  const auto digest = Sha256(text);
  decision.set_explanations_digest(std::string(digest.begin(), digest.end()));
  if (result.next_timer != absl::InfiniteFuture()) {
    decision.set_next_timer_unix_nanos(absl::ToUnixNanos(result.next_timer));
  }
  for (const std::string& gone : result.gone_sets) {
    decision.add_gone_sets(gone);
  }
  for (const std::string& node : result.unkept_nodes) {
    decision.add_unkept_nodes(node);
  }
  decision.set_mass_loss(result.mass_loss);
  if (result.undone.records > 0) {
    v1::UndoneUsageRecords& undone = *decision.mutable_undone_usage_records();
    undone.set_records(result.undone.records);
    undone.set_example(result.undone.example);
  }
  RepairText(decision);
  return decision;
}

}  // namespace gpubinder
