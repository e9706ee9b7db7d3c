#include "reconciler/model/string_map.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

using Entries = std::vector<StringMap::value_type>;
using Views = std::vector<StringMap::View>;

Entries EntriesOf(const StringMap& map) { return {map.begin(), map.end()}; }

TEST(StringMapTest, IsInTheOrderOfKeysHoweverItWasFilled) {
  StringMap map = {{"b", "2"}, {"c", "3"}, {"a", "1"}};
  map["aa"] = "4";
  map.insert_or_assign("0", "5");
  EXPECT_EQ(
      EntriesOf(map),
      (Entries{{"0", "5"}, {"a", "1"}, {"aa", "4"}, {"b", "2"}, {"c", "3"}}));
}

TEST(StringMapTest, FindsWhatIsThereAndNothingElse) {
  const StringMap map = {{"a", "1"}, {"c", "3"}};
  EXPECT_EQ(map.find("c")->second, "3");
  EXPECT_EQ(map.find("b"), map.end());
  EXPECT_EQ(map.find("d"), map.end());
  EXPECT_FALSE(map.contains(""));
  EXPECT_EQ(map.at("a"), "1");
}

TEST(StringMapTest, EmplaceKeepsAndAssignReplaces) {
  StringMap map = {{"a", "1"}};
  map.emplace("a", "2");
  EXPECT_EQ(map.at("a"), "1");
  map.insert_or_assign("a", "3");
  EXPECT_EQ(map.at("a"), "3");
  EXPECT_EQ(map.size(), 1u);
}

TEST(StringMapTest, EraseSaysWhetherItWasThere) {
  StringMap map = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(map.erase("a"), 1u);
  EXPECT_EQ(map.erase("a"), 0u);
  EXPECT_EQ(map.erase("z"), 0u);
  EXPECT_EQ(map, (StringMap{{"b", "2"}}));
}

TEST(StringMapTest, OfManyEntriesTheLastOfAKeyStays) {
  StringMap few = {{"b", "old"}};
  Views added = {{"c", "1"}, {"b", "2"}, {"a", "3"}, {"b", "4"}};
  few.InsertOrAssign(absl::MakeSpan(added));
  EXPECT_EQ(EntriesOf(few), (Entries{{"a", "3"}, {"b", "4"}, {"c", "1"}}));
  Views more = {{"bb", "5"}, {"c", "6"}};
  few.InsertOrAssign(absl::MakeSpan(more));
  EXPECT_EQ(EntriesOf(few),
            (Entries{{"a", "3"}, {"b", "4"}, {"bb", "5"}, {"c", "6"}}));
  few.InsertOrAssign({});
  EXPECT_EQ(few.size(), 4u);

  // More than are sorted in place: each of 40 keys twice, from the back.
  Entries entries;
  for (const char* text : {"first", "second"}) {
    for (char c = '!' + 39; c >= '!'; --c) {
      entries.emplace_back(std::string(1, c), text);
    }
  }
  Views views(entries.begin(), entries.end());
  StringMap many;
  many.InsertOrAssign(absl::MakeSpan(views));
  ASSERT_EQ(many.size(), 40u);
  EXPECT_EQ(many.begin()->first, "!");
  for (const auto& [key, value] : many) EXPECT_EQ(value, "second");
}

}  // namespace
}  // namespace gpubinder
