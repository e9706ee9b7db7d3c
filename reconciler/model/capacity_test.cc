#include "reconciler/model/capacity.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

constexpr char kH100[] = "nvidia.com/H100";

class CapacityTest : public testing::Test {
 protected:
  void Add(const Object& object) {
    v1::Record record;
    *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
    Fold(record, object, snapshot_);
  }
  void AddNode(const std::string& name, const std::string& units) {
    Node node;
    node.meta = {.name = name, .uid = "node-" + name};
    node.allocatable[kH100] = units;
    Add(node);
  }
  void AddClass() {
    GpuClass found{.resource_name = kH100};
    found.meta = {.name = "h100", .uid = "class-h100"};
    Add(found);
  }
  static GpuClaim Claim(const std::string& name, int64_t units,
                        const std::string& node) {
    GpuClaim claim{.class_name = "h100",
                   .units = units,
                   .phase = node.empty() ? "Lost" : "Bound",
                   .node_name = node};
    claim.meta = {.name_space = "t", .name = name, .uid = "claim-" + name};
    return claim;
  }
  // A VMI that lists the pods p1, p2 and holds what is attached to it.
  void AddVmi() {
    VirtualMachineInstance vmi;
    vmi.meta = {.name_space = "t", .name = "web", .uid = "vmi-web"};
    vmi.claims.present = true;
    vmi.active_pods = {{"p1", ""}, {"p2", ""}};
    Add(vmi);
  }
  void AddPod(const std::string& name, const std::string& node,
              const std::string& units, const std::string& phase) {
    Pod pod{.node_name = node,
            .containers = {{.name = "c", .requests = {{kH100, units}}}},
            .phase = phase};
    pod.meta = {.name_space = "t", .name = name, .uid = name};
    pod.meta.owners = {{.kind = "VirtualMachineInstance",
                        .name = "web",
                        .uid = "vmi-web",
                        .controller = true}};
    Add(pod);
  }
  static GpuClaim Attached(GpuClaim claim) {
    claim.attached_to = Attachment{.name = "web", .uid = "vmi-web"};
    return claim;
  }
  NodeUse Use(const std::string& node) {
    RefreshIndex(snapshot_);
    const Books books(snapshot_);
    return books.Use(snapshot_.names.Intern(node),
                     snapshot_.names.Intern(kH100));
  }

  Snapshot snapshot_;
};

TEST_F(CapacityTest, FreeIsNeverBelowZeroAndNeverWraps) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((NodeUse{.allocatable = 8, .booked = 2, .raw = 1}).free(), 5);
  EXPECT_EQ((NodeUse{.allocatable = 2, .booked = 4}).free(), 0);
  EXPECT_EQ((NodeUse{.allocatable = 2, .booked = kMost, .raw = kMost}).free(),
            0);
}

TEST_F(CapacityTest, AllocatableIsFlooredAndWhatCannotBeUsedIsMalformed) {
  AddNode("a", "3900m");
  EXPECT_EQ(Use("a").allocatable, 3);
  AddNode("b", "-1");
  EXPECT_TRUE(Use("b").malformed);
  EXPECT_FALSE(Use("b").served);
  AddNode("c", "9223372036854775808");
  EXPECT_TRUE(Use("c").malformed);
  EXPECT_EQ(Use("nobody").allocatable, 0);
}

TEST_F(CapacityTest, UsesOfANodeHaveWhatThePassAssumedOnIt) {
  AddNode("a", "8");
  AddNode("b", "4");
  AddClass();
  Add(Claim("x", 2, "a"));
  RefreshIndex(snapshot_);
  const NameId a = snapshot_.names.Intern("a");
  const NameId b = snapshot_.names.Intern("b");
  const NameId h100 = snapshot_.names.Intern(kH100);
  const NameId l40s = snapshot_.names.Intern("nvidia.com/L40S");
  const NameId nobody = snapshot_.names.Intern("nobody");
  Books books(snapshot_);
  books.Assume(a, h100, 3);
  books.Assume(a, l40s, 1);
  books.Assume(b, h100, 4);
  const auto uses = books.UsesOf(a);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].first, h100);
  EXPECT_EQ(uses[0].second.allocatable, 8);
  EXPECT_EQ(uses[0].second.booked, 5);
  EXPECT_EQ(uses[1].first, l40s);
  EXPECT_EQ(uses[1].second.booked, 1);
  ASSERT_EQ(books.UsesOf(b).size(), 1u);
  EXPECT_EQ(books.UsesOf(b)[0].second.booked, 4);
  EXPECT_TRUE(books.UsesOf(nobody).empty());
}

TEST_F(CapacityTest, BookedIsWhatBoundClaimsHoldOfTheResourceTheyWereGiven) {
  AddNode("a", "8");
  AddClass();
  Add(Claim("x", 2, "a"));
  Add(Claim("y", 4, ""));  // Lost holds nothing
  GpuClaim other = Claim("z", 1, "a");
  other.resource_name = "nvidia.com/L40S";
  Add(other);
  EXPECT_EQ(Use("a").booked, 2);
}

TEST_F(CapacityTest, APodIsRawBeyondWhatItsVmisClaimsThereCover) {
  AddNode("a", "8");
  AddNode("b", "8");
  AddClass();
  AddVmi();
  Add(Attached(Claim("x", 2, "a")));
  AddPod("p1", "a", "3", "");
  EXPECT_EQ(Use("a").raw, 1);
  // A second pod of the VMI on that node: the claim covers once per node.
  AddPod("p2", "a", "2", "Running");
  EXPECT_EQ(Use("a").raw, 3);
}

TEST_F(CapacityTest, APodIsItsVmisAsLongAsThatListsItWhoeverOwnsIt) {
  AddNode("a", "8");
  AddClass();
  AddVmi();
  Add(Attached(Claim("x", 2, "a")));
  AddPod("p1", "a", "2", "Running");
  EXPECT_EQ(Use("a").raw, 0);
  Pod pod = snapshot_.pods()[0];
  pod.meta.owners.clear();
  pod.meta.resource_version = "2";
  Add(pod);
  EXPECT_EQ(Use("a").raw, 0);
  // Books that are kept follow the list.
  VirtualMachineInstance vmi = snapshot_.vmis()[0];
  vmi.active_pods.erase("p1");
  vmi.meta.resource_version = "2";
  Add(vmi);
  EXPECT_EQ(Use("a").raw, 2);
  vmi.active_pods["p1"] = "a";
  vmi.meta.resource_version = "3";
  Add(vmi);
  EXPECT_EQ(Use("a").raw, 0);
}

TEST_F(CapacityTest, OnANodeWithoutItsClaimAPodIsRaw) {
  AddNode("a", "8");
  AddNode("b", "8");
  AddClass();
  AddVmi();
  Add(Attached(Claim("x", 2, "a")));
  AddPod("p1", "b", "2", "Running");
  EXPECT_EQ(Use("b").raw, 2);
  EXPECT_EQ(Use("a").raw, 0);
}

TEST_F(CapacityTest, EndedAndUnassignedPodsAreNotRawAndUnlistedOnesAre) {
  AddNode("a", "8");
  AddClass();
  AddVmi();
  Add(Attached(Claim("x", 2, "a")));
  AddPod("p1", "", "2", "");
  AddPod("p2", "a", "2", "Succeeded");
  EXPECT_EQ(Use("a").raw, 0);
  AddPod("forged", "a", "2", "Running");
  EXPECT_EQ(Use("a").raw, 2);
}

TEST_F(CapacityTest, ALostClaimCoversNothingAndOneBeingDeletedStillDoes) {
  AddNode("a", "8");
  AddClass();
  AddVmi();
  AddPod("p1", "a", "2", "Running");
  Add(Attached(Claim("x", 2, "")));
  EXPECT_EQ(Use("a").raw, 2);
  GpuClaim leaving = Attached(Claim("y", 2, "a"));
  leaving.meta.deleting = absl::FromUnixSeconds(1);
  Add(leaving);
  EXPECT_EQ(Use("a").raw, 0);
  EXPECT_EQ(Use("a").booked, 2);
}

TEST_F(CapacityTest, AMoveInFlightCountsOnBothNodes) {
  AddNode("a", "8");
  AddNode("b", "8");
  AddClass();
  Add(Claim("x", 2, "a"));
  v1::Effect& effect = snapshot_.in_flight[{1, 0}];
  effect.mutable_target()->set_uid("claim-x");
  effect.mutable_bind_claim()->set_node_name("b");
  effect.mutable_bind_claim()->set_resource_name(kH100);
  EXPECT_EQ(Use("a").booked, 2);
  EXPECT_EQ(Use("b").booked, 2);
}

TEST_F(CapacityTest, RawOfManyPodsSaturates) {
  AddNode("a", "8");
  for (const char* space : {"s1", "s2"}) {
    Pod pod{.node_name = "a",
            .containers = {
                {.name = "c", .requests = {{kH100, "9223372036854775807"}}}}};
    pod.meta = {.name_space = space, .name = "p", .uid = space};
    Add(pod);
  }
  EXPECT_EQ(Use("a").raw, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Use("a").free(), 0);
}

TEST_F(CapacityTest, ATemplateClaimCoversNoVmiOfAnotherNamespace) {
  AddNode("a", "8");
  AddClass();
  AddVmi();
  AddPod("p1", "a", "2", "Running");
  GpuClaim claim = Claim("x", 2, "a");
  claim.meta.name_space = "other";
  claim.meta.labels[kTemplateClaimLabel] = "web";
  claim.meta.owners = {{.kind = "Service", .uid = "vmi-web"},
                       {.kind = "VirtualMachineInstance", .uid = "vmi-web"}};
  Add(claim);
  EXPECT_EQ(Use("a").booked, 2);
  EXPECT_EQ(Use("a").raw, 2);
  EXPECT_FALSE(CoveredVmi(0, snapshot_).has_value());
  claim.meta.name_space = "t";
  claim.meta.uid = "claim-y";
  Add(claim);
  EXPECT_EQ(Use("a").booked, 4);
  EXPECT_EQ(Use("a").raw, 0);
}

TEST_F(CapacityTest, ABindingInFlightCountsOnceAndOnlyForWhatIsKnown) {
  AddNode("a", "8");
  AddClass();
  GpuClaim claim = Claim("x", 2, "");
  claim.phase = "Pending";
  Add(claim);
  v1::Effect sent;
  sent.mutable_target()->set_uid("claim-x");
  sent.mutable_bind_claim()->set_node_name("a");
  sent.mutable_bind_claim()->set_resource_name(kH100);
  snapshot_.in_flight[{1, 0}] = sent;
  EXPECT_EQ(Use("a").booked, 2);
  // Such a decision of another journal folds, and means nothing here.
  snapshot_.in_flight[{1, 0}].mutable_bind_claim()->set_node_name("nowhere");
  EXPECT_EQ(Use("a").booked, 0);
  snapshot_.in_flight[{1, 0}] = sent;
  snapshot_.in_flight[{1, 0}].mutable_bind_claim()->set_resource_name("none");
  EXPECT_EQ(Use("a").booked, 0);
  snapshot_.in_flight[{1, 0}] = sent;
  snapshot_.in_flight[{1, 0}].mutable_target()->set_uid("nobody");
  EXPECT_EQ(Use("a").booked, 0);
  // The watch was quicker than the answer.
  snapshot_.in_flight[{1, 0}] = sent;
  claim = Claim("x", 2, "a");
  claim.meta.resource_version = "2";
  Add(claim);
  EXPECT_EQ(Use("a").booked, 2);
}

TEST_F(CapacityTest, AClaimThatNoSetHasYetCoversNothing) {
  Add(Claim("x", 2, "a"));
  EXPECT_FALSE(CoveredVmi(0, snapshot_).has_value());
}

TEST_F(CapacityTest, TheLabelAloneMakesNoTemplateClaim) {
  GpuClaim claim = Claim("x", 2, "a");
  claim.meta.labels[kTemplateClaimLabel] = "web";
  claim.meta.owners = {{.kind = "Service", .uid = "s"}};
  EXPECT_EQ(TemplateOwner(claim), nullptr);
}

}  // namespace
}  // namespace gpubinder
