#include "webhook/held_claim.h"

#include "absl/strings/str_cat.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/launcher.h"
#include "webhook/refusal.h"

namespace gpubinder {
namespace {

bool HolderLives(const GpuClaim& claim, const LiveReads& live,
                 const Snapshot& snapshot) {
  const Attachment& held = *claim.attached_to;
  return HoldingVmi(claim, snapshot).has_value() ||
         (held.uid.empty() ? live.living_names.contains(held.name)
                           : live.living_uids.contains(held.uid));
}

// The kinds are watched each on its own, so the claim's attachment may be
// newer than what the snapshot knows of VMIs: only the end of the very VMI
// proves that it has gone.
bool ProvedGone(const Attachment& held, const VirtualMachineInstance* vmi,
                const Snapshot& snapshot) {
  if (held.uid.empty()) return false;
  if (snapshot.vmis().dead.contains(held.uid)) return true;
  return vmi != nullptr && vmi->meta.uid == held.uid && HasEnded(*vmi);
}

}  // namespace

HoldVerdict JudgeHold(const GpuClaim& claim, absl::string_view vmi_name,
                      const LiveReads& live, const Snapshot& snapshot,
                      absl::Time now) {
  if (!claim.attached_to.has_value()) return {};
  const Attachment& held = *claim.attached_to;
  if (held.name.empty() || held.name == vmi_name) return {};
  if (HolderLives(claim, live, snapshot)) {
    return {.elsewhere = absl::StrCat("is attached to VirtualMachineInstance ",
                                      Quoted(held.name))};
  }
  const VirtualMachineInstance* vmi =
      snapshot.vmis().Find(claim.meta.name_space, held.name);
  const absl::Duration grace = snapshot.config.attachment_grace;
  if (held.uid.empty() && vmi == nullptr && now - held.since < grace) {
    return {.elsewhere =
                absl::StrCat("was promised to VirtualMachineInstance ",
                             Quoted(held.name), " at ",
                             absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ",
                                              held.since, absl::UTCTimeZone()),
                             ", which has not appeared yet; it becomes free ",
                             absl::FormatDuration(grace), " after that")};
  }
  if (ProvedGone(held, vmi, snapshot)) return {};
  return {.unseen_holder =
              ReviewAnswer::Holder{.name = held.name, .uid = held.uid}};
}

}  // namespace gpubinder
