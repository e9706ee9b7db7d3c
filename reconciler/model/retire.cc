#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_set.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

bool Has(const ObjectMeta& meta, const char* finalizer) {
  return std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) !=
         meta.finalizers.end();
}

absl::btree_set<std::string> ClassesInUse(const Plan& plan) {
  absl::btree_set<std::string> names;
  const Snapshot& snapshot = plan.snapshot();
  for (const auto& [name, claims] : snapshot.class_claims) {
    names.insert(snapshot.names.Text(name));
  }
  return names;
}

v1::Effect WithoutFinalizer(Kind kind, const ObjectMeta& meta,
                            const char* finalizer) {
  v1::Effect effect = EffectOn(kind, meta);
  v1::RemoveFinalizer& write = *effect.mutable_remove_finalizer();
  write.set_finalizer(finalizer);
  write.set_index(static_cast<int32_t>(
      std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) -
      meta.finalizers.begin()));
  return effect;
}

v1::Effect WithFinalizer(Kind kind, const ObjectMeta& meta,
                         const char* finalizer) {
  v1::Effect effect = EffectOn(kind, meta);
  effect.mutable_add_finalizer()->set_finalizer(finalizer);
  effect.mutable_add_finalizer()->set_list_absent(meta.finalizers.empty());
  return effect;
}

void AddFor(std::optional<size_t> set, v1::Effect effect, Plan& plan) {
  if (set.has_value()) {
    plan.Add(*set, std::move(effect));
  } else {
    plan.AddAlone(std::move(effect));
  }
}

bool IsHeldByPinned(std::optional<size_t> set, const Plan& plan) {
  return set.has_value() &&
         plan.set(*set).launcher.state == LauncherState::kPinned;
}

// Whether the template claim's VMI has ended and all its pods have: then the
// claim has done its work, even while the failed VMI stays.
bool HasDoneItsWork(const GpuClaim& claim, const Snapshot& snapshot) {
  const std::string* owner = TemplateOwner(claim);
  if (owner == nullptr) return false;
  const std::optional<Row> row = snapshot.vmis().FindUid(*owner);
  if (!row.has_value()) return false;  // the garbage collector's
  const VirtualMachineInstance& vmi = snapshot.vmis()[*row];
  if (!HasEnded(vmi)) return false;
  for (const auto& [uid, node] : vmi.active_pods) {
    const std::optional<Row> pod = snapshot.pods().FindUid(uid);
    if (pod.has_value() && !HasEnded(snapshot.pods()[*pod])) return false;
  }
  return true;
}

void RetireClaim(Row row, Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  const std::optional<size_t> set = plan.SetOf(row);
  if (set.has_value() && plan.state(*set).frozen) return;
  const bool deleting = claim.meta.deleting.has_value();
  const bool enabled = plan.config().enabled;
  const bool has = Has(claim.meta, kClaimFinalizer);
  if (!deleting && HasDoneItsWork(claim, plan.snapshot())) {
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    effect.mutable_delete_template_claim();
    AddFor(set, std::move(effect), plan);
  } else if (has && (!enabled || (deleting && !IsHeldByPinned(set, plan)))) {
    AddFor(set, WithoutFinalizer(Kind::kGpuClaim, claim.meta, kClaimFinalizer),
           plan);
  }
}

}  // namespace

void ProtectClasses(Plan& plan) {
  if (!plan.config().enabled) return;
  const absl::btree_set<std::string> in_use = ClassesInUse(plan);
  for (const auto& [key, row] : plan.snapshot().classes().by_name()) {
    const ObjectMeta& meta = plan.snapshot().classes()[row].meta;
    if (!in_use.contains(meta.name) || meta.deleting.has_value() ||
        Has(meta, kClassFinalizer) || plan.IsWritten(meta.uid)) {
      continue;
    }
    plan.AddAlone(WithFinalizer(Kind::kGpuClass, meta, kClassFinalizer));
  }
}

void ProtectClaims(Plan& plan) {
  if (!plan.config().enabled && !Planted(Bug::kFinalizerWhileOff)) return;
  for (const Row row : plan.claims()) {
    const ObjectMeta& meta = plan.claim(row).meta;
    const std::optional<size_t> set = plan.SetOf(row);
    if (meta.deleting.has_value() || Has(meta, kClaimFinalizer) ||
        plan.IsWritten(meta.uid) ||
        (set.has_value() && plan.state(*set).frozen) ||
        HasDoneItsWork(plan.claim(row), plan.snapshot())) {
      continue;
    }
    AddFor(set, WithFinalizer(Kind::kGpuClaim, meta, kClaimFinalizer), plan);
  }
}

void RetireObjects(Plan& plan) {
  for (const Row row : plan.claims()) {
    if (!plan.IsWritten(plan.claim(row).meta.uid)) RetireClaim(row, plan);
  }
  absl::btree_set<std::string> in_use = ClassesInUse(plan);
  // A claim that this pass makes is about to refer to its class.
  for (const v1::Effect& effect : plan.effects()) {
    if (effect.has_create_template_claim()) {
      in_use.insert(effect.create_template_claim().class_name());
    }
  }
  for (const auto& [key, row] : plan.snapshot().classes().by_name()) {
    const ObjectMeta& meta = plan.snapshot().classes()[row].meta;
    const bool wanted = plan.config().enabled && in_use.contains(meta.name);
    if (wanted || !Has(meta, kClassFinalizer) || plan.IsWritten(meta.uid)) {
      continue;
    }
    plan.AddAlone(WithoutFinalizer(Kind::kGpuClass, meta, kClassFinalizer));
  }
}

}  // namespace gpubinder
