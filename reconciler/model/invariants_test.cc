// Each invariant has to notice a result that breaks it.

#include "reconciler/model/invariants.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/testing/judge_as.h"

namespace gpubinder {
namespace {

constexpr char kH100[] = "nvidia.com/H100";

class InvariantsTest : public testing::Test {
 protected:
  void SetUp() override {
    Node node;
    node.meta = {.name = "a", .uid = "n-a"};
    node.allocatable[kH100] = "2";
    node.conditions = {{.type = "Ready", .status = "True"}};
    Add(node);
    GpuClass found{.resource_name = kH100};
    found.meta = {.name = "h100", .uid = "c"};
    Add(found);
    for (const char* name : {"x", "y"}) {
      GpuClaim claim{.class_name = "h100", .units = 2};
      claim.meta = {.name_space = "t",
                    .name = name,
                    .uid = name,
                    .resource_version = "1"};
      Add(claim);
    }
    pod_.meta = {
        .name_space = "t", .name = "p", .uid = "p", .resource_version = "1"};
    pod_.gates = {kGate};
  }
  void Add(const Object& object) {
    v1::Record record;
    record.mutable_object()->set_type(v1::ObjectEvent::ADDED);
    record.mutable_object()->set_kind(std::string(KindName(KindOf(object))));
    Fold(record, object, snapshot_);
  }
  void Bind(const char* claim, const char* node) {
    v1::Effect effect =
        EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", claim)->meta);
    effect.mutable_bind_claim()->set_node_name(node);
    effect.mutable_bind_claim()->set_resource_name(kH100);
    result_.effects.push_back(effect);
  }
  void Pin() {
    v1::Effect effect = EffectOn(Kind::kPod, pod_.meta);
    effect.mutable_pin_pod()->set_node_name("a");
    result_.effects.push_back(effect);
  }
  // Whether a broken invariant of this letter is told.
  testing::AssertionResult Breaks(const std::string& letter) const {
    const std::vector<std::string> broken =
        BrokenInvariants(snapshot_, result_);
    for (const std::string& line : broken) {
      if (absl::StartsWith(line, letter + ": ")) {
        return testing::AssertionSuccess();
      }
    }
    return testing::AssertionFailure() << absl::StrJoin(broken, "\n");
  }

  Snapshot snapshot_;
  PassResult result_;
  Pod pod_;
};

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

}  // namespace
}  // namespace gpubinder
