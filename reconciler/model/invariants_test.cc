// Each invariant has to notice a result that breaks it.

#include "reconciler/model/invariants.h"

#include <string>

#include "gtest/gtest.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/invariants_fixture.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/testing/judge_as.h"

namespace gpubinder {
namespace {

TEST_F(InvariantsTest, OneBindingThatFitsBreaksNone) {
  Bind("x", "a");
  EXPECT_TRUE(BrokenInvariants(snapshot_, result_).empty());
}

TEST_F(InvariantsTest, TwoBindingsForOneRoomBreakC2) {
  Bind("x", "a");
  Bind("y", "a");
  EXPECT_TRUE(Breaks("C2"));
}

TEST_F(InvariantsTest, ANodeThatIsNotReadyBreaksC4) {
  Node node = *snapshot_.nodes().Find("", "a");
  node.meta.resource_version = "2";
  node.conditions[0].status = "False";
  Add(node);
  Bind("x", "a");
  EXPECT_TRUE(Breaks("C4"));
}

TEST_F(InvariantsTest, ACordonedNodeWithATaintBreaksC4) {
  Node node = *snapshot_.nodes().Find("", "a");
  node.meta.resource_version = "2";
  node.unschedulable = true;
  node.taints = {{.key = "soft", .effect = "PreferNoSchedule"}};
  Add(node);
  Bind("x", "a");
  EXPECT_TRUE(Breaks("C4"));
}

// Who follows a pod goes to the pod's node.
TEST_F(InvariantsTest, ANodeThatIsNotThePodsHasToServe) {
  pod_.gates.clear();
  Add(pod_);
  Node node = *snapshot_.nodes().Find("", "a");
  node.meta.resource_version = "2";
  node.unschedulable = true;
  Add(node);
  SetView view = ViewOfWeb(snapshot_);
  view.set.launcher.pod = *snapshot_.pods().FindRow("t", "p");
  view.set.launcher.node = "a";
  result_.sets = {view};
  Bind("x", "a");
  result_.effects[0].set_set_key("t/web");
  EXPECT_FALSE(Breaks("C4"));
  result_.sets[0].set.launcher.node = "b";
  EXPECT_TRUE(Breaks("C4"));
}

TEST_F(InvariantsTest, AWriteToAnObjectBeingDeletedBreaksL6) {
  GpuClaim claim = *snapshot_.claims().Find("t", "x");
  claim.meta.resource_version = "2";
  claim.meta.deleting = absl::FromUnixSeconds(1);
  Add(claim);
  Bind("x", "a");
  EXPECT_TRUE(Breaks("L6"));
}

TEST_F(InvariantsTest, AWriteWithoutVersionBreaksF4) {
  Bind("x", "a");
  result_.effects[0].mutable_target()->clear_resource_version();
  EXPECT_TRUE(Breaks("F4"));
}

TEST_F(InvariantsTest, APodThatNoVmiListsBreaksP5AndAForeignGateP4) {
  Add(pod_);
  Pin();
  EXPECT_TRUE(Breaks("P5"));
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = "web", .uid = "v"};
  vmi.active_pods["p"] = "";
  Add(vmi);
  EXPECT_TRUE(BrokenInvariants(snapshot_, result_).empty());
  pod_.gates.push_back("other.example.org/hold");
  pod_.meta.resource_version = "2";
  Add(pod_);
  EXPECT_TRUE(Breaks("P4"));
}

TEST_F(InvariantsTest, ATextThatIsTooLongOrCutInACharacterBreaksE6) {
  v1::Effect effect =
      EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", "x")->meta);
  v1::SetCondition& write = *effect.mutable_set_condition();
  write.set_reason(v1::NO_NODE_FITS);
  write.set_message("\xe2\x82");
  result_.effects = {effect};
  EXPECT_TRUE(Breaks("E6"));
  result_.effects[0].mutable_set_condition()->set_message(
      std::string(1025, 'x'));
  EXPECT_TRUE(Breaks("E6"));
}

TEST_F(InvariantsTest, TwoNodesForOneSetBreakG4) {
  Bind("x", "a");
  Bind("y", "b");
  for (v1::Effect& effect : result_.effects) effect.set_set_key("t/web");
  EXPECT_TRUE(Breaks("G4"));
}

TEST_F(InvariantsTest, ACallBeforeTheRejectionIsWrittenBreaksR1) {
  SetView view;
  view.set.name_space = "t";
  view.set.name = "web";
  view.set.of_vm = true;
  view.set.members = {*snapshot_.claims().FindRow("t", "x")};
  result_.sets = {view};
  v1::Effect effect = EffectOn(Kind::kPod, pod_.meta);
  effect.mutable_delete_pod();
  effect.set_set_key("t/web");
  result_.effects = {effect};
  EXPECT_TRUE(Breaks("R1"));
}

TEST_F(InvariantsTest, AWriteToAFrozenSetBreaksC10) {
  SetView view;
  view.set.name_space = "t";
  view.set.name = "x";
  view.frozen = true;
  result_.sets = {view};
  Bind("x", "a");
  result_.effects[0].set_set_key("t/claim:x");
  EXPECT_TRUE(Breaks("C10"));
}

TEST_F(InvariantsTest, ANodeMissingFromAnExplanationBreaksE4) {
  SetView view;
  view.verdict.judged = JudgeAs({{.nodes = {"b"}}});
  result_.sets = {view};
  EXPECT_TRUE(Breaks("E4"));
}

TEST_F(InvariantsTest, AWriteToAnythingBeingDeletedBreaksL6) {
  const absl::Time now = absl::FromUnixSeconds(1);
  auto check = [&](auto object) {
    object.meta.name_space =
        KindOf(Object(object)) == Kind::kGpuClass ? "" : "t";
    object.meta.name = "gone";
    object.meta.uid = "gone";
    object.meta.resource_version = "1";
    object.meta.deleting = now;
    Add(object);
    result_.effects = {EffectOn(KindOf(Object(object)), object.meta)};
    EXPECT_TRUE(Breaks("L6")) << KindName(KindOf(Object(object)));
  };
  check(GpuClass{});
  check(GpuClaimSet{});
  check(Pod{});
  check(VirtualMachineInstance{});
}

TEST_F(InvariantsTest, AnEffectWithoutAReasonBreaksE6) {
  result_.effects = {
      EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", "x")->meta)};
  result_.effects[0].mutable_lose_claim();
  EXPECT_TRUE(Breaks("E6"));
}

TEST_F(InvariantsTest, EveryBrokenUtf8BreaksE6) {
  result_.effects = {
      EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", "x")->meta)};
  v1::LoseClaim& write = *result_.effects[0].mutable_lose_claim();
  write.set_reason(v1::NODE_GONE);
  // A byte that only follows; one that does not follow; four bytes, cut.
  for (const char* text : {"\x80", "\xc3(", "\xf0\x9f\x92"}) {
    write.set_message(text);
    EXPECT_TRUE(Breaks("E6")) << text;
  }
  write.set_message("\xc3\xa9 \xf0\x9f\x92\xa9");
  EXPECT_FALSE(Breaks("E6"));
}

TEST_F(InvariantsTest, ABindingOfOrToWhatIsNotThereBreaksC4) {
  Bind("x", "nowhere");
  EXPECT_TRUE(Breaks("C4"));
  Bind("x", "a");
  result_.effects = {result_.effects[1]};
  result_.effects[0].mutable_target()->set_name("nobody");
  EXPECT_TRUE(Breaks("C4"));
  GpuClaim claim = *snapshot_.claims().Find("t", "x");
  claim.meta.resource_version = "2";
  claim.class_name = "ghost";
  Add(claim);
  result_.effects.clear();
  Bind("x", "a");
  EXPECT_TRUE(Breaks("C4"));
}

TEST_F(InvariantsTest, ANodeThatDoesNotServeBreaksC4) {
  Bind("x", "a");
  const Node good = *snapshot_.nodes().Find("", "a");
  int version = 1;
  auto check = [&](Node node, const char* what) {
    node.meta.resource_version = std::to_string(++version);
    Add(node);
    EXPECT_TRUE(Breaks("C4")) << what;
  };
  Node node = good;
  node.conditions.insert(node.conditions.begin(),
                         {.type = "DiskPressure", .status = "True"});
  node.conditions[1].status = "Unknown";
  check(node, "not ready");
  node = good;
  node.meta.deleting = absl::FromUnixSeconds(1);
  check(node, "being deleted");
  node = good;
  node.unschedulable = true;
  check(node, "cordoned");
  node = good;
  node.taints = {{.key = "drain", .effect = "NoSchedule"}};
  check(node, "tainted");
  node.taints = {
      {.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"}};
  check(node, "cordoned by a taint");
  node = good;
  node.allocatable.clear();
  node.meta.resource_version = std::to_string(++version);
  Add(node);
  EXPECT_TRUE(Breaks("C2"));  // no units at all
  GpuClass found = *snapshot_.classes().Find("", "h100");
  found.meta.resource_version = "2";
  found.node_selector = {{"pool", "gpu"}};
  Add(found);
  check(good, "not selected");
}

TEST_F(InvariantsTest, ASetThatStoodOnACordonedNodeMayBeMadeWholeThere) {
  Node node = *snapshot_.nodes().Find("", "a");
  node.meta.resource_version = "2";
  node.unschedulable = true;
  Add(node);
  GpuClaim claim = *snapshot_.claims().Find("t", "y");
  claim.meta.resource_version = "2";
  claim.phase = "Bound";
  claim.node_name = "b";
  Add(claim);
  SetView other = ViewOfWeb(snapshot_);
  other.set.name = "other";
  SetView view = ViewOfWeb(snapshot_);
  view.set.members.push_back(*snapshot_.claims().FindRow("t", "y"));
  result_.sets = {other, view};
  Bind("x", "a");
  result_.effects[0].set_set_key("t/web");
  EXPECT_TRUE(Breaks("C4"));
  claim.meta.resource_version = "3";
  claim.node_name = "a";
  Add(claim);
  EXPECT_FALSE(Breaks("C4"));
}

TEST_F(InvariantsTest, ASetLeftPartlyLostBreaksG1) {
  SetView view = ViewOfWeb(snapshot_);
  view.set.members.push_back(*snapshot_.claims().FindRow("t", "y"));
  for (const char* name : {"x", "y"}) {
    GpuClaim claim = *snapshot_.claims().Find("t", name);
    claim.meta.resource_version = "2";
    claim.phase = "Bound";
    claim.node_name = "a";
    Add(claim);
  }
  result_.sets = {view};
  v1::Effect effect =
      EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", "x")->meta);
  effect.mutable_lose_claim()->set_reason(v1::NODE_GONE);
  result_.effects = {effect};
  EXPECT_TRUE(Breaks("G1"));
  effect.mutable_target()->set_uid("y");
  result_.effects.push_back(effect);
  EXPECT_FALSE(Breaks("G1"));
}

TEST_F(InvariantsTest, WhatIsInFlightCountsForC2) {
  v1::Effect sent =
      EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", "y")->meta);
  sent.mutable_bind_claim()->set_node_name("a");
  sent.mutable_bind_claim()->set_resource_name(kH100);
  snapshot_.in_flight[{7, 0}] = sent;
  Bind("x", "a");
  EXPECT_TRUE(Breaks("C2"));
  // The same claim, on its way to the node where it is bound: once.
  result_.effects.clear();
  Bind("y", "a");
  EXPECT_FALSE(Breaks("C2"));
}

}  // namespace
}  // namespace gpubinder
