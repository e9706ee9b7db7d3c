// The peer of a full pass: one linear sum over what the snapshot keeps in
// columns, which is what reading it once costs.

#ifndef TOOLS_BENCH_COLUMNS_H_
#define TOOLS_BENCH_COLUMNS_H_

#include <cstdint>

#include "reconciler/model/snapshot.h"

namespace gpubinder::bench {

// The sum over phase, node, resource, class and units of every claim, and
// over what each node has to give.
uint64_t SumColumns(const Snapshot& snapshot);

// How many bytes that reads.
int64_t ColumnBytes(const Snapshot& snapshot);

// Units of Bound claims, counted from the columns one by one.
int64_t BookedUnits(const Snapshot& snapshot);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_COLUMNS_H_
