#include "reconciler/model/volume.h"

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

VolumeReach ReachOf(const std::string& name_space, const std::string& name,
                    const Snapshot& snapshot) {
  const PersistentVolumeClaim* claim =
      snapshot.Of<PersistentVolumeClaim>().Find(name_space, name);
  if (claim == nullptr) return {};
  if (claim->volume_name.empty() || !claim->bind_completed) {
    return {.everywhere = true};
  }
  const PersistentVolume* volume =
      snapshot.Of<PersistentVolume>().Find("", claim->volume_name);
  if (volume == nullptr || !BelongsTo(*volume, *claim)) return {};
  if (!volume->required.has_value()) return {.everywhere = true};
  return {.nodes = &*volume->required};
}

void JudgeVolumes(const Node& node, const Demand& demand,
                  const Snapshot& snapshot,
                  std::vector<v1::ReasonDetail>& reasons) {
  for (const std::string& name : demand.volume_claims) {
    const VolumeReach reach = ReachOf(demand.name_space, name, snapshot);
    const bool reached =
        reach.everywhere ||
        (reach.nodes != nullptr &&
         MatchesVolumeAffinity(*reach.nodes, node.meta.labels));
    if (reached) continue;
    v1::ReasonDetail& detail = reasons.emplace_back();
    detail.set_reason(v1::VOLUME_NOT_REACHABLE);
    detail.set_claim(name);
    const PersistentVolumeClaim* claim =
        snapshot.Of<PersistentVolumeClaim>().Find(demand.name_space, name);
    if (claim != nullptr) detail.set_volume(claim->volume_name);
  }
}

}  // namespace gpubinder
