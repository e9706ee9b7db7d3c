#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "tools/bench/cluster.h"
#include "tools/bench/live_cluster.h"
#include "tools/bench/pass_checks.h"
#include "tools/bench/pass_under_test.h"
#include "tools/bench/rows.h"

namespace gpubinder::bench {
namespace {

constexpr int kScans = 2000;

// What judging one set costs at least: which nodes serve the class and match
// the pod, and the fullest of them.
struct NodeBits {
  std::vector<uint64_t> serves, matches;
  std::vector<int64_t> free;

  explicit NodeBits(int64_t nodes)
      : serves((nodes + 63) / 64), matches((nodes + 63) / 64), free(nodes) {
    for (int64_t i = 0; i < nodes; ++i) {
      if (i % kClassesPerNode == 0) serves[i / 64] |= uint64_t{1} << (i % 64);
      matches[i / 64] |= uint64_t{1} << (i % 64);
      free[i] = i * 7919 % 13;
    }
  }

  int64_t AndAndScan() const {
    int64_t best = -1;
    for (size_t word = 0; word < serves.size(); ++word) {
      for (uint64_t bits = serves[word] & matches[word]; bits != 0;
           bits &= bits - 1) {
        const size_t node = word * 64 + absl::countr_zero(bits);
        best = std::max(best, free[node]);
      }
    }
    return best;
  }
};

// What happens before each pass.
enum class Before { kNothing, kNodeChanged };

// A pass of the cluster, after which it is settled again.
Sample OnePass(Before before, int64_t number, LiveCluster& live,
               absl::Status& status) {
  // A quarter of the shapes judge the node anew, and what is said of their
  // sets is new.
  if (before == Before::kNodeChanged) live.GrowNode(number);
  std::vector<PassResult> kept;
  const Sample sample = Time(Clock::kCpu, 1, [&] {
    kept.push_back(NextPass(live.snapshot(), live.now()));
  });
  if (before == Before::kNodeChanged) {
    if (absl::Status s = live.Settle(); !s.ok()) status = s;
  }
  return sample;
}

// The extra cost of each set of the second cluster that the first has not.
Side SlopeSide(Before before, LiveCluster& fewer, LiveCluster& more,
               int64_t sets, absl::Status& status) {
  return {.what = "full pass, slope over waiting sets",
          .run = [before, sets, &fewer, &more, &status,
                  number = int64_t{0}]() mutable {
            ++number;
            const Sample without = OnePass(before, number, fewer, status);
            const Sample with = OnePass(before, number, more, status);
            const double slope =
                (with.seconds - without.seconds) / static_cast<double>(sets);
            return Sample{.seconds = slope, .cpu_seconds = slope};
          }};
}

absl::Status CheckWaiting(const Cluster& cluster, LiveCluster& live) {
  if (absl::Status s = live.Settle(); !s.ok()) return s;
  if (absl::Status s = CheckSettled(cluster, live); !s.ok()) return s;
  int64_t waiting = 0;
  for (const SetView& view : ViewsOf(live.snapshot())) {
    if (view.verdict.reason == v1::NO_NODE_FITS) ++waiting;
  }
  if (waiting == cluster.shape().waiting_sets) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("found ", waiting, " sets that fit nowhere, want ",
                   cluster.shape().waiting_sets));
}

std::string VariantName(int64_t variants, Before before) {
  return absl::StrCat(variants, " selector variants",
                      before == Before::kNodeChanged
                          ? ", a node changes before each pass"
                          : "");
}

absl::Status RunVariants(int64_t variants, Before before,
                         const RowOptions& options, const Print& print) {
  const bool full = options.size == Size::kFull;
  const int64_t nodes = full ? 20'000 : 200;
  const int64_t sets = full ? 500 : 10;
  ClusterShape shape = {.seed = options.seed,
                        .claims = nodes * 5,
                        .nodes = nodes,
                        .selector_variants = variants,
                        .waiting_sets = sets};
  const Cluster small_cluster(shape);
  shape.waiting_sets = 2 * sets;
  const Cluster large_cluster(shape);
  LiveCluster fewer(small_cluster), more(large_cluster);
  if (absl::Status s = CheckWaiting(small_cluster, fewer); !s.ok()) return s;
  if (absl::Status s = CheckWaiting(large_cluster, more); !s.ok()) return s;
  const NodeBits bits(nodes);
  absl::Status status;
  const Side scan = {.what = "AND and scan", .run = [&bits] {
                       return Time(Clock::kCpu, kScans, [&] {
                         for (int i = 0; i < kScans; ++i) {
                           Keep(static_cast<uint64_t>(bits.AndAndScan()));
                         }
                       });
                     }};
  RowResult result{
      .variant = VariantName(variants, before),
      .comparison = Compare(SlopeSide(before, fewer, more, sets, status), scan,
                            options.pairs()),
      .unit = "CPU seconds/set",
      .sizes = {{"nodes", nodes},
                {"claims", large_cluster.claims()},
                {"waiting_sets", sets},
                {"waiting_sets_doubled", 2 * sets},
                {"selector_variants", variants}},
      .checked =
          absl::StrCat(kCheckedPass, "; as many sets fit nowhere as were made"),
      .notes = {"the slope between two clusters, one with twice as many "
                "waiting sets",
                "the peer: AND of two bit sets, of which a quarter of the "
                "nodes remains, and a visit to each of those for its free "
                "units"},
      // The table's row is about passes to which nothing happened.
      .judged = before == Before::kNothing};
  if (!status.ok()) return status;
  result.value = result.comparison.ratio.median;
  print(result);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunWaitingSets(const RowOptions& options, const Print& print) {
  if (absl::Status s = CheckByNaiveModel(options.seed); !s.ok()) return s;
  for (const int64_t variants : {1, 50, 5000}) {
    absl::Status s = RunVariants(variants, Before::kNothing, options, print);
    if (!s.ok()) return s;
  }
  return RunVariants(50, Before::kNodeChanged, options, print);
}

}  // namespace gpubinder::bench
