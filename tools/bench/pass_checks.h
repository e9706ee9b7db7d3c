// What is checked of a pass before it is timed.

#ifndef TOOLS_BENCH_PASS_CHECKS_H_
#define TOOLS_BENCH_PASS_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tools/bench/cluster.h"
#include "tools/bench/live_cluster.h"

namespace gpubinder::bench {

// The naive model judges the passes of a small cluster of the shape that the
// rows have, with waiting sets, until it has settled.
absl::Status CheckByNaiveModel(uint64_t seed);

// The cluster is settled: a full pass writes nothing and tells nothing, and
// every unit that was made is booked; and the next pass gives the same bytes.
absl::Status CheckSettled(const Cluster& cluster, LiveCluster& live);

inline constexpr char kCheckedPass[] =
    "a small cluster of this shape judged by the naive model; at full size: "
    "nothing written, all units booked, next pass equal to full pass";

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_PASS_CHECKS_H_
