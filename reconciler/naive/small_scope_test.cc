// All small clusters and all orders of a few events, each state judged by the
// invariants, the naive model, a replay, and another order of arrival.
//
//   --seed N      replays the seeded part (or SMALL_SCOPE_SEED)
//   --states N    passes of the seeded part (or SMALL_SCOPE_STATES)
//   --depth N     exhaustive depth (or SMALL_SCOPE_DEPTH)
//   --clusters N  every N-th cluster in the exhaustive part, from --first on
// A failure prints its commands, which are a scenario.

#include "reconciler/naive/small_scope.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "reconciler/naive/scope_tally.h"

namespace gpubinder::naive {
namespace {

constexpr int kEventsInASeededHistory = 8;

void Explore(const SmallScope& scope, int64_t depth, Tally& tally) {
  if (!tally.Judge(scope.mistakes(), scope.commands())) return;
  if (depth == 0) {
    SmallScope end = scope;
    const int before = end.passes();
    end.Settle();
    tally.states += end.passes() - before;
    ++tally.histories;
    tally.Judge(end.mistakes(), end.commands());
    return;
  }
  for (int event = 0; event < EventCount(); ++event) {
    SmallScope next = scope;
    if (!next.Happen(event)) continue;
    ++tally.states;
    Explore(next, depth - 1, tally);
  }
}

TEST(SmallScopeTest, EveryOrderOfFewEventsIsDecidedAsTheNaiveModelDoes) {
  const int64_t depth = Option("SMALL_SCOPE_DEPTH", 1);
  const int64_t step = Option("SMALL_SCOPE_CLUSTERS", 7);
  const int64_t first = Option("SMALL_SCOPE_FIRST", 0);
  const Shard part = ShardOfTest();
  Tally tally;
  for (int64_t cluster = first + part.shard * step; cluster < ClusterCount();
       cluster += part.shards * step) {
    Explore(SmallScope(static_cast<int>(cluster)), depth, tally);
  }
  tally.Print(
      absl::StrCat("exhaustive to ", depth, " events, 1 cluster in ", step));
  EXPECT_EQ(tally.failed, 0);
}

TEST(SmallScopeTest, SeededHistoriesAreDecidedAsTheNaiveModelDoes) {
  const int64_t seed = Option("SMALL_SCOPE_SEED", 1);
  const Shard part = ShardOfTest();
  const int64_t states = Option("SMALL_SCOPE_STATES", 200000) / part.shards;
  Tally tally;
  for (int64_t history = part.shard; tally.states < states;
       history += part.shards) {
    Dice dice(static_cast<uint64_t>(seed) * 1000003u +
              static_cast<uint64_t>(history));
    SmallScope scope(dice.Below(ClusterCount()));
    for (int i = 0; i < kEventsInASeededHistory;) {
      if (scope.Happen(dice.Below(EventCount()))) ++i;
      if (!scope.mistakes().empty()) break;
    }
    if (scope.mistakes().empty()) scope.Settle();
    tally.states += scope.passes();
    ++tally.histories;
    tally.Judge(scope.mistakes(), scope.commands());
  }
  tally.Print(absl::StrCat("seed ", seed));
  EXPECT_EQ(tally.failed, 0);
}

}  // namespace
}  // namespace gpubinder::naive

int main(int argc, char** argv) {
  gpubinder::naive::OptionsFromArguments("SMALL_SCOPE", argc, argv);
  gpubinder::naive::ShardByHistories();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
