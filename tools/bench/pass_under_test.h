// The one place that knows how a pass is called.

#ifndef TOOLS_BENCH_PASS_UNDER_TEST_H_
#define TOOLS_BENCH_PASS_UNDER_TEST_H_

#include <string>

#include "absl/time/time.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder::bench {

// Whether NextPass keeps anything from pass to pass. A row whose subject that
// is says so when it does not.
inline constexpr bool kIncremental = false;

// As the loop calls it: with what earlier passes left in the snapshot.
inline PassResult NextPass(Snapshot& snapshot, absl::Time now) {
  return RunPass(snapshot, now);
}

// Nothing of earlier passes is used: every set is judged anew.
inline PassResult FullPass(Snapshot& snapshot, absl::Time now) {
  return RunPass(snapshot, now);
}

// All that a pass decided and said, as bytes: its record, and each set with
// its verdict and every node's reasons.
std::string BytesOf(const PassResult& result);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_PASS_UNDER_TEST_H_
