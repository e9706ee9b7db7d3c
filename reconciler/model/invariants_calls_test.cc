// What the invariants notice of pins, deletes and endings.

#include <string>

#include "gtest/gtest.h"
#include "reconciler/model/config.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/invariants.h"
#include "reconciler/model/invariants_fixture.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

class EndingInvariantsTest : public InvariantsTest {
 protected:
  void SetUp() override {
    InvariantsTest::SetUp();
    pod_.gates.clear();
    Add(pod_);
    vmi_.meta = {
        .name_space = "t", .name = "web", .uid = "v", .resource_version = "1"};
    vmi_.active_pods["p"] = "a";
    Add(vmi_);
    SetView other = ViewOfWeb(snapshot_);
    other.set.name = "other";
    SetView view = ViewOfWeb(snapshot_);
    view.set.vmi = snapshot_.vmis().FindRow("t", "web");
    view.set.launcher = {.state = LauncherState::kPinned,
                         .pod = snapshot_.pods().FindRow("t", "p"),
                         .node = "a"};
    result_.sets = {other, view};
    v1::Effect effect = EffectOn(Kind::kVirtualMachineInstance, vmi_.meta);
    effect.set_set_key("t/web");
    effect.mutable_delete_vmi()->set_reason(v1::NODE_TAINTED);
    result_.effects = {effect};
  }
  void Remember(const char* ended) {
    GpuClaimSet memory{.ended_vmi = ended};
    memory.meta = {.name_space = "t", .name = "web", .uid = "m"};
    Add(memory);
  }

  VirtualMachineInstance vmi_;
};

TEST_F(EndingInvariantsTest, AnEndingThatIsWrittenNowhereBreaksP7) {
  EXPECT_TRUE(Breaks("P7"));
  Remember("another");
  EXPECT_TRUE(Breaks("P7"));
}

TEST_F(EndingInvariantsTest, AnEndingThatTheMemoryNamesBreaksNone) {
  Remember("v");
  EXPECT_TRUE(BrokenInvariants(snapshot_, result_).empty());
}

TEST_F(EndingInvariantsTest, AnEndingInAMassLossBreaksP7) {
  Remember("v");
  result_.mass_loss = true;
  EXPECT_TRUE(Breaks("P7"));
}

TEST_F(EndingInvariantsTest, AnEndingWithoutAPinnedPodBreaksP7) {
  Remember("v");
  result_.sets[1].set.launcher.state = LauncherState::kGated;
  EXPECT_TRUE(Breaks("P7"));
}

TEST_F(EndingInvariantsTest, APodAtItsGateThatIsDeletedBreaksP6) {
  pod_.gates = {kGate};
  pod_.meta.resource_version = "2";
  Add(pod_);
  result_.effects = {EffectOn(Kind::kPod, pod_.meta)};
  result_.effects[0].mutable_delete_pod();
  EXPECT_TRUE(Breaks("P6"));
}

TEST_F(EndingInvariantsTest, AMigrationTargetThatIsDeletedBreaksP8) {
  pod_.meta.labels[kMigrationLabel] = "job";
  pod_.node_name = "b";
  pod_.meta.resource_version = "2";
  Add(pod_);
  result_.effects = {EffectOn(Kind::kPod, pod_.meta)};
  result_.effects[0].mutable_delete_pod();
  // Before the VMI runs its pod is the launcher, whatever the label says.
  EXPECT_FALSE(Breaks("P8"));
  vmi_.node_name = "a";
  vmi_.meta.resource_version = "2";
  Add(vmi_);
  EXPECT_TRUE(Breaks("P8"));
  // Once the VMI is on its node it is the launcher, and keeps the label.
  vmi_.node_name = "b";
  vmi_.meta.resource_version = "3";
  Add(vmi_);
  EXPECT_FALSE(Breaks("P8"));
}

TEST_F(EndingInvariantsTest, APinBeforeItsClaimsAreThereBreaksP2) {
  pod_.gates = {kGate};
  pod_.meta.resource_version = "2";
  Add(pod_);
  result_.effects.clear();
  Pin();
  EXPECT_TRUE(Breaks("P2"));
  result_.effects.clear();
  Bind("x", "b");  // elsewhere
  Pin();
  EXPECT_TRUE(Breaks("P2"));
}

}  // namespace
}  // namespace gpubinder
