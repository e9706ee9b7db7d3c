// The one place that knows how a pass is called.

#ifndef TOOLS_BENCH_PASS_UNDER_TEST_H_
#define TOOLS_BENCH_PASS_UNDER_TEST_H_

#include <string>

#include "absl/time/time.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder::bench {

// As the loop calls it: with what earlier passes left in the snapshot.
inline PassResult NextPass(Snapshot& snapshot, absl::Time now) {
  return RunPass(snapshot, now);
}

// Every set is looked at anew; what the index keeps of nodes is used.
inline PassResult FullPass(Snapshot& snapshot, absl::Time now) {
  RefreshIndex(snapshot);
  LookAtAll(snapshot.index);
  return RunPass(snapshot, now);
}

// Also which nodes keep which classes is found out anew.
inline PassResult FullPassOverNodes(Snapshot& snapshot, absl::Time now) {
  for (Keeper& keeper : snapshot.index.keepers) keeper.answers.clear();
  return FullPass(snapshot, now);
}

// Nothing of earlier passes is used: the index is built from the objects.
inline PassResult RecomputedPass(Snapshot& snapshot, absl::Time now) {
  snapshot.index = {};
  snapshot.changes = {};
  return RunPass(snapshot, now);
}

// All that a pass decided and said, as bytes: its record, and each set with
// its verdict and every node's reasons. Called before anything else is folded.
std::string BytesOf(const PassResult& result, const Snapshot& snapshot);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_PASS_UNDER_TEST_H_
