#include "reconciler/naive/judge.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/testing/judge_as.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

constexpr char kH100[] = "nvidia.com/H100";
const absl::Time kNow = absl::FromUnixSeconds(1767225600);

// Node a has 4 units, b has 2. VM web names x and y (1 unit each); its gated
// launcher asks for 2. The order z wants 1. By G4 web goes to b, the fullest
// of those that fit; then z goes to a, since b has nothing left.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    for (const absl::string_view kind : kKindNames) {
      v1::Record began;
      began.mutable_list_began()->set_kind(std::string(kind));
      Fold(began, std::nullopt, snapshot_);
    }
    AddNode("a", "4");
    AddNode("b", "2");
    Add(GpuClass{.meta = Meta("", "h100", {kClassFinalizer}),
                 .resource_name = kH100});
    VirtualMachineInstance vmi{.meta = Meta("t", "web", {})};
    vmi.claims = {.present = true,
                  .entries = {{.claim_name = "x"}, {.claim_name = "y"}}};
    vmi.active_pods["uid-pod"] = "";
    Add(vmi);
    Pod pod{.meta = Meta("t", "pod", {}), .gates = {kGate}};
    pod.containers = {{.name = "compute", .requests = {{kH100, "2"}}}};
    Add(pod);
    for (const char* name : {"x", "y", "z"}) {
      Add(GpuClaim{.meta = Meta("t", name, {kClaimFinalizer}),
                   .class_name = "h100"});
    }
    for (const absl::string_view kind : kKindNames) {
      v1::Record ended;
      ended.mutable_list_ended()->set_kind(std::string(kind));
      Fold(ended, std::nullopt, snapshot_);
    }
    type_ = v1::ObjectEvent::MODIFIED;
    result_ = RunPass(snapshot_, kNow);
    result_.sets = ViewsOf(snapshot_);
  }

  static ObjectMeta Meta(const char* name_space, const char* name,
                         std::vector<std::string> finalizers) {
    return {.name_space = name_space,
            .name = name,
            .uid = absl::StrCat("uid-", name),
            .resource_version = "1",
            .created = kNow,
            .finalizers = std::move(finalizers)};
  }
  void AddNode(const char* name, const char* units) {
    Node node{.meta = Meta("", name, {})};
    node.meta.labels["kubevirt.io/schedulable"] = "true";
    node.allocatable[kH100] = units;
    node.conditions = {{.type = "Ready", .status = "True"}};
    Add(node);
  }
  void Add(Object object) {
    v1::Record record;
    record.set_time_unix_nanos(absl::ToUnixNanos(kNow));
    *record.mutable_object() = EventOf(type_, object);
    Fold(record, object, snapshot_);
  }

  v1::Effect& EffectOn(const char* name, v1::Effect::WriteCase write) {
    for (v1::Effect& effect : result_.effects) {
      if (effect.target().name() == name && effect.write_case() == write) {
        return effect;
      }
    }
    ADD_FAILURE() << "no such effect on " << name;
    return result_.effects[0];
  }
  void Drop(const v1::Effect& effect) {
    std::erase_if(result_.effects,
                  [&](const v1::Effect& one) { return &one == &effect; });
  }
  SetView& View(const char* key) {
    for (SetView& view : result_.sets) {
      if (view.set.key() == key) return view;
    }
    ADD_FAILURE() << "no set " << key;
    return result_.sets[0];
  }
  // Whether a fault says all of it.
  void ExpectFault(const char* text) {
    const std::vector<std::string> faults = JudgePass(snapshot_, kNow, result_);
    for (const std::string& fault : faults) {
      if (absl::StrContains(fault, text)) return;
    }
    ADD_FAILURE() << "no fault says: " << text
                  << "\nthe faults: " << absl::StrJoin(faults, "\n");
  }

  v1::ObjectEvent::Type type_ = v1::ObjectEvent::LISTED;
  Snapshot snapshot_;
  PassResult result_;
};

TEST_F(JudgeTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
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
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
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
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
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
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  Drop(EffectOn("gpu-z", v1::Effect::kDeleteUsageRecord));
  ExpectFault("t/gpu-z: H2 has one write due, the pass has 0");
}

TEST_F(UsageJudgeTest, FindsASecondWriteWithinAMinute) {
  const v1::Effect write = EffectOn("gpu-held", v1::Effect::kWriteUsageRecord);
  snapshot_.usage_writes[NameKey("t", "gpu-held")] = kNow - absl::Seconds(59);
  result_ = RunPass(snapshot_, kNow);
  result_.sets = ViewsOf(snapshot_);
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  result_.effects.insert(result_.effects.begin(), write);
  ExpectFault("t/gpu-held: gets a write, none is due");
}

}  // namespace
}  // namespace gpubinder
