// Whose a GPUClaimSet is: what another owner has left in the memory of that
// name says nothing of a set, which takes it over before anything that needs a
// memory is sent (R3, R4, M4).

#ifndef RECONCILER_MODEL_OWN_MEMORY_H_
#define RECONCILER_MODEL_OWN_MEMORY_H_

#include <string>

#include "reconciler/model/claim_set.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

bool IsOwnedBy(const GpuClaimSet& memory, const std::string& uid);

// The memory of the set's name, where it is owned by the set's VM or by its
// VMI, whose memory its VM inherits; null otherwise. O(log memories).
const GpuClaimSet* OwnMemory(const ClaimSet& set, const Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_OWN_MEMORY_H_
