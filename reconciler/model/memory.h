// The GPUClaimSet of a VM: what must outlive a VMI and a leader, and the
// Warnings that its transitions number (H3, H4).

#ifndef RECONCILER_MODEL_MEMORY_H_
#define RECONCILER_MODEL_MEMORY_H_

#include "reconciler/model/explanation.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

// Emits the Warning of a change of reason, then writes the set's memory, when
// its verdict, its place or its members differ from what is there. Sets of no
// VM have no memory.
void RememberVerdict(size_t set, const Verdict& verdict, Plan& plan);

// Whether the memory of this VM, and of no other of its name, says that the set
// stood on one node.
bool StoodWhole(const ClaimSet& set, const Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_MEMORY_H_
