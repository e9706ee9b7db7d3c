// What the tests of small and of large clusters share: options from the
// command line or the environment, dice, and the count of histories with the
// mistakes found.

#ifndef RECONCILER_NAIVE_SCOPE_TALLY_H_
#define RECONCILER_NAIVE_SCOPE_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gpubinder::naive {

// The number in the environment variable, or the fallback.
int64_t Option(const char* name, int64_t fallback);

// Sets the variable PREFIX_NAME for each "--name value" among the arguments.
void OptionsFromArguments(absl::string_view prefix, int argc, char** argv);

// Leaves the sharding of a Bazel test to ShardOfTest: GoogleTest would run
// each test in one shard only. To be called before InitGoogleTest.
void ShardByHistories();

// The part of histories that this shard of a Bazel test runs: every
// `shards`-th, from `shard` on. {0, 1} where there are no shards.
struct Shard {
  int64_t shard = 0, shards = 1;
};
Shard ShardOfTest();

// SplitMix64: the same numbers in every build.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  // 0 to bound - 1; bound is at least 1.
  int Below(int bound);
  bool OneIn(int times) { return Below(times) == 0; }

 private:
  uint64_t state_;
};

// Not thread-safe.
struct Tally {
  int64_t states = 0, histories = 0, failed = 0;
  std::map<std::string, int> kinds;  // of mistakes, with how often

  // A test failure for each kind of mistake, the first eight of them with the
  // commands that lead there. True when there is no mistake.
  bool Judge(const std::vector<std::string>& mistakes,
             const std::vector<std::string>& commands);
  // One line, and one for each kind of mistake.
  void Print(const std::string& part) const;
};

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_SCOPE_TALLY_H_
