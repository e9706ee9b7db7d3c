// What the fold makes of records that say little, or the same in another way.

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold_fixture.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

TEST_F(FoldTest, AListMayShowAnotherObjectOfANameWithALowerVersion) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "9", "a"));
  Begin(Kind::kGpuClaim);
  See(v1::ObjectEvent::LISTED, Claim("x", "other", "1", "b"));
  End(Kind::kGpuClaim);
  EXPECT_EQ(Find("x")->meta.uid, "other");
}

TEST_F(FoldTest, WhatIsNotThereIsNotDeletedAndADeletionNeedsNoLastState) {
  EXPECT_EQ(See(v1::ObjectEvent::DELETED, Claim("x", "u", "9", "a")),
            Change::kNone);
  See(v1::ObjectEvent::ADDED, Claim("y", "v", "9", "a"));
  v1::Record record;
  *record.mutable_object() =
      Event(v1::ObjectEvent::DELETED, Claim("y", "v", "10", "a"));
  EXPECT_EQ(Tell(record), Change::kMatters);
  EXPECT_EQ(Find("y"), nullptr);
}

TEST_F(FoldTest, ListsOfUnknownKindsAndEndsWithoutABeginningAreNoChange) {
  v1::Record record;
  record.mutable_list_began()->set_kind("Gadget");
  EXPECT_EQ(Tell(record), Change::kNone);
  record.mutable_list_ended()->set_kind("Gadget");
  EXPECT_EQ(Tell(record), Change::kNone);
  record.mutable_kind_served()->set_kind("Gadget");
  EXPECT_EQ(Tell(record), Change::kNone);
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "9", "a"));
  EXPECT_EQ(End(Kind::kGpuClaim), Change::kNone);
  EXPECT_NE(Find("x"), nullptr);
}

TEST_F(FoldTest, OnlyATimerOfTheRecordsWithoutObjectsAsksForAPass) {
  v1::Record record;
  EXPECT_EQ(Tell(record), Change::kNone);
  record.mutable_note();
  EXPECT_EQ(Tell(record), Change::kNone);
  record.mutable_timer_fired();
  EXPECT_EQ(Tell(record), Change::kMatters);
}

// What is no word on the pin itself is sent again.
TEST_F(FoldTest, APinIsRefusedForGoodByA4xxAlone) {
  for (const int code : {0, 409, 429, 500, 422}) {
    RefusePin("p1", code, "");
    EXPECT_EQ(snapshot_.refused_pins.contains("p1"), code == 422) << code;
  }
}

TEST_F(FoldTest, ABoundClaimWithoutANodeIsPending) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "1", ""));
  EXPECT_EQ(snapshot_.claim_columns.phase[0], Phase::kPending);
}

TEST_F(FoldTest, TheHighestEpochOfAnyObjectIsKept) {
  GpuClaim claim = Claim("x", "u", "1", "a");
  claim.decision = DecisionKey{.epoch = 7};
  See(v1::ObjectEvent::ADDED, claim);
  claim.decision = DecisionKey{.epoch = 5};
  claim.meta.resource_version = "2";
  See(v1::ObjectEvent::MODIFIED, claim);
  EXPECT_EQ(snapshot_.highest_epoch, 7u);
}

TEST_F(FoldTest, ANodesSilenceCountsFromItsFirstRecordWhereItTellsNoTime) {
  Node node;
  node.meta = {.name = "a", .uid = "n", .resource_version = "1"};
  node.meta.annotations[kKubeVirtHeartbeat] = "yesterday";
  node.allocatable = {{"cpu", "4"}, {"nvidia.com/H100", "2"}};
  See(v1::ObjectEvent::ADDED, node);
  EXPECT_EQ(snapshot_.not_ready.at("a").since(), now_);
  EXPECT_TRUE(snapshot_.kubevirt_silent.empty());
  ASSERT_EQ(snapshot_.node_columns.resources[0].size(), 1u);
  EXPECT_EQ(snapshot_.node_columns.resources[0][0].allocatable, 2);
}

// Before a complete list nobody knows when it was asked for.
TEST_F(FoldTest, AnEndingCountsFromItsRecordOnceTheSetsAreListed) {
  GpuClaimSet set{.ended_vmi = "v1"};
  set.meta = {
      .name_space = "t", .name = "web", .uid = "s", .resource_version = "1"};
  Begin(Kind::kGpuClaimSet);
  See(v1::ObjectEvent::LISTED, set);
  End(Kind::kGpuClaimSet);
  EXPECT_TRUE(snapshot_.endings.empty());
  set.node_name = "a";
  set.meta.resource_version = "2";
  See(v1::ObjectEvent::MODIFIED, set);
  EXPECT_TRUE(snapshot_.endings.empty());
  set.ended_vmi = "v2";
  set.meta.resource_version = "3";
  See(v1::ObjectEvent::MODIFIED, set);
  EXPECT_EQ(snapshot_.endings.at("v2"), now_);
  set.ended_vmi = "v3";
  set.meta.resource_version = "4";
  See(v1::ObjectEvent::MODIFIED, set);
  EXPECT_EQ(snapshot_.endings.size(), 2u);
}

// A recorded refusal of a VMI that is not there is settled, but not while the
// VMIs are not all known.
TEST_F(FoldTest, ARefusalIsKeptUntilTheVmisAreListedOrNoneAreServed) {
  Pod pod;
  pod.meta = {.name_space = "t", .name = "p", .uid = "p1"};
  pod.meta.owners = {{.kind = "VirtualMachineInstance",
                      .name = "web",
                      .uid = "v",
                      .controller = true}};
  pod.phase = "Failed";
  pod.reason = "OutOfcpu";
  pod.node_name = "a";
  snapshot_.listed_by["p1"] = "v";
  Serve(Kind::kVirtualMachineInstance, true);
  See(v1::ObjectEvent::ADDED, pod);
  GpuClaimSet set{.rejected_nodes = {{.pod_uid = "p1"}}};
  set.meta = {.name_space = "t", .name = "web", .uid = "s"};
  See(v1::ObjectEvent::ADDED, set);
  EXPECT_TRUE(snapshot_.kubelet_refusals.at("p1").recorded);
  Serve(Kind::kVirtualMachineInstance, false);
  EXPECT_TRUE(snapshot_.kubelet_refusals.empty());
}

}  // namespace
}  // namespace gpubinder
