#include "tools/bench/rows.h"

namespace gpubinder::bench {

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {.name = "a1",
       .what = "append wall per event, 64 a batch, with and without sync",
       .against = "a raw RocksDB WriteBatch loop: same JSON, batch, sync, disk",
       .floor = 0.90,
       .ambitious = 0.65,
       .run = RunAppend},
      {.name = "b1",
       .what = "events a second replayed from the journal into a snapshot",
       .against = "a RocksDB iterator and a simdjson On-Demand projection of "
                  "the same bytes",
       .bound = Bound::kAtLeast,
       .floor = 0.70,
       .ambitious = 0.90,
       .run = RunReplay},
      {.name = "d1",
       .what = "a full pass over a settled cluster, every set judged anew",
       .against = "a linear sum over the snapshot's columns",
       .floor = 150,
       .ambitious = 40,
       .run = RunFullPass},
      {.name = "d2",
       .what = "growth exponent of the full pass over four sizes",
       .against = "1; printed beside it, that of the linear sum",
       .floor = 1.15,
       .ambitious = 1.08,
       .run = RunGrowth},
      {.name = "d3",
       .what = "a full pass",
       .against = "plain map-based passes: string maps, and the naive model",
       .floor = 1.0 / 40,
       .ambitious = 1.0 / 120,
       .run = RunAgainstReference},
      {.name = "d4",
       .what = "extra cost of a pass for each more set that fits nowhere",
       .against = "one AND and scan over a bit set of the nodes",
       .floor = 10,
       .ambitious = 3,
       .run = RunWaitingSets},
      {.name = "d5",
       .what = "a pass after one event",
       .against = "a full recompute, equal bit for bit",
       .floor = 1.0 / 20,
       .ambitious = 1.0 / 200,
       .run = RunOneEvent},
  };
  return *rows;
}

}  // namespace gpubinder::bench
