#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "reconciler/model/capacity.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/names.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {
namespace {

bool IsOwnedBy(const Workload& record, const GpuClaim& claim) {
  const auto& owners = record.meta.owners;
  return std::any_of(
      owners.begin(), owners.end(),
      [&](const OwnerReference& owner) { return owner.uid == claim.meta.uid; });
}

// Whether it is the record of a claim of that name, be it an earlier one.
bool IsOfClaim(const Workload& record, const GpuClaim& claim) {
  const auto& owners = record.meta.owners;
  return std::any_of(owners.begin(), owners.end(),
                     [&](const OwnerReference& owner) {
                       return owner.kind == KindName(Kind::kGpuClaim) &&
                              owner.name == claim.meta.name;
                     });
}

// The write that makes the record what it has to be; nothing: it is.
std::optional<v1::Effect> WriteOf(const Workload* record, const GpuClaim& claim,
                                  const std::string& resource) {
  const ResourceList resources = {{resource, absl::StrCat(claim.units)}};
  const bool owned = record != nullptr && IsOwnedBy(*record, claim);
  const bool labelled =
      record != nullptr && record->meta.labels.contains(kMonitorLabel);
  if (owned && !labelled && record->kind == "gpu" &&
      record->type == claim.class_name && record->resources == resources &&
      record->operational) {
    return std::nullopt;
  }
  v1::Effect effect =
      record != nullptr
          ? EffectOn(Kind::kWorkload, record->meta)
          : EffectCreating(KindName(Kind::kWorkload), claim.meta.name_space,
                           UsageRecordName(claim.meta.name));
  v1::WriteUsageRecord& write = *effect.mutable_write_usage_record();
  write.set_class_name(claim.class_name);
  write.set_resource(resource);
  write.set_units(claim.units);
  write.set_set_owner(record != nullptr && !owned);
  write.set_remove_monitor_label(labelled);
  v1::OwnerReference& owner = *write.mutable_owner();
  owner.set_api_version("gpu.cozystack.io/v1alpha1");
  owner.set_kind(std::string(KindName(Kind::kGpuClaim)));
  owner.set_name(claim.meta.name);
  owner.set_uid(claim.meta.uid);
  return effect;
}

bool IsUnderWay(const Workload* record, const GpuClaim& claim,
                const Plan& plan) {
  return (record != nullptr && plan.IsWritten(record->meta.uid)) ||
         plan.IsWritten(WrittenObject(KindName(Kind::kWorkload),
                                      claim.meta.name_space,
                                      UsageRecordName(claim.meta.name)));
}

void Write(const Workload* record, v1::Effect effect, Plan& plan) {
  const v1::Target& target = effect.target();
  if (record == nullptr && plan.snapshot().IsTerminating(target.namespace_())) {
    return;
  }
  const auto& writes = plan.snapshot().usage_writes;
  auto last = writes.find(NameKey(target.namespace_(), target.name()));
  if (last != writes.end() && plan.now() < last->second + kUsageRecordPause) {
    plan.NoteUndone(target.namespace_(), target.name());
    plan.WakeAt(last->second + kUsageRecordPause);
    return;
  }
  plan.AddAlone(std::move(effect));
}

// Whether the claim's record is as it has to be, and nothing was to be done.
bool KeepUsageRecord(Row row, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const GpuClaim& claim = plan.claim(row);
  const Workload* record = snapshot.usage_records().Find(
      claim.meta.name_space, UsageRecordName(claim.meta.name));
  if (record != nullptr && record->meta.deleting.has_value()) return false;
  if (IsUnderWay(record, claim, plan)) return false;
  // As the claim was seen, not as this pass leaves it: its write may be
  // refused.
  if (snapshot.claim_columns.phase[row] != Phase::kBound) {
    if (record == nullptr || !IsOfClaim(*record, claim)) return true;
    v1::Effect effect = EffectOn(Kind::kWorkload, record->meta);
    effect.mutable_delete_usage_record();
    plan.AddAlone(std::move(effect));
    return false;
  }
  // Nobody is billed for what cannot be read: the record stays as it is.
  if (!claim.meta.problems.empty()) return false;
  const std::string& resource = snapshot.names.Text(ResourceOf(row, snapshot));
  if (resource.empty()) return false;
  std::optional<v1::Effect> effect = WriteOf(record, claim, resource);
  if (!effect.has_value()) return true;
  Write(record, *std::move(effect), plan);
  return false;
}

}  // namespace

void KeepUsageRecords(Plan& plan) {
  if (!plan.snapshot().MayWrite(Kind::kWorkload)) return;
  for (const Row row : plan.claims()) {
    if (!KeepUsageRecord(row, plan)) plan.KeepLooking(row);
  }
}

}  // namespace gpubinder
