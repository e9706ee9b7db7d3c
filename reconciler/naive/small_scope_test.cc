// All small clusters and all orders of a few events, each state judged by the
// invariants, the naive model, a replay, and another order of arrival.
//
//   --seed N      replays the seeded part (or SMALL_SCOPE_SEED)
//   --states N    passes of the seeded part (or SMALL_SCOPE_STATES)
//   --depth N     exhaustive depth (or SMALL_SCOPE_DEPTH), see explorer.h
//   --clusters N  every N-th cluster in the exhaustive part, from --first on
// A failure prints its commands, which are a scenario.

#include "reconciler/naive/small_scope.h"

#include <cstdint>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "reconciler/model/testing/scenario_runner.h"
#include "reconciler/naive/explorer.h"
#include "reconciler/naive/scope_tally.h"

namespace gpubinder::naive {
namespace {

constexpr int kEventsInASeededHistory = 8;

TEST(SmallScopeTest, EveryOrderOfFewEventsIsDecidedAsTheNaiveModelDoes) {
  const int64_t depth = Option("SMALL_SCOPE_DEPTH", 1);
  const int64_t step = Option("SMALL_SCOPE_CLUSTERS", 7);
  const int64_t first = Option("SMALL_SCOPE_FIRST", 0);
  const Shard part = ShardOfTest();
  Tally tally;
  ExplorerCounts counts;
  for (int64_t cluster = first + part.shard * step; cluster < ClusterCount();
       cluster += part.shards * step) {
    const SmallScope start(static_cast<int>(cluster), Replays::kNever);
    Explorer(tally, counts).Explore(start, depth);
  }
  tally.states = counts.passes;
  tally.histories = counts.histories;
  tally.Print(
      absl::StrCat("exhaustive to ", depth, " events, 1 cluster in ", step));
  std::cout << "  " << counts.states << " distinct states after an event, "
            << counts.judged << " distinct ones judged before a pass\n";
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
    // What earlier passes have kept is checked after every record in one
    // history of four, which costs as much as all the rest.
    const Replays replays =
        history / part.shards % 4 == 0 ? Replays::kEachPass : Replays::kNever;
    SmallScope scope(dice.Below(ClusterCount()), replays);
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
