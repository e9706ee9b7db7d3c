#include "tools/bench/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubinder::bench {
namespace {

TEST(SpreadOf, TakesTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  const Spread odd = SpreadOf({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.minimum, 1);
  EXPECT_EQ(odd.maximum, 3);
  EXPECT_EQ(SpreadOf({4, 1, 2, 9}).median, 3);
}

TEST(GrowthExponent, OfAPowerIsThePower) {
  EXPECT_NEAR(GrowthExponent({{1, 5}, {10, 500}, {100, 50000}}), 2, 1e-9);
  EXPECT_NEAR(GrowthExponent({{5, 5}, {50, 50}}), 1, 1e-9);
}

// A side that writes down its turn and answers a fixed time.
Side Noting(const std::string& name, double seconds, std::string& turns) {
  return {.what = name, .run = [=, &turns] {
            turns += name;
            return Sample{.seconds = seconds};
          }};
}

TEST(Compare, RunsEachSideOnceUntimedThenInTurn) {
  std::string turns;
  const Comparison c =
      Compare(Noting("A", 1, turns), Noting("B", 4, turns), {.pairs = 3});
  EXPECT_EQ(turns, "ABABBAAB");
  EXPECT_EQ(c.pairs, 3);
  EXPECT_EQ(c.ratio.median, 0.25);
  EXPECT_EQ(c.theirs.seconds.maximum, 4);
}

TEST(Compare, KeepsOursFirstWhenAsked) {
  std::string turns;
  CompareCold(Noting("A", 1, turns), Noting("B", 1, turns),
              {.pairs = 2, .order = Order::kOursFirst});
  EXPECT_EQ(turns, "ABAB");
}

TEST(Compare, TakesTheMedianOfThePairsRatios) {
  int run = 0;
  const std::vector<double> times = {2, 6, 100};
  const Side growing = {.what = "A",
                        .run = [&] { return Sample{.seconds = times[run++]}; }};
  const Side steady = {.what = "B", .run = [] { return Sample{.seconds = 2}; }};
  EXPECT_EQ(CompareCold(growing, steady, {.pairs = 3}).ratio.median, 3);
}

TEST(Memory, IsMeasured) {
  EXPECT_GT(MemoryBytes(), 0);
  EXPECT_GE(PeakMemoryBytes(), MemoryBytes() / 2);
}

}  // namespace
}  // namespace gpubinder::bench
