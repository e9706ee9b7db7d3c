// What the fold keeps beside the tables when an object of a kind changes: the
// columns, and since when something is seen. Included by fold.cc alone.

#ifndef RECONCILER_MODEL_FOLD_OBJECTS_H_
#define RECONCILER_MODEL_FOLD_OBJECTS_H_

#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/table.h"

namespace gpubinder {

// Called after an object of the kind was stored in `row`.
template <typename T>
void AfterStore(Row, absl::Time, Snapshot&) {}
template <>
void AfterStore<Node>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void AfterStore<GpuClass>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void AfterStore<GpuClaim>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void AfterStore<GpuClaimSet>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void AfterStore<VirtualMachineInstance>(Row row, absl::Time at,
                                        Snapshot& snapshot);
template <>
void AfterStore<Pod>(Row row, absl::Time at, Snapshot& snapshot);

// Called before the object in `row` goes.
template <typename T>
void BeforeErase(Row, absl::Time, Snapshot&) {}
template <>
void BeforeErase<Node>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<GpuClass>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<GpuClaim>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<GpuClaimSet>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<VirtualMachineInstance>(Row row, absl::Time at,
                                         Snapshot& snapshot);
template <>
void BeforeErase<Pod>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<Workload>(Row row, absl::Time at, Snapshot& snapshot);
template <>
void BeforeErase<ConfigMap>(Row row, absl::Time at, Snapshot& snapshot);

// Called when a list of nodes has ended: since when those that hold bookings
// are seen to be absent.
void NoteAbsentNodes(absl::Time at, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_OBJECTS_H_
