#include "reconciler/model/pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/match.h"
#include "proto/utf8.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/quiet.h"
#include "reconciler/model/sha256.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

v1::Explanation Explain(const ClaimSet& set, const Saying& saying,
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
  explanation.set_reason(saying.verdict.reason);
  explanation.set_message(saying.message);
  explanation.set_node(saying.verdict.node);
  FillGroups(saying.verdict, explanation);
  return explanation;
}

// Whether the record is about the VMI and the pod that the set has now.
bool IsAbout(const ClaimSet& set, const v1::Explanation& recorded,
             const Snapshot& snapshot) {
  const bool same_vmi =
      set.vmi.has_value()
          ? recorded.vmi_uid() == snapshot.vmis()[*set.vmi].meta.uid
          : recorded.vmi_uid().empty();
  const bool same_pod =
      set.launcher.pod.has_value()
          ? recorded.pod_uid() == snapshot.pods()[*set.launcher.pod].meta.uid
          : recorded.pod_uid().empty();
  return same_vmi && same_pod;
}

// Whether the verdict is to be recorded: Explain would differ from the last
// record. A set that has settled keeps the nodes it was judged on until it is
// judged again.
bool IsNews(const ClaimSet& set, const Saying& saying, Snapshot& snapshot) {
  const Verdict& verdict = saying.verdict;
  auto last = snapshot.explanations.find(set.key());
  if (last == snapshot.explanations.end()) return true;
  const v1::Explanation& before = last->second;
  if (verdict.reason != before.reason() || verdict.node != before.node() ||
      !IsAbout(set, before, snapshot)) {
    return true;
  }
  if (verdict.judged.empty() && verdict.details.empty()) return false;
  if (saying.message != before.message() || !HasReasons(before, verdict)) {
    return true;
  }
  absl::btree_map<std::string, JudgedNodes>& told = snapshot.index.told;
  auto known = told.find(last->first);
  if (known != told.end() && known->second.IsSameAs(verdict.judged)) {
    return false;
  }
  if (!HasGroups(before, verdict.judged)) return true;
  if (!verdict.judged.empty()) told[last->first] = verdict.judged;
  return false;
}

// The verdicts of the pass to the index, what is new of them to the result.
void CollectExplanations(const Plan& plan, PassResult& result,
                         Snapshot& snapshot) {
  for (size_t i = 0; i < plan.size(); ++i) {
    IndexedSet& entry = snapshot.index.sets[plan.slot(i)];
    entry.frozen = plan.state(i).frozen;
    entry.verdict = {};
    const std::optional<Saying>& saying = plan.state(i).saying;
    Said said = Said::kNothingNew;
    if (saying.has_value()) {
      if (IsNews(plan.set(i), *saying, snapshot)) {
        result.explanations.push_back(Explain(plan.set(i), *saying, snapshot));
        said = Said::kNews;
      }
      entry.verdict = saying->verdict;
    } else if (plan.state(i).verdict.has_value()) {
      entry.verdict.judged = plan.state(i).verdict->judged;
    }
    NoteQuiet(i, said, plan, snapshot);
    result.touched_namespaces.insert(entry.set.name_space);
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
  result.touched_namespaces.insert(index.renewed.begin(), index.renewed.end());
  index.renewed.clear();
  result.touched_nodes = std::exchange(index.recounted, {});
}

void KeepRestless(const Plan& plan, Snapshot& snapshot) {
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!HasSettled(plan.slot(i), snapshot)) {
      LookAt(plan.slot(i), snapshot.index);
    }
  }
}

void RunSteps(Plan& plan) {
  const bool enabled = plan.config().enabled;
  ProtectClasses(plan);
  ProtectClaims(plan);
  if (enabled) {
    JudgeMassLoss(plan);
    FollowMigrations(plan);
    if (!Planted(Bug::kRepairLast)) RepairSets(plan);
    // From here on every step changes whole sets only.
    SettleRefusals(plan);
  }
  SettleAttachments(plan);
  if (enabled) {
    StartGatedPods(plan);  // a VM that waits comes before one that might move
    MoveUnkeptSets(plan);
    RebindLostSets(plan);
    PlaceNewOrders(plan);
    if (Planted(Bug::kRepairLast)) RepairSets(plan);
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
  if (Planted(Bug::kWallClock)) now = PlantedTime(now);
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
    const IndexedSet& entry = snapshot.index.sets[slot];
    views.push_back(
        {.set = entry.set, .verdict = entry.verdict, .frozen = entry.frozen});
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
  for (const auto& [name, classes] : result.unkept_nodes) {
    v1::UnkeptNode& node = *decision.add_unkept_nodes();
    node.set_name(name);
    *node.mutable_classes() = {classes.begin(), classes.end()};
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
