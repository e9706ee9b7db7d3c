// Seeded histories of larger clusters, each pass judged by the invariants, the
// naive model, a replay, and another order of arrival.
//
//   --seed N       the first history's seed (or LARGE_SCOPE_SEED)
//   --histories N  how many (or LARGE_SCOPE_HISTORIES)
//   --events N     of each (or LARGE_SCOPE_EVENTS)
// History i of seed s is history 0 of seed s + i. A failure prints its
// commands, which are a scenario.

#include "reconciler/naive/large_scope.h"

#include <cstdint>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "reconciler/naive/scope_tally.h"

namespace gpubinder::naive {
namespace {

TEST(LargeScopeTest, SeededHistoriesAreDecidedAsTheNaiveModelDoes) {
  const int64_t seed = Option("LARGE_SCOPE_SEED", 1);
  const int64_t histories = Option("LARGE_SCOPE_HISTORIES", 100);
  const int64_t events = Option("LARGE_SCOPE_EVENTS", 100);
  const Shard part = ShardOfTest();
  Tally tally;
  for (int64_t i = part.shard; i < histories; i += part.shards) {
    LargeScope scope(Dice(static_cast<uint64_t>(seed + i)));
    for (int64_t event = 0; event < events && scope.mistakes().empty();
         ++event) {
      scope.Happen();
    }
    if (scope.mistakes().empty()) scope.Settle();
    tally.states += scope.passes();
    ++tally.histories;
    if (!tally.Judge(scope.mistakes(), scope.commands())) {
      std::cout << "the history of seed " << seed + i << "\n";
    }
  }
  tally.Print(absl::StrCat("seeds from ", seed));
  EXPECT_EQ(tally.failed, 0);
}

}  // namespace
}  // namespace gpubinder::naive

int main(int argc, char** argv) {
  gpubinder::naive::OptionsFromArguments("LARGE_SCOPE", argc, argv);
  gpubinder::naive::ShardByHistories();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
