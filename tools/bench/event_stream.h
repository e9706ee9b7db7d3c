// Watch events as JSON, as the API server would send them for the lives of
// VMs, passed through the journal's filter: what a1 appends and b1 replays.
//
// The life of each VM in turn: VMI, K claims and a gated pod appear, the
// claims are bound, the pod is pinned and runs, the VM runs; one in fifty is
// lost and bound again. Every eighth event is a node's heartbeat, now and then
// with a cordon. Sizes and shapes are those of journal/corpus.h, whose texts
// these are, with managedFields (which the filter removes) and with labels and
// annotations of tenants that the journal's dictionary has never seen.

#ifndef TOOLS_BENCH_EVENT_STREAM_H_
#define TOOLS_BENCH_EVENT_STREAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/journal.pb.h"

namespace gpubinder::bench {

struct EventStream {
  std::vector<v1::Record> records;  // ObjectEvents with JSON, and nothing else
  int64_t json_bytes = 0;           // as it is journaled
  int64_t raw_bytes = 0;            // before the filter
};

// At least `events` records of whole lives. INTERNAL: the filter dropped one.
absl::StatusOr<EventStream> MakeEventStream(uint64_t seed, int64_t events);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_EVENT_STREAM_H_
