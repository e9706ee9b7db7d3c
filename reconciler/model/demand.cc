#include "reconciler/model/demand.h"

#include <algorithm>

#include "proto/check.h"
#include "reconciler/model/own_memory.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {
namespace {

void AddClass(const std::string& name, int64_t units, const Snapshot& snapshot,
              absl::btree_map<std::string, int64_t>& needs, Demand& demand) {
  const GpuClass* found = snapshot.classes().Find("", name);
  if (found == nullptr) return;
  int64_t& sum = needs[found->resource_name];
  sum = SaturatingAdd(sum, units);
  if (std::find(demand.classes.begin(), demand.classes.end(), found) ==
      demand.classes.end()) {
    demand.classes.push_back(found);
  }
}

// The rejections of the set's memory and of its members (N5), those that
// have lapsed by time left out.
void AddRejections(const ClaimSet& set, const Snapshot& snapshot,
                   absl::Time now, Demand& demand) {
  auto add = [&](const std::vector<RejectedNode>& entries) {
    for (const RejectedNode& entry : entries) {
      if (entry.until > now) demand.rejections.push_back(entry);
    }
  };
  const GpuClaimSet* memory = OwnMemory(set, snapshot);
  if (memory != nullptr) add(memory->rejected_nodes);
  for (const Row row : set.members) {
    add(snapshot.claims()[row].rejected_nodes);
  }
}

// The PVCs that must be reached (N4).
void AddVolumes(const ClaimSet& set, const Snapshot& snapshot, Demand& demand) {
  demand.name_space = set.name_space;
  if (demand.pod != nullptr) {  // a VMI's
    const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
    demand.volume_claims = demand.pod->volume_claims;
    demand.volume_claims.insert(demand.volume_claims.end(),
                                vmi.hotplug_claims.begin(),
                                vmi.hotplug_claims.end());
  } else if (set.vmi.has_value()) {
    demand.volume_claims = snapshot.vmis()[*set.vmi].volume_claims;
  } else if (set.vm.has_value()) {
    demand.volume_claims = snapshot.vms()[*set.vm].volume_claims;
  }
}

void AddPod(const ClaimSet& set, const Snapshot& snapshot, Demand& demand) {
  if (!set.launcher.pod.has_value()) return;
  demand.pod = &snapshot.pods()[*set.launcher.pod];
  auto named = demand.pod->meta.annotations.find(kSchedulingClassAnnotation);
  if (named == demand.pod->meta.annotations.end() ||
      !snapshot.Serves(Kind::kSchedulingClass)) {
    return;
  }
  demand.scheduling_class =
      snapshot.Of<SchedulingClass>().Find("", named->second);
  if (demand.scheduling_class == nullptr) {
    demand.missing_scheduling_class = named->second;
  }
}

void AddOwn(const ClaimSet& set, const Snapshot& snapshot, Demand& demand) {
  const ClaimColumns& columns = snapshot.claim_columns;
  auto add = [&](Row row, absl::btree_map<NodeAndResource, int64_t>& sums) {
    if (columns.phase[row] != Phase::kBound) return;
    int64_t& sum = sums[{columns.node[row], ResourceOf(row, snapshot)}];
    sum = SaturatingAdd(sum, columns.units[row]);
  };
  for (const Row row : set.members) add(row, demand.own);
  for (const Row row : set.leaving) add(row, demand.leaving);
}

}  // namespace

Demand MakeDemand(const ClaimSet& set, const Snapshot& snapshot,
                  absl::Time now) {
  Demand demand{.vmi = set.vmi};
  absl::btree_map<std::string, int64_t> needs;
  for (const Row row : set.members) {
    const GpuClaim& claim = snapshot.claims()[row];
    AddClass(claim.class_name, claim.units, snapshot, needs, demand);
  }
  for (const MissingTemplate& missing : set.missing) {
    AddClass(missing.class_name, missing.units, snapshot, needs, demand);
  }
  std::sort(demand.classes.begin(), demand.classes.end(),
            [](const GpuClass* a, const GpuClass* b) {
              return a->meta.name < b->meta.name;
            });
  AddPod(set, snapshot, demand);
  if (demand.pod != nullptr) {
    for (const std::string& name : GovernedResources(snapshot)) {
      if (EffectiveRequest(*demand.pod, name).units > 0) needs[name];
    }
  }
  for (const auto& [name, units] : needs) {
    const std::optional<NameId> resource = snapshot.names.Find(name);
    BINDER_CHECK(resource.has_value());
    demand.needs.push_back(
        {.resource = *resource,
         .units = units,
         .pod_units = demand.pod == nullptr
                          ? 0
                          : EffectiveRequest(*demand.pod, name).units});
  }
  AddOwn(set, snapshot, demand);
  AddRejections(set, snapshot, now, demand);
  AddVolumes(set, snapshot, demand);
  return demand;
}

std::vector<std::string> GovernedResources(const Snapshot& snapshot) {
  std::vector<std::string> names = snapshot.config.extra_resource_names;
  for (const auto& [key, row] : snapshot.classes().by_name()) {
    names.push_back(snapshot.classes()[row].resource_name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace gpubinder
