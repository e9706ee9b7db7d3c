#include "reconciler/naive/judge.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "reconciler/model/testing/judge_as.h"
#include "reconciler/naive/judge_fixture.h"

namespace gpubinder {
namespace {

TEST_F(JudgeTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  EXPECT_EQ(EffectOn("x", v1::Effect::kBindClaim).bind_claim().node_name(),
            "b");
  EXPECT_EQ(EffectOn("z", v1::Effect::kBindClaim).bind_claim().node_name(),
            "a");
}

TEST_F(JudgeTest, AnotherNodeThanTheFullestIsAFault) {
  EffectOn("x", v1::Effect::kBindClaim)
      .mutable_bind_claim()
      ->set_node_name("a");
  ExpectFault("G6 binds x to b, the pass to a");
}

TEST_F(JudgeTest, AMemberThatIsNotBoundIsAFault) {
  Drop(EffectOn("y", v1::Effect::kBindClaim));
  ExpectFault("G6 binds y to b, the pass does not");
}

TEST_F(JudgeTest, AMissingPinIsAFault) {
  Drop(EffectOn("pod", v1::Effect::kPinPod));
  ExpectFault("G6 pins pod to b, the pass does not");
}

TEST_F(JudgeTest, AnOrderThatIsLeftOutIsAFault) {
  Drop(EffectOn("z", v1::Effect::kBindClaim));
  ExpectFault("O1 binds z to a, the pass does not");
}

TEST_F(JudgeTest, APinBeforeItsBindingsIsAFault) {
  std::swap(EffectOn("y", v1::Effect::kBindClaim),
            EffectOn("pod", v1::Effect::kPinPod));
  ExpectFault("binds after it has pinned");
}

TEST_F(JudgeTest, AClaimThatIsUsedWithoutItsFinalizerIsAFault) {
  for (const char* name : {"x", "z"}) {
    GpuClaim claim = *snapshot_.claims().Find("t", name);
    claim.meta.finalizers.clear();
    claim.meta.resource_version = "2";
    Add(claim);
  }
  result_ = RunPass(snapshot_, kNow);
  result_.sets = ViewsOf(snapshot_);
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  v1::Effect protect = EffectOn("x", v1::Effect::kAddFinalizer);
  Drop(EffectOn("x", v1::Effect::kAddFinalizer));
  Drop(EffectOn("z", v1::Effect::kAddFinalizer));
  ExpectFault("t/claim:z: uses z without its finalizer");
  // After the binding of x and before the pin.
  const auto pin = std::find_if(
      result_.effects.begin(), result_.effects.end(),
      [](const v1::Effect& effect) { return effect.has_pin_pod(); });
  result_.effects.insert(pin, protect);
  ExpectFault("t/web: uses x without its finalizer");
}

TEST_F(JudgeTest, AnOrderBeforeAStartIsAFault) {
  std::swap(EffectOn("z", v1::Effect::kBindClaim),
            EffectOn("x", v1::Effect::kBindClaim));
  ExpectFault("O1 comes too early for z");
}

TEST_F(JudgeTest, AMissingAttachmentIsAFault) {
  Drop(EffectOn("x", v1::Effect::kAttachClaim));
  ExpectFault("A wants x to be attached to uid-web, the pass does nothing");
}

TEST_F(JudgeTest, ALossWithoutCauseIsAFault) {
  EffectOn("x", v1::Effect::kBindClaim).mutable_lose_claim();
  ExpectFault("G6 binds x to b, the pass loses it");
}

TEST_F(JudgeTest, ANumberThatIsNotTrueIsAFault) {
  // z is told of b: wanted 1, free 0.
  JudgedNodes& judged = View("t/claim:z").verdict.judged;
  std::vector<NodesAlike> groups = NodesOf(judged);
  for (NodesAlike& group : groups) {
    for (v1::ReasonDetail& detail : group.reasons) detail.set_free(1);
  }
  judged = JudgeAs(groups);
  ExpectFault(
      "node reasons differ: b is: INSUFFICIENT_UNITS nvidia.com/H100 "
      "wanted 1 free 0 allocatable 2 booked 2 raw 0");
}

TEST_F(JudgeTest, ANodeThatFitsAndIsCalledUnfitIsAFault) {
  v1::ReasonDetail cordoned;
  cordoned.set_reason(v1::NODE_CORDONED);
  View("t/web").verdict.judged = JudgeAs({{{cordoned}, {"a"}}, {{}, {"b"}}});
  ExpectFault("a is: fits and told as: NODE_CORDONED");
}

TEST_F(JudgeTest, ANodeThatIsNotToldOfIsAFault) {
  View("t/web").verdict.judged = JudgeAs({{{}, {"b"}}});
  ExpectFault("a is: fits and told as: nothing");
}

TEST_F(JudgeTest, AnotherReasonOfTheSetIsAFault) {
  View("t/web").verdict.reason = v1::NO_NODE_FITS;
  ExpectFault("is called NO_NODE_FITS, it is PLACED");
}

TEST_F(JudgeTest, AMemberInAnotherSetIsAFault) {
  View("t/web").set.members.pop_back();
  ExpectFault("t/web: holds x y (leaving ), in the pass x (leaving )");
}

TEST_F(JudgeTest, AWriteToAnObjectBeingDeletedIsAFault) {
  GpuClaim claim = *snapshot_.claims().Find("t", "z");
  claim.meta.deleting = kNow;
  claim.meta.resource_version = "2";
  Add(claim);
  ExpectFault("z: is being deleted and gets a write");
}

TEST_F(JudgeTest, APodThatNoVmiListsMustNotBePinned) {
  EffectOn("pod", v1::Effect::kPinPod).mutable_target()->set_uid("uid-other");
  ExpectFault("uid-other: is written, and no live VMI lists it");
}

TEST_F(JudgeTest, FindsSettingsThatAreNotWrittenOrNotRight) {
  v1::Effect& effect = EffectOn("gpu-settings", v1::Effect::kWriteSettings);
  effect.mutable_write_settings()->set_raw_resource_names("denied");
  ExpectFault("gpu-settings: is written, and is not right then");
  Drop(effect);
  ExpectFault("gpu-settings: 0 writes, 1 due");
}

class UsageJudgeTest : public JudgeTest {
 protected:
  UsageJudgeTest() {
    Add(GpuClaim{.meta = Meta("t", "held", {kClaimFinalizer}),
                 .class_name = "h100",
                 .units = 2,
                 .phase = "Bound",
                 .node_name = "a",
                 .resource_name = kH100});
    result_ = RunPass(snapshot_, kNow);
    result_.sets = ViewsOf(snapshot_);
  }
  v1::WriteUsageRecord& Write() {
    return *EffectOn("gpu-held", v1::Effect::kWriteUsageRecord)
                .mutable_write_usage_record();
  }
};

TEST_F(UsageJudgeTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  EXPECT_EQ(Write().units(), 2);
}

TEST_F(UsageJudgeTest, FindsABoundClaimWithoutAUsageRecord) {
  Drop(EffectOn("gpu-held", v1::Effect::kWriteUsageRecord));
  ExpectFault("t/gpu-held: H2 has one write due, the pass has 0");
}

TEST_F(UsageJudgeTest, FindsWhatIsTwiceTooMuchOrAnothers) {
  Write().set_units(4);
  ExpectFault("t/gpu-held: tells another use than the claim's");
  Write().mutable_owner()->set_uid("uid-x");
  ExpectFault("t/gpu-held: is not owned by its claim");
  v1::Effect again = EffectOn("gpu-held", v1::Effect::kWriteUsageRecord);
  result_.effects.push_back(again);
  ExpectFault("t/gpu-held: H2 has one write due, the pass has 2");
  result_.effects.back().mutable_target()->set_name("gpu-x");
  ExpectFault("t/gpu-x: gets a write, none is due");
  result_.effects.back().mutable_target()->set_name("gpu-nobody");
  ExpectFault("gpu-nobody: is no claim's usage record");
  result_.effects.back() = again;
  result_.effects.back().set_set_key("t/held");
  ExpectFault("gpu-held: comes too late in step 8");
}

TEST_F(UsageJudgeTest, FindsARecordOfWhatIsNotBound) {
  Workload record{.meta = Meta("t", "gpu-z", {})};
  record.meta.owners = {{.api_version = "gpu.cozystack.io/v1alpha1",
                         .kind = "GPUClaim",
                         .name = "z",
                         .uid = "uid-z"}};
  Add(record);
  result_ = RunPass(snapshot_, kNow);
  result_.sets = ViewsOf(snapshot_);
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  Drop(EffectOn("gpu-z", v1::Effect::kDeleteUsageRecord));
  ExpectFault("t/gpu-z: H2 has one write due, the pass has 0");
}

TEST_F(UsageJudgeTest, FindsASecondWriteWithinAMinute) {
  const v1::Effect write = EffectOn("gpu-held", v1::Effect::kWriteUsageRecord);
  snapshot_.usage_writes[NameKey("t", "gpu-held")] = kNow - absl::Seconds(59);
  result_ = RunPass(snapshot_, kNow);
  result_.sets = ViewsOf(snapshot_);
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  result_.effects.insert(result_.effects.begin(), write);
  ExpectFault("t/gpu-held: gets a write, none is due");
}

}  // namespace
}  // namespace gpubinder
