#include <algorithm>

#include "reconciler/naive/rules.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

int64_t Asks(const ResourceList& list, const std::string& resource) {
  auto found = list.find(resource);
  if (found == list.end()) return 0;
  return WholeUnits(found->second, Part::kCounts).value_or(0);
}

// Units that claims of the VMI hold on the node.
int64_t Covered(const World& world, const VirtualMachineInstance& vmi,
                const std::string& node, const std::string& resource) {
  int64_t units = 0;
  for (const ClaimState& claim : world.claims) {
    const bool of_vmi = claim.set >= 0 ? world.sets[claim.set].vmi == &vmi
                                       : MadeFor(*claim.claim) == vmi.meta.uid;
    if (of_vmi && claim.resource == resource &&
        claim.counts_on.contains(node)) {
      units = Plus(units, claim.units);
    }
  }
  return units;
}

}  // namespace

const VirtualMachineInstance* ListerOf(const World& world, const Pod& pod) {
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (vmi->meta.name_space == pod.meta.name_space &&
        vmi->active_pods.contains(pod.meta.uid)) {
      return vmi;
    }
  }
  return nullptr;
}

Units AllocatableOf(const Node& node, const std::string& resource) {
  auto found = node.allocatable.find(resource);
  if (found == node.allocatable.end()) return {};
  const std::optional<int64_t> units =
      WholeUnits(found->second, Part::kDropped);
  if (!units.has_value()) return {.malformed = true};
  return {.allocatable = *units};
}

int64_t Booked(const World& world, const std::string& node,
               const std::string& resource, int set) {
  int64_t units = 0;
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const ClaimState& claim = world.claims[i];
    if (claim.resource != resource || !claim.counts_on.contains(node)) continue;
    if (set >= 0) {
      const std::vector<int>& own = world.sets[set].members;
      const int index = static_cast<int>(i);
      if (std::find(own.begin(), own.end(), index) != own.end()) continue;
    }
    units = Plus(units, claim.units);
  }
  return units;
}

int64_t RequestOf(const Pod& pod, const std::string& resource) {
  int64_t running = 0, sidecars = 0, peak = 0;
  for (const Container& container : pod.containers) {
    running = Plus(running, Asks(container.requests, resource));
  }
  for (const Container& container : pod.init_containers) {
    const int64_t units = Asks(container.requests, resource);
    peak = std::max(peak, Plus(sidecars, units));
    if (container.restart_always) sidecars = Plus(sidecars, units);
  }
  return Plus(std::max(peak, Plus(running, sidecars)),
              Asks(pod.overhead, resource));
}

int64_t Raw(const World& world, const std::string& node,
            const std::string& resource, int set) {
  int64_t units = 0;
  std::map<const VirtualMachineInstance*, int64_t> by_vmi;
  for (const Pod* pod : world.pods) {
    if (pod->node_name != node || Ended(*pod)) continue;
    const int64_t asked = RequestOf(*pod, resource);
    const VirtualMachineInstance* vmi = ListerOf(world, *pod);
    if (vmi == nullptr) {
      units = Plus(units, asked);
    } else {
      by_vmi[vmi] = Plus(by_vmi[vmi], asked);
    }
  }
  for (const Beyond& pinned : world.beyond) {
    if (pinned.set != set && pinned.node == node &&
        pinned.resource == resource) {
      units = Plus(units, pinned.units);
    }
  }
  for (const auto& [vmi, asked] : by_vmi) {
    if (set >= 0 && world.sets[set].vmi == vmi) continue;
    units = Plus(units, std::max<int64_t>(
                            0, asked - Covered(world, *vmi, node, resource)));
  }
  return units;
}

}  // namespace gpubinder::naive
