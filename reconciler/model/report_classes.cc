#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

bool HasServingNode(const GpuClass& found, const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  for (Row row = 0; row < snapshot.nodes().end(); ++row) {
    if (snapshot.nodes().Holds(row) &&
        ServesClass(row, found, snapshot, plan.books())) {
      return true;
    }
  }
  return false;
}

Condition ReadyOf(const GpuClass& found, const Plan& plan) {
  Condition ready{.type = "Ready",
                  .observed_generation = found.meta.generation,
                  .last_transition = plan.now()};
  if (HasServingNode(found, plan)) {
    ready.status = "True";
    ready.reason = std::string(ReasonName(v1::SERVING));
    ready.message = ready.reason;
  } else {
    ready.status = "False";
    ready.reason = std::string(ReasonName(v1::NO_SERVING_NODE));
    ready.message = absl::StrCat(ready.reason, ": no node offers ",
                                 found.resource_name, " to this class");
  }
  return ready;
}

// What is written anew: another meaning, or another spec that was judged.
bool IsNews(const Condition& there, const Condition& ready) {
  return there.status != ready.status || there.reason != ready.reason ||
         there.observed_generation != ready.observed_generation ||
         !MeanTheSame(there.message, ready.message);
}

// Whether there is nothing to write.
bool IsReported(const GpuClass& found, Plan& plan) {
  Condition ready = ReadyOf(found, plan);
  std::vector<Condition> conditions = found.conditions;
  auto there = std::find_if(
      conditions.begin(), conditions.end(),
      [](const Condition& condition) { return condition.type == "Ready"; });
  if (there != conditions.end()) {
    if (!IsNews(*there, ready)) return true;
    if (there->status == ready.status) {
      ready.last_transition = there->last_transition;
    }
    *there = ready;
  } else {
    conditions.push_back(ready);
  }
  v1::Effect effect = EffectOn(Kind::kGpuClass, found.meta);
  v1::SetCondition& write = *effect.mutable_set_condition();
  write.set_type(ready.type);
  write.set_status(ready.status);
  write.set_reason(ready.status == "True" ? v1::SERVING : v1::NO_SERVING_NODE);
  write.set_message(ready.message);
  write.set_transition_unix_seconds(absl::ToUnixSeconds(ready.last_transition));
  FillConditions(conditions, write);
  plan.AddAlone(std::move(effect));
  return false;
}

}  // namespace

void ReportClasses(Plan& plan) {
  if (plan.snapshot().index.classes_settled) return;
  // One write of a pass for each class, or one of them meets a conflict: the
  // finalizer first.
  absl::btree_set<std::string> written;
  for (const v1::Effect& effect : plan.effects()) {
    written.insert(effect.target().uid());
  }
  bool settled = true;
  for (const auto& [key, row] : plan.snapshot().classes().by_name()) {
    const GpuClass& found = plan.snapshot().classes()[row];
    if (found.meta.deleting.has_value() || !found.meta.problems.empty()) {
      continue;
    }
    settled = !plan.IsWritten(found.meta.uid) &&
              !written.contains(found.meta.uid) && IsReported(found, plan) &&
              settled;
  }
  plan.SetClassesSettled(settled);
}

}  // namespace gpubinder
