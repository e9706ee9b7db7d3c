#include "tools/bench/pass_checks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "reconciler/naive/judge.h"
#include "tools/bench/columns.h"
#include "tools/bench/pass_under_test.h"

namespace gpubinder::bench {
namespace {

absl::Status Judge(LiveCluster& live) {
  PassResult result = FullPass(live.snapshot(), live.now());
  result.sets = ViewsOf(live.snapshot());
  const std::vector<std::string> faults =
      JudgePass(live.snapshot(), live.now(), result);
  if (faults.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the naive model disagrees: ", faults[0]));
}

}  // namespace

absl::Status CheckByNaiveModel(uint64_t seed) {
  const Cluster cluster({.seed = seed,
                         .claims = 100,
                         .nodes = 6,
                         .selector_variants = 2,
                         .waiting_sets = 3});
  LiveCluster live(cluster);
  if (absl::Status s = Judge(live); !s.ok()) return s;
  if (absl::Status s = live.Settle(); !s.ok()) return s;
  return Judge(live);
}

absl::Status CheckSettled(const Cluster& cluster, LiveCluster& live) {
  const PassResult full = RecomputedPass(live.snapshot(), live.now());
  const std::string bytes = BytesOf(full, live.snapshot());
  if (!full.effects.empty() || !full.explanations.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the cluster is not settled: ", full.effects.size(), " writes and ",
        full.explanations.size(), " new explanations"));
  }
  const int64_t booked = BookedUnits(live.snapshot());
  if (booked != cluster.booked_units()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "found ", booked, " booked units, want ", cluster.booked_units()));
  }
  for (auto* pass : {FullPass, NextPass}) {
    const PassResult result = pass(live.snapshot(), live.now());
    if (BytesOf(result, live.snapshot()) != bytes) {
      return absl::FailedPreconditionError(
          "a pass with the index differs from one without");
    }
  }
  return absl::OkStatus();
}

}  // namespace gpubinder::bench
