#include <algorithm>
#include <optional>
#include <utility>

#include "proto/check.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/steps.h"

namespace gpubinder {
namespace {

// A claim that is no template claim is in a set, be it one of its own.
size_t SetOf(Row row, const Plan& plan) {
  const std::optional<size_t> set = plan.SetOf(row);
  BINDER_CHECK(set.has_value());
  return *set;
}

void Attach(Row row, const VirtualMachineInstance& vmi, Plan& plan) {
  v1::Effect effect = EffectOn(Kind::kGpuClaim, plan.claim(row).meta);
  v1::AttachClaim& attach = *effect.mutable_attach_claim();
  attach.set_name(vmi.meta.name);
  attach.set_uid(vmi.meta.uid);
  const std::optional<Attachment>& held = plan.claim(row).attached_to;
  const bool same =
      held.has_value() && held->name == vmi.meta.name && held->uid.empty();
  attach.set_since_unix_seconds(
      absl::ToUnixSeconds(same ? held->since : plan.now()));
  plan.Add(SetOf(row, plan), std::move(effect));
}

void Release(Row row, Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
  effect.mutable_release_claim()->set_name(claim.attached_to->name);
  effect.mutable_release_claim()->set_uid(claim.attached_to->uid);
  plan.Add(SetOf(row, plan), std::move(effect));
}

// An attachment without a uid and without its VMI, which the webhook has
// written: `since` is another replica's clock, so the grace counts from the
// later of it and of the first record that shows the attachment.
void Await(Row row, Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  absl::Time since = claim.attached_to->since;
  if (!Planted(Bug::kOtherReplicasClock)) {
    since = std::max(since, plan.snapshot().attached_since.at(claim.meta.uid));
  }
  const absl::Time end = since + plan.config().attachment_grace;
  if (plan.now() < end) {
    plan.WakeAt(end);
  } else {
    Release(row, plan);
  }
}

void Settle(Row row, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  const GpuClaim& claim = plan.claim(row);
  if (claim.meta.deleting.has_value() || TemplateOwner(claim) != nullptr) {
    return;
  }
  const size_t set = SetOf(row, plan);
  if (plan.state(set).frozen) return;
  // Membership follows the attachment, and where there is none, the name that
  // a VMI asks for; so a claim that is free and named is attached here.
  const std::optional<Row> wants = plan.set(set).vmi;
  const bool held_rightly = claim.attached_to.has_value() &&
                            !claim.attached_to->uid.empty() &&
                            HoldingVmi(claim, snapshot).has_value();
  if (held_rightly) return;
  if (wants.has_value()) {
    Attach(row, snapshot.vmis()[*wants], plan);
    return;
  }
  if (!claim.attached_to.has_value()) return;
  const bool awaited = claim.attached_to->uid.empty() &&
                       snapshot.vmis().Find(claim.meta.name_space,
                                            claim.attached_to->name) == nullptr;
  if (awaited) {
    Await(row, plan);
  } else {
    Release(row, plan);
  }
}

}  // namespace

void SettleAttachments(Plan& plan) {
  // Before VMIs were listed, or where KubeVirt is not served, nothing says
  // that a VMI has gone.
  if (!plan.snapshot().IsListed(Kind::kVirtualMachineInstance)) return;
  for (const Row row : plan.claims()) Settle(row, plan);
}

}  // namespace gpubinder
