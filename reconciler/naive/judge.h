// Judges a pass by the naive model: what it should have decided, step by
// step, and whether what it says of the nodes is true.
//
//   for (const std::string& fault : JudgePass(snapshot, now, result)) ...

#ifndef RECONCILER_NAIVE_JUDGE_H_
#define RECONCILER_NAIVE_JUDGE_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Every disagreement as a sentence; empty when there is none. `result` is the
// pass over `snapshot` at `now`. O(sets x nodes x claims x pods): for tests
// and audits. Where the specification leaves a choice both are accepted; the
// README lists them.
std::vector<std::string> JudgePass(const Snapshot& snapshot, absl::Time now,
                                   const PassResult& result);

}  // namespace gpubinder

#endif  // RECONCILER_NAIVE_JUDGE_H_
