#include "reconciler/model/volume.h"

#include <string>

#include "reconciler/model/selector.h"

namespace gpubinder {
namespace {

bool BelongsTo(const PersistentVolume& volume,
               const PersistentVolumeClaim& claim) {
  return volume.claim_name == claim.meta.name &&
         volume.claim_namespace == claim.meta.name_space &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.meta.uid);
}

}  // namespace

void JudgeVolumes(const Node& node, const Demand& demand,
                  const Snapshot& snapshot,
                  std::vector<v1::ReasonDetail>& reasons) {
  for (const std::string& name : demand.volume_claims) {
    const PersistentVolumeClaim* claim =
        snapshot.Of<PersistentVolumeClaim>().Find(demand.name_space, name);
    if (claim != nullptr &&
        (claim->volume_name.empty() || !claim->bind_completed)) {
      continue;
    }
    const PersistentVolume* volume =
        claim == nullptr
            ? nullptr
            : snapshot.Of<PersistentVolume>().Find("", claim->volume_name);
    const bool reached =
        volume != nullptr && BelongsTo(*volume, *claim) &&
        (!volume->required.has_value() ||
         MatchesVolumeAffinity(*volume->required, node.meta.labels));
    if (reached) continue;
    v1::ReasonDetail& detail = reasons.emplace_back();
    detail.set_reason(v1::VOLUME_NOT_REACHABLE);
    detail.set_claim(name);
    if (claim != nullptr) detail.set_volume(claim->volume_name);
  }
}

}  // namespace gpubinder
