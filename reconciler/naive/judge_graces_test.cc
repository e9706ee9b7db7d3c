// What a node no longer keeps, and when: passes spoilt.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reconciler/naive/judge_fixture.h"

namespace gpubinder {
namespace {

Condition Placed() {
  return {.type = "Bound",
          .status = "True",
          .reason = "Placed",
          .message = "Placed on c",
          .last_transition = kNow};
}

// Node c has 4 units. The claims old and new, of no VM, hold 2 each; then c
// shrinks to 3. By N7 new leaves when 10 minutes are over.
class ShortNodeTest : public JudgeTest {
 protected:
  ShortNodeTest() {
    AddNode("c", "4");
    AddBound("old", kNow - absl::Minutes(2));
    AddBound("new", kNow - absl::Minutes(1));
    Node node = *snapshot_.nodes().Find("", "c");
    node.meta.resource_version = "2";
    node.allocatable[kH100] = "3";
    Add(node);
    for (const char* name : {"a", "b"}) {
      Node other = *snapshot_.nodes().Find("", name);
      other.meta.resource_version = "2";
      other.unschedulable = true;
      Add(other);
    }
    Pass(kNow);
  }
  void AddBound(const char* name, absl::Time since) {
    Add(GpuClaim{.meta = Meta("t", name, {kClaimFinalizer}),
                 .class_name = "h100",
                 .units = 2,
                 .phase = "Bound",
                 .node_name = "c",
                 .resource_name = kH100,
                 .bound_at = since,
                 .conditions = {Placed()}});
  }
};

TEST_F(ShortNodeTest, FindsNoFaultWithRightPasses) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  Pass(kNow + absl::Minutes(10));
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, now_, result_), "\n"), "");
  EXPECT_EQ(EffectOn("new", v1::Effect::kLoseClaim).lose_claim().reason(),
            v1::NODE_LOST_CAPACITY);
}

TEST_F(ShortNodeTest, ALossBeforeTheGraceIsOverIsAFault) {
  Pass(kNow + absl::Minutes(10));
  now_ -= absl::Seconds(1);
  ExpectFault("no rule lets the pass lose new");
}

TEST_F(ShortNodeTest, ALossThatIsLeftOutIsAFault) {
  Pass(kNow + absl::Minutes(10));
  Drop(EffectOn("new", v1::Effect::kLoseClaim));
  ExpectFault("t/claim:new: M2 makes new Lost, the pass does not");
}

TEST_F(ShortNodeTest, AnotherVictimIsAFault) {
  Pass(kNow + absl::Minutes(10));
  EffectOn("new", v1::Effect::kLoseClaim).mutable_target()->set_uid("uid-old");
  ExpectFault("t/claim:new: M2 makes new Lost, the pass does not");
  ExpectFault("t/claim:old: no rule lets the pass lose old");
}

TEST_F(ShortNodeTest, AnotherReasonIsAFault) {
  Pass(kNow + absl::Minutes(10));
  EffectOn("new", v1::Effect::kLoseClaim)
      .mutable_lose_claim()
      ->set_reason(v1::NODE_TAINTED);
  ExpectFault("M2 loses new for another reason than NODE_TAINTED");
}

TEST_F(ShortNodeTest, AClockThatIsNotAskedForIsAFault) {
  EXPECT_EQ(result_.next_timer, kNow + absl::Minutes(10));
  result_.next_timer = absl::InfiniteFuture();
  ExpectFault(
      "the clock: is not asked for at 2026-01-01T00:10:00+00:00 for "
      "t/claim:new, on c that is short");
  result_.next_timer = kNow + absl::Seconds(7);
  ExpectFault("is asked for at 2026-01-01T00:00:07+00:00, when nothing comes");
  result_.next_timer = kNow;
  ExpectFault("the clock: is asked for at once, and again and again");
}

// VM two stands on nodes c and d, and its gated launcher asks for more than any
// node has. Node c gets a taint that nobody tolerates: by S2 only p goes Lost.
class SplitTest : public JudgeTest {
 protected:
  SplitTest() {
    VirtualMachineInstance vmi{.meta = Meta("t", "two", {})};
    vmi.claims = {.present = true,
                  .entries = {{.claim_name = "p"}, {.claim_name = "q"}}};
    vmi.active_pods["uid-waits"] = "";
    Add(vmi);
    Pod pod{.meta = Meta("t", "waits", {}), .gates = {kGate}};
    pod.containers = {{.name = "compute", .requests = {{kH100, "9"}}}};
    Add(pod);
    AddBound("p", "c");
    AddBound("q", "d");
    Node node = *snapshot_.nodes().Find("", "c");
    node.meta.resource_version = "2";
    node.taints = {{.key = "k", .value = "v", .effect = "NoExecute"}};
    Add(node);
    Pass(kNow);
  }
  void AddBound(const char* name, const char* node) {
    AddNode(node, "4");
    Add(GpuClaim{.meta = Meta("t", name, {kClaimFinalizer}),
                 .class_name = "h100",
                 .phase = "Bound",
                 .node_name = node,
                 .resource_name = kH100,
                 .bound_at = kNow,
                 .attached_to = Attachment{.name = "two", .uid = "uid-two"},
                 .conditions = {Placed()}});
  }
};

TEST_F(SplitTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  EXPECT_EQ(EffectOn("p", v1::Effect::kLoseClaim).lose_claim().reason(),
            v1::NODE_TAINTED);
}

TEST_F(SplitTest, AMemberThatStaysUnkeptIsAFault) {
  Drop(EffectOn("p", v1::Effect::kLoseClaim));
  ExpectFault("t/two: S2 makes p Lost, the pass does not");
}

TEST_F(SplitTest, AMemberThatIsKeptAndGoesLostIsAFault) {
  EffectOn("p", v1::Effect::kLoseClaim).mutable_target()->set_uid("uid-q");
  ExpectFault("t/two: no rule lets the pass lose q");
}

// VM run stands on node c, which gets a taint that nobody tolerates: by M4 its
// VMI is deleted, since no VM owns it.
class EndingTest : public JudgeTest {
 protected:
  EndingTest() {
    AddNode("c", "4");
    VirtualMachineInstance vmi{.meta = Meta("t", "run", {})};
    vmi.claims = {.present = true, .entries = {{.claim_name = "held"}}};
    vmi.phase = "Running";
    vmi.node_name = "c";
    vmi.active_pods["uid-launcher"] = "c";
    Add(vmi);
    Pod pod{.meta = Meta("t", "launcher", {}), .node_name = "c"};
    pod.meta.owners = {{.kind = "VirtualMachineInstance",
                        .name = "run",
                        .uid = "uid-run",
                        .controller = true}};
    pod.containers = {{.name = "compute", .requests = {{kH100, "2"}}}};
    Add(pod);
    Add(GpuClaim{.meta = Meta("t", "held", {kClaimFinalizer}),
                 .class_name = "h100",
                 .units = 2,
                 .phase = "Bound",
                 .node_name = "c",
                 .resource_name = kH100,
                 .bound_at = kNow,
                 .attached_to = Attachment{.name = "run", .uid = "uid-run"},
                 .conditions = {Placed()}});
    GpuClaimSet memory{.meta = Meta("t", "run", {})};
    memory.meta.uid = "uid-memory";
    memory.meta.owners = {
        {.kind = "VirtualMachineInstance", .name = "run", .uid = "uid-run"}};
    memory.claims = {"held"};
    memory.node_name = "c";
    memory.vmi_uid = "uid-run";
    memory.pod_uid = "uid-launcher";
    memory.reason = "Placed";
    memory.message = "Placed on c";
    memory.transitions = 1;
    Add(memory);
    SetTaint("2", {{.key = "k", .value = "v", .effect = "NoExecute"}});
    Pass(kNow);
  }
  // The memory, once it says that the VMI was asked to end, has the call
  // repeated.
  void ExpectRepeatOf(GpuClaimSet memory) {
    memory.meta.resource_version = "2";
    memory.ended_vmi = "uid-run";
    Add(memory);
    Pass(kNow);
    EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
    Drop(Call());
    ExpectFault("t/run: M4 repeats the call, the pass does not");
  }
  void SetTaint(const char* version, std::vector<Taint> taints) {
    Node node = *snapshot_.nodes().Find("", "c");
    node.meta.resource_version = version;
    node.taints = std::move(taints);
    Add(node);
  }
  v1::Effect& Intention() {
    for (v1::Effect& effect : result_.effects) {
      if (effect.write_claim_set().has_ended_vmi()) return effect;
    }
    ADD_FAILURE() << "no intention";
    return result_.effects[0];
  }
  v1::Effect& Call() { return EffectOn("run", v1::Effect::kDeleteVmi); }
};

TEST_F(EndingTest, FindsNoFaultWithARightPass) {
  EXPECT_EQ(absl::StrJoin(JudgePass(snapshot_, kNow, result_), "\n"), "");
  EXPECT_EQ(Call().delete_vmi().reason(), v1::NODE_TAINTED);
}

TEST_F(EndingTest, AnEndingThatIsLeftOutIsAFault) {
  Drop(Call());
  ExpectFault("t/run: its ending comes out of turn");
  Drop(Intention());
  ExpectFault("t/run: M4 ends its VMI, the pass does not");
}

TEST_F(EndingTest, ACallBeforeItsIntentionIsAFault) {
  std::swap(Call(), Intention());
  ExpectFault("t/run: its ending comes out of turn");
}

TEST_F(EndingTest, AnotherCallIsAFault) {
  Call().mutable_restart_vm()->set_reason(v1::NODE_TAINTED);
  ExpectFault("t/run: M4 ends its VMI by another call");
}

TEST_F(EndingTest, AnEndingWithoutCauseIsAFault) {
  SetTaint("3", {});
  ExpectFault("t/run: is ended, its node keeps it");
}

TEST_F(EndingTest, AnEndingThatTheValveForbidsIsAFault) {
  snapshot_.endings["uid-gone"] = kNow;
  snapshot_.config.max_endings = 1;
  ExpectFault("t/run: is ended, the valve is shut");
}

TEST_F(EndingTest, ACallThatIsNotRepeatedIsAFault) {
  ExpectRepeatOf(*snapshot_.claim_sets().Find("t", "run"));
}

// The memory is of a VM that has gone: it is taken over first.
TEST_F(EndingTest, AnEndingInAnotherOwnersMemoryIsAFault) {
  GpuClaimSet memory = *snapshot_.claim_sets().Find("t", "run");
  memory.meta.owners = {
      {.kind = "VirtualMachine", .name = "run", .uid = "uid-gone"}};
  memory.meta.resource_version = "2";
  Add(memory);
  ExpectFault("t/run: is ended without a memory");
}

TEST_F(EndingTest, AMassLossOfFewNodesIsAFault) {
  result_.mass_loss = true;
  ExpectFault("the pass: speaks of a mass loss of 1 nodes");
  ExpectFault("t/run: is ended, the valve is shut");
}

TEST_F(EndingTest, UnkeptNodesAreToldAsTheyAre) {
  EXPECT_EQ(result_.unkept_nodes, (UnkeptNodes{{"c", {"h100"}}}));
  result_.unkept_nodes["c"].clear();
  ExpectFault("c: does not keep what is of class h100, and that is not told");
  result_.unkept_nodes = {{"a", {}}};
  ExpectFault("c: does not keep a set, and is not told of");
  ExpectFault("a: holds nothing to keep");
}

}  // namespace
}  // namespace gpubinder
