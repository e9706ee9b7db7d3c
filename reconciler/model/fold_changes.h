// What the fold tells the index of a change to an object. Included by fold.cc
// alone.

#ifndef RECONCILER_MODEL_FOLD_CHANGES_H_
#define RECONCILER_MODEL_FOLD_CHANGES_H_

#include <type_traits>

#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/tenant.h"

namespace gpubinder {

// What the sets that name a class take from it; what else there is of it
// concerns the class alone.
inline GpuClass TermsOf(GpuClass found) {
  found.meta.resource_version.clear();
  found.meta.finalizers.clear();
  found.meta.generation = 0;
  found.conditions.clear();
  return found;
}

// Called before `before` is changed into `after`; null: it appears or goes.
template <typename T>
void NoteChange(const T* before, const T* after, Snapshot& snapshot) {
  const ObjectMeta& meta = before != nullptr ? before->meta : after->meta;
  IndexChanges& changes = snapshot.changes;
  if constexpr (std::is_same_v<T, Node>) {
    changes.nodes.insert(snapshot.names.Intern(meta.name));
  } else if constexpr (std::is_same_v<T, GpuClass>) {
    snapshot.index.classes_settled = false;
    changes.everything |= before == nullptr || after == nullptr ||
                          TermsOf(*before) != TermsOf(*after);
  } else if constexpr (std::is_same_v<T, Namespace>) {
    changes.everything |= EntitlementLabel(before) != EntitlementLabel(after);
  } else if constexpr (std::is_same_v<T, ResourceQuota>) {
    changes.quotas = true;
  } else if constexpr (std::is_same_v<T, GpuClaim> ||
                       std::is_same_v<T, GpuClaimSet> ||
                       std::is_same_v<T, VirtualMachine> ||
                       std::is_same_v<T, VirtualMachineInstance> ||
                       std::is_same_v<T, Workload> || std::is_same_v<T, Pod>) {
    changes.namespaces.insert(meta.name_space);
  }
  // Volumes and scheduling classes are asked for by sets that wait alone, and
  // the settings by none.
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_CHANGES_H_
