#include "reconciler/model/table.h"

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

Pod PodOf(absl::string_view name, absl::string_view uid) {
  Pod pod;
  pod.meta.name = std::string(name);
  pod.meta.uid = std::string(uid);
  return pod;
}

// A backup that was restored twice: two objects, one uid.
TEST(TableTest, AUidIsThatOfTheObjectThatCameWithItLast) {
  Table<Pod> table;
  const Row a = table.Put(PodOf("a", "u"));
  const Row b = table.Put(PodOf("b", "u"));
  EXPECT_EQ(table.FindUid("u"), b);
  // A change of the first, whose uid is as it was.
  EXPECT_EQ(table.Put(PodOf("a", "u")), a);
  EXPECT_EQ(table.FindUid("u"), a);
  EXPECT_EQ(table.Put(PodOf("a", "u")), a);
  EXPECT_EQ(table.FindUid("u"), a);
  table.Erase(a);
  EXPECT_EQ(table.FindUid("u"), std::nullopt);
  EXPECT_EQ(table.Put(PodOf("b", "u")), b);
  EXPECT_EQ(table.FindUid("u"), b);
}

TEST(TableTest, AnObjectMadeAnewHasItsNewUidAlone) {
  Table<Pod> table;
  const Row row = table.Put(PodOf("a", "old"));
  EXPECT_EQ(table.Put(PodOf("a", "new")), row);
  EXPECT_EQ(table.FindUid("old"), std::nullopt);
  EXPECT_EQ(table.FindUid("new"), row);
}

TEST(TableTest, ARowThatIsUsedAgainHasNothingOfTheObjectBefore) {
  Table<Pod> table;
  const Row row = table.Put(PodOf("a", "u"));
  table.Erase(row);
  EXPECT_EQ(table.Put(PodOf("b", "v")), row);
  EXPECT_EQ(table.FindUid("u"), std::nullopt);
  EXPECT_EQ(table.FindUid("v"), row);
  EXPECT_EQ(table.FindRow("", "a"), std::nullopt);
  EXPECT_EQ(table.FindRow("", "b"), row);
}

TEST(TableTest, HoldsNothingBehindItsEnd) {
  Table<Node> nodes;
  EXPECT_FALSE(nodes.Holds(0));
}

}  // namespace
}  // namespace gpubinder
