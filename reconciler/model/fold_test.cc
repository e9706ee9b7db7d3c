#include "reconciler/model/fold.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold_fixture.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

TEST_F(FoldTest, IgnoresRepeatedAndOlderVersionsOfAWatch) {
  EXPECT_EQ(See(v1::ObjectEvent::ADDED, Claim("x", "u", "10", "a")),
            Change::kMatters);
  EXPECT_EQ(See(v1::ObjectEvent::ADDED, Claim("x", "u", "10", "a")),
            Change::kNone);
  EXPECT_EQ(See(v1::ObjectEvent::MODIFIED, Claim("x", "u", "9", "b")),
            Change::kNone);
  EXPECT_EQ(Find("x")->node_name, "a");
  EXPECT_EQ(See(v1::ObjectEvent::MODIFIED, Claim("x", "u", "11", "b")),
            Change::kMatters);
  EXPECT_EQ(Find("x")->node_name, "b");
}

TEST_F(FoldTest, ANewVersionThatSaysTheSameIsNoChangeButIsRemembered) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "10", "a"));
  EXPECT_EQ(See(v1::ObjectEvent::MODIFIED, Claim("x", "u", "12", "a")),
            Change::kNone);
  EXPECT_EQ(Find("x")->meta.resource_version, "12");
}

TEST_F(FoldTest, DeletionIsFinalForItsUid) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "10", "a"));
  EXPECT_EQ(See(v1::ObjectEvent::DELETED, Claim("x", "u", "11", "a")),
            Change::kMatters);
  EXPECT_EQ(See(v1::ObjectEvent::ADDED, Claim("x", "u", "12", "a")),
            Change::kNone);
  EXPECT_EQ(Find("x"), nullptr);
  See(v1::ObjectEvent::ADDED, Claim("x", "other", "13", "b"));
  ASSERT_NE(Find("x"), nullptr);
  // The late deletion of the first is not the second's.
  EXPECT_EQ(See(v1::ObjectEvent::DELETED, Claim("x", "u", "11", "a")),
            Change::kNone);
  EXPECT_NE(Find("x"), nullptr);
}

TEST_F(FoldTest, AnotherUidTakesTheNameAndTheFirstIsDead) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "10", "a"));
  See(v1::ObjectEvent::ADDED, Claim("x", "other", "12", "b"));
  EXPECT_EQ(Find("x")->meta.uid, "other");
  EXPECT_EQ(See(v1::ObjectEvent::MODIFIED, Claim("x", "u", "20", "a")),
            Change::kNone);
  EXPECT_EQ(Find("x")->node_name, "b");
}

TEST_F(FoldTest, CompleteListReplacesItsKindWithLowerVersionsToo) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "100", "a"));
  See(v1::ObjectEvent::ADDED, Claim("y", "v", "101", "a"));
  Begin(Kind::kGpuClaim);
  See(v1::ObjectEvent::LISTED, Claim("x", "u", "7", "b"));
  EXPECT_NE(Find("y"), nullptr) << "half a list says nothing is gone";
  EXPECT_EQ(End(Kind::kGpuClaim), Change::kMatters);
  EXPECT_EQ(Find("x")->node_name, "b");
  EXPECT_EQ(Find("y"), nullptr);
}

TEST_F(FoldTest, AListThatNeverEndedDoesNotCount) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "100", "a"));
  Begin(Kind::kGpuClaim);
  Begin(Kind::kGpuClaim);
  See(v1::ObjectEvent::LISTED, Claim("x", "u", "100", "a"));
  EXPECT_FALSE(snapshot_.kinds[static_cast<size_t>(Kind::kGpuClaim)].listed);
  End(Kind::kGpuClaim);
  EXPECT_TRUE(snapshot_.kinds[static_cast<size_t>(Kind::kGpuClaim)].listed);
  EXPECT_NE(Find("x"), nullptr);
}

TEST_F(FoldTest, AnAnswerDuringAListOutlivesTheListsOlderState) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "100", "a"));
  Begin(Kind::kGpuClaim);
  Answer(v1::Outcome::APPLIED, Claim("x", "u", "110", "b"));
  See(v1::ObjectEvent::LISTED, Claim("x", "u", "105", "a"));
  EXPECT_EQ(Find("x")->node_name, "b");
  // One that a write of ours made is not in the list that began before.
  Answer(v1::Outcome::APPLIED, Claim("made", "w", "111", "b"));
  End(Kind::kGpuClaim);
  EXPECT_EQ(Find("x")->node_name, "b");
  EXPECT_NE(Find("made"), nullptr);
}

TEST_F(FoldTest, AKindThatWasListedKeepsItsContentUntilAListSaysOtherwise) {
  Begin(Kind::kGpuClaim);
  See(v1::ObjectEvent::LISTED, Claim("x", "u", "100", "a"));
  End(Kind::kGpuClaim);
  EXPECT_TRUE(snapshot_.MayWrite(Kind::kGpuClaim));
  EXPECT_EQ(Serve(Kind::kGpuClaim, false), Change::kNone);
  EXPECT_NE(Find("x"), nullptr);
  // Nothing is made of it until it is listed again.
  EXPECT_FALSE(snapshot_.MayWrite(Kind::kGpuClaim));
  Serve(Kind::kGpuClaim, true);
  EXPECT_FALSE(snapshot_.MayWrite(Kind::kGpuClaim));
  Begin(Kind::kGpuClaim);
  EXPECT_EQ(End(Kind::kGpuClaim), Change::kMatters);
  EXPECT_TRUE(snapshot_.MayWrite(Kind::kGpuClaim));
  EXPECT_EQ(Find("x"), nullptr);
  EXPECT_EQ(snapshot_.claim_columns.units[0], 0);
  EXPECT_EQ(snapshot_.claim_columns.phase[0], Phase::kPending);
}

TEST_F(FoldTest, BeforeItsFirstListAKindIsServedOrNotAsRecordsSay) {
  EXPECT_FALSE(snapshot_.Serves(Kind::kSchedulingClass));
  EXPECT_EQ(Serve(Kind::kSchedulingClass, true), Change::kMatters);
  EXPECT_TRUE(snapshot_.Serves(Kind::kSchedulingClass));
  EXPECT_EQ(Serve(Kind::kSchedulingClass, true), Change::kNone);
  EXPECT_EQ(Serve(Kind::kSchedulingClass, false), Change::kMatters);
  EXPECT_FALSE(snapshot_.Serves(Kind::kSchedulingClass));
}

TEST_F(FoldTest, AMalformedBoundClaimHoldsSixtyFourUnits) {
  GpuClaim claim = Claim("x", "u", "1", "a");
  claim.units = 3;
  claim.meta.problems = {{.field = "spec.count", .message = "no number"}};
  See(v1::ObjectEvent::ADDED, claim);
  EXPECT_EQ(snapshot_.claim_columns.units[0], 64);
}

TEST_F(FoldTest, UnknownKindsAndMissingObjectsAreNoChange) {
  v1::Record record;
  record.mutable_object()->set_kind("Gadget");
  record.mutable_object()->set_type(v1::ObjectEvent::ADDED);
  EXPECT_EQ(Tell(record), Change::kNone);
  record.mutable_object()->set_kind("GPUClaim");
  EXPECT_EQ(Tell(record), Change::kNone);
  // An object that is not of the kind the event names.
  EXPECT_EQ(Tell(record, Object(Node{})), Change::kNone);
}

TEST_F(FoldTest, OnlyALeadersDecisionIsAssumedAndAnUnknownOutcomeKeepsIt) {
  v1::Record record;
  record.mutable_decision()->add_effects()->mutable_bind_claim();
  record.set_role(v1::SHADOW);
  Tell(record);
  EXPECT_TRUE(snapshot_.in_flight.empty());
  record.set_role(v1::LEADER);
  Tell(record);
  const uint64_t decision = sequence_;
  ASSERT_EQ(snapshot_.in_flight.size(), 1u);
  v1::Record outcome;
  outcome.mutable_outcome()->set_decision(decision);
  outcome.mutable_outcome()->set_kind(v1::Outcome::UNKNOWN);
  Tell(outcome);
  EXPECT_EQ(snapshot_.in_flight.size(), 1u);
  outcome.mutable_outcome()->set_kind(v1::Outcome::READ_BACK);
  EXPECT_EQ(Tell(outcome), Change::kMatters);
  EXPECT_TRUE(snapshot_.in_flight.empty());
}

TEST_F(FoldTest, WhatTheServerSaidOfAPinIsCutAtAWholeCharacter) {
  RefusePin("p1", 403, std::string(199, 'x') + "\xc3\xa9");
  EXPECT_EQ(snapshot_.refused_pins.at("p1").message, std::string(199, 'x'));
}

// As after a restore, or against a cluster that began anew.
TEST_F(FoldTest, AnObjectWithAnothersUidIsFoundByItWhenTheOtherIsGone) {
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "9", "a"));
  Begin(Kind::kGpuClaim);
  See(v1::ObjectEvent::LISTED, Claim("y", "u", "1", "b"));
  End(Kind::kGpuClaim);
  ASSERT_TRUE(snapshot_.claims().FindUid("u").has_value());
  EXPECT_EQ(snapshot_.claims()[*snapshot_.claims().FindUid("u")].meta.name,
            "y");
}

TEST_F(FoldTest, SchedulersRefusalStandsFromTheFirstRecordThatShowsIt) {
  Pod pod;
  pod.meta = {.name_space = "t", .name = "p", .uid = "p1"};
  pod.conditions = {{.type = "PodScheduled",
                     .status = "False",
                     .reason = "Unschedulable",
                     .message = "0/1 nodes: 1 Insufficient cpu. more"}};
  See(v1::ObjectEvent::ADDED, pod);
  const absl::Time first = now_;
  now_ += absl::Seconds(5);
  pod.meta.resource_version = "2";
  pod.meta.labels["changed"] = "yes";
  See(v1::ObjectEvent::MODIFIED, pod);
  EXPECT_EQ(snapshot_.refused_since.at("p1"), first);
  pod.meta.resource_version = "3";
  pod.node_name = "a";
  See(v1::ObjectEvent::MODIFIED, pod);
  EXPECT_TRUE(snapshot_.refused_since.empty());
}

TEST_F(FoldTest, AnAbsentNodesGraceCountsFromTheFirstRecordThatShowsIt) {
  Begin(Kind::kNode);
  End(Kind::kNode);
  const absl::Time first = now_;
  See(v1::ObjectEvent::ADDED, Claim("x", "u", "1", "a"));
  now_ += absl::Seconds(5);
  See(v1::ObjectEvent::MODIFIED, Claim("y", "v", "2", "a"));
  EXPECT_EQ(snapshot_.gone_since.at("a"), first);
  Node node;
  node.meta = {.name = "a", .uid = "n"};
  See(v1::ObjectEvent::ADDED, node);
  EXPECT_TRUE(snapshot_.gone_since.empty());
}

TEST(IsOlderVersionTest, ComparesDecimalsOfAnyLength) {
  EXPECT_TRUE(IsOlderVersion("9", "10"));
  EXPECT_FALSE(IsOlderVersion("10", "9"));
  EXPECT_FALSE(IsOlderVersion("10", "10"));
  EXPECT_TRUE(IsOlderVersion("", "1"));
  EXPECT_TRUE(IsOlderVersion("99999999999999999999", "100000000000000000000"));
}

}  // namespace
}  // namespace gpubinder
