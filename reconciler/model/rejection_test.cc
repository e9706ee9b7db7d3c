#include "reconciler/model/rejection.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(10000);

RejectedNode Entry(const std::string& node, int minutes_ago,
                   int minutes_to_go) {
  return {.node_name = node,
          .pod_uid = absl::StrCat("pod-", node),
          .rejected_at = kNow - absl::Minutes(minutes_ago),
          .until = kNow + absl::Minutes(minutes_to_go)};
}

TEST(WithRejectionTest, ExtendsTheOthersAndDropsWhatHasLapsed) {
  const std::vector<RejectedNode> list =
      WithRejection({Entry("lapsed", 20, 0), Entry("live", 5, 5)},
                    Entry("fresh", 0, 10), Snapshot(), kNow);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].node_name, "live");
  EXPECT_EQ(list[0].until, kNow + absl::Minutes(10));
  EXPECT_EQ(list[1].node_name, "fresh");
}

TEST(WithRejectionTest, NeverShortensALongerEntry) {
  const std::vector<RejectedNode> list = WithRejection(
      {Entry("live", 5, 30)}, Entry("fresh", 0, 10), Snapshot(), kNow);
  EXPECT_EQ(list[0].until, kNow + absl::Minutes(30));
}

TEST(WithRejectionTest, ReplacesTheOlderEntryOfTheSameNode) {
  const std::vector<RejectedNode> list =
      WithRejection({Entry("a", 5, 5)}, Entry("a", 0, 10), Snapshot(), kNow);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].rejected_at, kNow);
}

TEST(WithRejectionTest, KeepsSixtyFourAndTheOldestLapseFirst) {
  std::vector<RejectedNode> entries;
  for (int i = 0; i < 70; ++i) {
    entries.push_back(Entry(absl::StrCat("n", 100 + i), 70 - i, 5));
  }
  const std::vector<RejectedNode> list =
      WithRejection(entries, Entry("fresh", 0, 10), Snapshot(), kNow);
  ASSERT_EQ(list.size(), 64u);
  EXPECT_EQ(list.front().node_name, "n107");
  EXPECT_EQ(list.back().node_name, "fresh");
}

TEST(StillRejectsTest, LooksAtNameUidAndFingerprint) {
  Node node;
  node.meta = {.name = "a", .uid = "u1"};
  node.allocatable["nvidia.com/H100"] = "2";
  RejectedNode entry{
      .node_name = "a", .node_uid = "u1", .resources = {"nvidia.com/H100"}};
  entry.fingerprint = NodeFingerprint(node, entry.resources);
  EXPECT_TRUE(StillRejects(entry, node));
  node.meta.labels["x"] = "y";
  EXPECT_TRUE(StillRejects(entry, node));
  node.allocatable["nvidia.com/H100"] = "3";
  EXPECT_FALSE(StillRejects(entry, node));
  entry.fingerprint.clear();
  EXPECT_TRUE(StillRejects(entry, node));
  node.meta.uid = "u2";
  EXPECT_FALSE(StillRejects(entry, node));
  node.meta.name = "b";
  entry.node_uid.clear();
  EXPECT_FALSE(StillRejects(entry, node));
}

TEST(WithRejectionTest, AnEntryOfANodeThatIsAnotherNowIsDropped) {
  Snapshot snapshot;
  Node node;
  node.meta = {.name = "a", .uid = "u2"};
  v1::Record record;
  record.mutable_object()->set_type(v1::ObjectEvent::ADDED);
  record.mutable_object()->set_kind("Node");
  Fold(record, node, snapshot);
  RejectedNode old = Entry("a", 0, 100);
  old.node_uid = "u1";
  const std::vector<RejectedNode> entries = WithRejection(
      {old}, Entry("b", 10, 110), snapshot, absl::FromUnixSeconds(10));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].node_name, "b");
}

TEST(HasRejectionOfTest, GoesByThePod) {
  EXPECT_TRUE(HasRejectionOf({Entry("a", 0, 1)}, "pod-a"));
  EXPECT_FALSE(HasRejectionOf({Entry("a", 0, 1)}, "pod-b"));
}

}  // namespace
}  // namespace gpubinder
