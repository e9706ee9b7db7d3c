#include "reconciler/naive/text.h"

#include "gtest/gtest.h"

namespace gpubinder::naive {
namespace {

TEST(NaiveTextTest, UnitsAreWhole) {
  EXPECT_EQ(WholeUnits("4", Part::kDropped), 4);
  EXPECT_EQ(WholeUnits("3900m", Part::kDropped), 3);
  EXPECT_EQ(WholeUnits("3900m", Part::kCounts), 4);
  EXPECT_EQ(WholeUnits("1.5Ki", Part::kDropped), 1536);
  EXPECT_EQ(WholeUnits("2e3", Part::kDropped), 2000);
  EXPECT_EQ(WholeUnits("1E", Part::kDropped), 1000000000000000000);
  EXPECT_EQ(WholeUnits("0.0000000001", Part::kCounts), 1);
  EXPECT_EQ(WholeUnits("-3", Part::kDropped), std::nullopt);
  EXPECT_EQ(WholeUnits("9223372036854775808", Part::kDropped), std::nullopt);
  EXPECT_EQ(WholeUnits("four", Part::kDropped), std::nullopt);
}

TEST(NaiveTextTest, TermsAreOredAndEmptyOnesMatchNothing) {
  const StringMap labels = {{"zone", "a"}, {"disks", "3"}};
  auto selects = [&](std::vector<SelectorTerm> terms) {
    return Selects({.terms = std::move(terms)}, labels, "n");
  };
  const Requirement zone{.key = "zone", .op = "In", .values = {"a"}};
  const Requirement other{.key = "zone", .op = "NotIn", .values = {"a"}};
  EXPECT_FALSE(selects({}));
  EXPECT_FALSE(selects({{}}));
  EXPECT_TRUE(selects({{.expressions = {other}}, {.expressions = {zone}}}));
  EXPECT_FALSE(selects({{.expressions = {zone, other}}}));
  EXPECT_TRUE(selects(
      {{.expressions = {{.key = "disks", .op = "Gt", .values = {"2"}}}}}));
  EXPECT_TRUE(
      selects({{.expressions = {{.key = "none", .op = "DoesNotExist"}}}}));
  EXPECT_TRUE(selects({{.fields = {{"metadata.name", "In", {"n"}}}}}));
  EXPECT_FALSE(selects({{.fields = {{"metadata.name", "NotIn", {"n"}}}}}));
}

TEST(NaiveTextTest, DigestsAreThoseOfSha256) {
  // FIPS 180-2: SHA-256("abc") begins ba7816bf 8f01cfea.
  EXPECT_EQ(ShortDigest("abc"), "ba7816bf8f01cfea");
  EXPECT_EQ(ShorterDigest("abc"), "ba7816bf");
}

}  // namespace
}  // namespace gpubinder::naive
