// What a pass says of its verdicts, spoilt.

#include <utility>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "reconciler/naive/judge_fixture.h"

namespace gpubinder {
namespace {

TEST_F(JudgeTest, AWarningOfASuccessIsAFault) {
  v1::Effect effect = EffectOn("web", v1::Effect::kWriteClaimSet);
  effect.mutable_emit_warning();
  result_.effects.push_back(effect);
  ExpectFault("t/web: H4: a Warning without a change of reason");
}

TEST_F(JudgeTest, AMemoryThatIsNotWrittenIsAFault) {
  Drop(EffectOn("web", v1::Effect::kWriteClaimSet));
  ExpectFault("t/web: H3: Placed is news after '', and is not written");
}

TEST_F(JudgeTest, ATransitionThatIsLeftOutIsAFault) {
  EffectOn("web", v1::Effect::kWriteClaimSet)
      .mutable_write_claim_set()
      ->set_transitions(2);
  ExpectFault("H4: Placed is transition 1, it is written as 2");
}

TEST_F(JudgeTest, AClassThatIsNotCalledReadyIsAFault) {
  v1::Effect& effect = EffectOn("h100", v1::Effect::kSetCondition);
  effect.mutable_set_condition()->set_status("False");
  ExpectFault("class h100: H3: the list holds another Ready");
  Drop(effect);
  ExpectFault("class h100: H3: is to be Ready=True/Serving, it is absent");
}

// Neither node has the 2 units that web wants.
class WaitingJudgeTest : public JudgeTest {
 protected:
  WaitingJudgeTest() {
    for (const char* name : {"a", "b"}) {
      Node node = *snapshot_.nodes().Find("", name);
      node.meta.resource_version = "2";
      node.allocatable[kH100] = "1";
      Add(node);
    }
    Pass(kNow);
  }
  v1::Effect& Warning() { return EffectOn("web", v1::Effect::kEmitWarning); }
};

TEST_F(WaitingJudgeTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  EXPECT_EQ(Warning().emit_warning().note(),
            "NoNodeFits: 2 nodes InsufficientUnits nvidia.com/H100 "
            "(most free 1, wanted 2)");
}

TEST_F(WaitingJudgeTest, AMissingWarningIsAFault) {
  Drop(Warning());
  ExpectFault("t/web: H4: NoNodeFits gives no Warning");
}

TEST_F(WaitingJudgeTest, AWarningOfAnotherNameIsAFault) {
  Warning().mutable_emit_warning()->set_name("gpubinder-1");
  ExpectFault("H4: the Warning is to be gpubinder-");
}

TEST_F(WaitingJudgeTest, AStatusBeforeItsEventIsAFault) {
  std::swap(Warning(), EffectOn("web", v1::Effect::kWriteClaimSet));
  ExpectFault("t/web: H4: the status comes before its Event");
}

TEST_F(WaitingJudgeTest, ATextOfOtherNumbersIsAFault) {
  EffectOn("web", v1::Effect::kWriteClaimSet)
      .mutable_write_claim_set()
      ->set_message("NoNodeFits: 1 node InsufficientUnits");
  ExpectFault(
      "t/web: H4: '2 nodes InsufficientUnits nvidia.com/H100 (most free 1, "
      "wanted 2)' is not in: NoNodeFits: 1 node InsufficientUnits");
  ExpectFault("t/web: H4: Event and status say different things");
}

TEST_F(WaitingJudgeTest, AClaimThatIsNotToldIsAFault) {
  // The last write of a list holds both conditions.
  std::erase_if(result_.effects, [](const v1::Effect& effect) {
    return effect.has_set_condition() && effect.target().name() == "x";
  });
  ExpectFault("t/web: H3: x Bound is to be False/NoNodeFits, it is absent");
  ExpectFault("t/web: H3: x Gathered is to be False/NoNodeFits, it is absent");
}

TEST_F(WaitingJudgeTest, WhatMeansTheSameMustNotBeWrittenAgain) {
  GpuClaim claim = *snapshot_.claims().Find("t", "x");
  claim.meta.resource_version = "2";
  for (const char* type : {"Bound", "Gathered"}) {
    claim.conditions.push_back({.type = type,
                                .status = "False",
                                .reason = "NoNodeFits",
                                .message = "NoNodeFits: 3 nodes "
                                           "InsufficientUnits nvidia.com/H100 "
                                           "(most free 0, wanted 2)"});
  }
  const v1::Effect write = EffectOn("x", v1::Effect::kSetCondition);
  Add(claim);
  Pass(kNow);
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  v1::Effect again = write;
  again.mutable_set_condition()->set_message(
      "NoNodeFits: 2 nodes InsufficientUnits nvidia.com/H100 (most free 1, "
      "wanted 2)");
  result_.effects.push_back(again);
  // 3 nodes, 2 nodes: a mere count.
  ExpectFault("is written, and means what it did");
}

}  // namespace
}  // namespace gpubinder
