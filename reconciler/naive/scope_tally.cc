#include "reconciler/naive/scope_tally.h"

#include <cstdlib>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace gpubinder::naive {
namespace {

constexpr size_t kMostShown = 8;

}  // namespace

int64_t Option(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : fallback;
}

void OptionsFromArguments(absl::string_view prefix, int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    absl::string_view name = argv[i];
    if (!absl::ConsumePrefix(&name, "--")) continue;
    setenv(absl::StrCat(prefix, "_", absl::AsciiStrToUpper(name)).c_str(),
           argv[i + 1], 1);
  }
}

void ShardByHistories() {
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
}

Shard ShardOfTest() {
  // Bazel wants to see that the test knows of its shards.
  if (const char* status = std::getenv("TEST_SHARD_STATUS_FILE")) {
    if (std::FILE* file = std::fopen(status, "w")) std::fclose(file);
  }
  return {.shard = Option("TEST_SHARD_INDEX", 0),
          .shards = Option("TEST_TOTAL_SHARDS", 1)};
}

int Dice::Below(int bound) {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<int>((z ^ (z >> 31)) % static_cast<uint64_t>(bound));
}

bool Tally::Judge(const std::vector<std::string>& mistakes,
                  const std::vector<std::string>& commands) {
  if (mistakes.empty()) return true;
  ++failed;
  const std::string& first = mistakes.front();
  if (++kinds[first] == 1 && kinds.size() <= kMostShown) {
    ADD_FAILURE() << absl::StrJoin(mistakes, "\n") << "\nafter:\n"
                  << absl::StrJoin(commands, "\n");
  }
  return false;
}

void Tally::Print(const std::string& part) const {
  std::cout << part << ": " << histories << " histories, " << states
            << " passes, " << failed << " with a mistake\n";
  for (const auto& [kind, count] : kinds) {
    std::cout << "  " << count << " x " << kind << "\n";
  }
}

}  // namespace gpubinder::naive
