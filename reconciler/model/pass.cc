#include "reconciler/model/pass.h"

#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "proto/utf8.h"
#include "reconciler/model/plan.h"
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

void CollectExplanations(const Plan& plan, PassResult& result) {
  absl::btree_set<std::string> keys;
  for (size_t i = 0; i < plan.sets().size(); ++i) {
    SetView view{.set = plan.set(i), .frozen = plan.state(i).frozen};
    keys.insert(view.set.key());
    const std::optional<Verdict> verdict =
        view.frozen ? std::nullopt : FinalVerdict(i, plan);
    if (verdict.has_value()) {
      v1::Explanation explanation =
          Explain(view.set, *verdict, plan.snapshot());
      if (IsNews(explanation, plan.snapshot())) {
        result.explanations.push_back(std::move(explanation));
      }
      view.verdict = *verdict;
    } else if (plan.state(i).verdict.has_value()) {
      view.verdict.groups = plan.state(i).verdict->groups;
    }
    result.sets.push_back(std::move(view));
  }
  for (const auto& [key, explanation] : plan.snapshot().explanations) {
    if (!keys.contains(key)) result.gone_sets.push_back(key);
  }
}

}  // namespace

PassResult RunPass(const Snapshot& snapshot, absl::Time now) {
  Plan plan(snapshot, now);
  const bool enabled = snapshot.config.enabled;
  ProtectClasses(plan);
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
  PassResult result;
  CollectExplanations(plan, result);
  result.effects = std::move(plan.effects());
  result.next_timer = plan.next_timer();
  result.unkept_nodes = plan.unkept_nodes();
  result.mass_loss = plan.mass_loss();
  result.undone = plan.undone();
  return result;
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
