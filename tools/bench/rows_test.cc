// Every row runs at its small size: what is checked before timing must be
// right, and the lines must hold what their readers look for. No figure is
// asserted: a busy machine gives any.

#include "tools/bench/rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace gpubinder::bench {
namespace {

using Json = nlohmann::json;

std::vector<Json> LinesOf(absl::string_view name) {
  std::vector<Json> lines;
  for (const Row& row : Rows()) {
    if (row.name != name) continue;
    const RowOptions options = {.seed = 7, .directory = ::testing::TempDir()};
    const absl::Status status = row.run(options, [&](const RowResult& result) {
      lines.push_back(Json::parse(JsonLine(row, options, result)));
    });
    EXPECT_TRUE(status.ok()) << row.name << ": " << status;
  }
  return lines;
}

// The lines of the row by their variants, all of them whole.
std::vector<std::string> VariantsOf(absl::string_view name) {
  std::vector<std::string> variants;
  for (const Json& line : LinesOf(name)) {
    EXPECT_EQ(line.at("row"), std::string(name));
    EXPECT_EQ(line.at("seed"), 7);
    EXPECT_EQ(line.at("size"), "small");
    EXPECT_FALSE(line.at("sizes").empty());
    for (const char* side : {"ours", "theirs"}) {
      EXPECT_LE(line.at(side).at("min"), line.at(side).at("median"));
      EXPECT_LE(line.at(side).at("median"), line.at(side).at("max"));
      EXPECT_TRUE(line.at(side).contains("cpu_seconds"));
    }
    EXPECT_TRUE(line.at("ratio").at("median").is_number());
    EXPECT_GT(line.at("peak_memory_bytes"), 0);
    EXPECT_NE(line.at("checked"), "");
    variants.push_back(line.value("variant", ""));
  }
  return variants;
}

using Words = std::vector<std::string>;

TEST(Rows, AppendIsMeasuredWithAndWithoutSync) {
  EXPECT_EQ(VariantsOf("a1"), (Words{"no sync", "sync"}));
}

TEST(Rows, ReplayIsOneLine) { EXPECT_EQ(VariantsOf("b1"), (Words{""})); }

TEST(Rows, FullPassIsOneLine) { EXPECT_EQ(VariantsOf("d1"), (Words{""})); }

TEST(Rows, GrowthIsOneLine) { EXPECT_EQ(VariantsOf("d2"), (Words{""})); }

TEST(Rows, BothReferencesAreRun) {
  EXPECT_EQ(VariantsOf("d3"), (Words{"string maps", "naive model"}));
}

TEST(Rows, WaitingSetsAreMeasuredForEachNumberOfSelectors) {
  EXPECT_EQ(VariantsOf("d4"),
            (Words{"1 selector variants", "50 selector variants",
                   "5000 selector variants",
                   "50 selector variants, a node changes before each pass"}));
}

TEST(Rows, EachKindOfEventIsMeasured) {
  EXPECT_EQ(
      VariantsOf("d5"),
      (Words{"claim created", "node allocatable changed", "pod updated"}));
}

TEST(Bars, HoldOnTheRightSide) {
  const Row at_most = {.bound = Bound::kAtMost};
  EXPECT_TRUE(Holds(at_most, 0.9, 0.9));
  EXPECT_FALSE(Holds(at_most, 0.9, 0.91));
  const Row at_least = {.bound = Bound::kAtLeast};
  EXPECT_TRUE(Holds(at_least, 0.7, 0.7));
  EXPECT_FALSE(Holds(at_least, 0.7, 0.69));
}

TEST(JsonLine, JudgesByTheValueAndNotByTheRatio) {
  const Row row = {.name = "x", .floor = 2, .ambitious = 1};
  RowResult result{.value = 1.5};
  const Json line = Json::parse(JsonLine(row, {}, result));
  EXPECT_EQ(line.at("floor").at("holds"), true);
  EXPECT_EQ(line.at("ambitious").at("holds"), false);
}

TEST(JsonLine, SaysNothingOfBarsThatAreNotJudged) {
  const Row row = {.name = "x", .floor = 2, .ambitious = 1};
  RowResult result{.value = 1.5, .judged = false};
  const Json line = Json::parse(JsonLine(row, {}, result));
  EXPECT_FALSE(line.at("floor").contains("holds"));
}

}  // namespace
}  // namespace gpubinder::bench
