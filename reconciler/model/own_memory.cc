#include "reconciler/model/own_memory.h"

#include <algorithm>

namespace gpubinder {

bool IsOwnedBy(const GpuClaimSet& memory, const std::string& uid) {
  const auto& owners = memory.meta.owners;
  return std::any_of(
      owners.begin(), owners.end(),
      [&](const OwnerReference& owner) { return owner.uid == uid; });
}

const GpuClaimSet* OwnMemory(const ClaimSet& set, const Snapshot& snapshot) {
  if (!set.of_vm) return nullptr;
  const GpuClaimSet* memory =
      snapshot.claim_sets().Find(set.name_space, set.name);
  if (memory == nullptr) return nullptr;
  const bool own = (set.vm.has_value() &&
                    IsOwnedBy(*memory, snapshot.vms()[*set.vm].meta.uid)) ||
                   (set.vmi.has_value() &&
                    IsOwnedBy(*memory, snapshot.vmis()[*set.vmi].meta.uid));
  return own ? memory : nullptr;
}

}  // namespace gpubinder
