// All small clusters and all orders of a few events, each state judged by the
// invariants, the naive model, a replay, and another order of arrival.
//
//   --seed N      replays the seeded part (or SMALL_SCOPE_SEED)
//   --states N    passes of the seeded part (or SMALL_SCOPE_STATES)
//   --depth N     exhaustive depth (or SMALL_SCOPE_DEPTH)
//   --clusters N  every N-th cluster in the exhaustive part
// A failure prints its commands, which are a scenario.

#include "reconciler/naive/small_scope.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace gpubinder::naive {
namespace {

constexpr int kEventsInASeededHistory = 8;
constexpr size_t kMostShown = 8;

int64_t Option(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : fallback;
}

// SplitMix64.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  int Below(int bound) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<int>((z ^ (z >> 31)) % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_;
};

struct Tally {
  int64_t states = 0, histories = 0, failed = 0;
  std::map<std::string, int> kinds;  // of mistakes, with how often

  // Each kind of mistake is shown once, with the commands that lead to it.
  bool Judge(const SmallScope& scope) {
    if (scope.mistakes().empty()) return true;
    ++failed;
    const std::string& first = scope.mistakes().front();
    if (++kinds[first] == 1 && kinds.size() <= kMostShown) {
      ADD_FAILURE() << absl::StrJoin(scope.mistakes(), "\n") << "\nafter:\n"
                    << absl::StrJoin(scope.commands(), "\n");
    }
    return false;
  }
  void Print(const std::string& part) const {
    std::cout << part << ": " << histories << " histories, " << states
              << " passes, " << failed << " with a mistake\n";
    for (const auto& [kind, count] : kinds) {
      std::cout << "  " << count << " x " << kind << "\n";
    }
  }
};

void Explore(const SmallScope& scope, int64_t depth, Tally& tally) {
  if (!tally.Judge(scope)) return;
  if (depth == 0) {
    SmallScope end = scope;
    const int before = end.passes();
    end.Settle();
    tally.states += end.passes() - before;
    ++tally.histories;
    tally.Judge(end);
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
  Tally tally;
  for (int cluster = 0; cluster < ClusterCount();
       cluster += static_cast<int>(step)) {
    Explore(SmallScope(cluster), depth, tally);
  }
  tally.Print(
      absl::StrCat("exhaustive to ", depth, " events, 1 cluster in ", step));
  EXPECT_EQ(tally.failed, 0);
}

TEST(SmallScopeTest, SeededHistoriesAreDecidedAsTheNaiveModelDoes) {
  const int64_t seed = Option("SMALL_SCOPE_SEED", 1);
  const int64_t states = Option("SMALL_SCOPE_STATES", 12000);
  Tally tally;
  for (uint64_t history = 0; tally.states < states; ++history) {
    Dice dice(static_cast<uint64_t>(seed) * 1000003u + history);
    SmallScope scope(dice.Below(ClusterCount()));
    for (int i = 0; i < kEventsInASeededHistory;) {
      if (scope.Happen(dice.Below(EventCount()))) ++i;
      if (!scope.mistakes().empty()) break;
    }
    if (scope.mistakes().empty()) scope.Settle();
    tally.states += scope.passes();
    ++tally.histories;
    tally.Judge(scope);
  }
  tally.Print(absl::StrCat("seed ", seed));
  EXPECT_EQ(tally.failed, 0);
}

}  // namespace
}  // namespace gpubinder::naive

int main(int argc, char** argv) {
  const std::map<std::string, const char*> options = {
      {"--seed", "SMALL_SCOPE_SEED"},
      {"--states", "SMALL_SCOPE_STATES"},
      {"--depth", "SMALL_SCOPE_DEPTH"},
      {"--clusters", "SMALL_SCOPE_CLUSTERS"}};
  for (int i = 1; i + 1 < argc; ++i) {
    auto found = options.find(argv[i]);
    if (found != options.end()) setenv(found->second, argv[i + 1], 1);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
