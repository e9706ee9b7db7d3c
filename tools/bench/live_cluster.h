// A cluster in a Snapshot, folded record by record, and its API server: what a
// pass writes is applied and folded until nothing is left to write.

#ifndef TOOLS_BENCH_LIVE_CLUSTER_H_
#define TOOLS_BENCH_LIVE_CLUSTER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/scenario_server.h"
#include "tools/bench/cluster.h"

namespace gpubinder::bench {

class LiveCluster {
 public:
  // Lists every kind. Records carry no JSON, so this measures no codec.
  explicit LiveCluster(const Cluster& cluster);

  Snapshot& snapshot() { return snapshot_; }
  const Snapshot& snapshot() const { return snapshot_; }
  absl::Time now() const { return now_; }

  // Runs passes and applies what they write until one writes nothing and tells
  // nothing new. FAILED_PRECONDITION when that does not come about.
  absl::Status Settle();

  // The object by a watch event.
  void Watch(v1::ObjectEvent::Type type, Object object);
  // By a watch event one unit more of one class on some node; another number,
  // another node. `number` also makes the version: 0 or more, each once.
  void GrowNode(int64_t number);

 private:
  void Tell(v1::Record record, std::optional<Object> object);
  absl::Status Apply(const v1::Effect& effect, uint64_t decision,
                     uint32_t index);
  // Puts what the effect is about into the server's store.
  void Show(const v1::Target& target);

  Snapshot snapshot_;
  ScenarioServer server_;
  absl::Time now_;
  uint64_t sequence_ = 0;
};

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_LIVE_CLUSTER_H_
