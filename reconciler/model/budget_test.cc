#include "reconciler/model/budget.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

constexpr char kResource[] = "nvidia.com/H100";
constexpr char kClassKey[] = "requests.gpu.cozystack.io/h100";
constexpr char kResourceKey[] = "requests.nvidia.com/H100";

class BudgetTest : public testing::Test {
 protected:
  BudgetTest() {
    GpuClass h100;
    h100.resource_name = kResource;
    Put(Kind::kGpuClass, "", "h100", std::move(h100));
  }

  template <typename T>
  void Put(Kind kind, const std::string& name_space, const std::string& name,
           T object) {
    object.meta.name_space = name_space;
    object.meta.name = name;
    if (object.meta.uid.empty()) {
      object.meta.uid = absl::StrCat("uid-", name_space, "-", name);
    }
    object.meta.resource_version = "1";
    v1::Record record;
    v1::ObjectEvent& event = *record.mutable_object();
    event.set_type(v1::ObjectEvent::ADDED);
    event.set_kind(std::string(KindName(kind)));
    event.set_namespace_(name_space);
    event.set_name(name);
    Fold(record, Object(std::move(object)), snapshot_);
  }

  void Quota(const std::string& name_space, const std::string& name,
             ResourceList hard) {
    ResourceQuota quota;
    quota.hard = std::move(hard);
    Put(Kind::kResourceQuota, name_space, name, std::move(quota));
  }

  void Claim(const std::string& name_space, const std::string& name,
             const std::string& phase, int64_t units) {
    GpuClaim claim;
    claim.class_name = "h100";
    claim.units = units;
    claim.phase = phase;
    if (phase == "Bound") claim.node_name = "n1";
    claim.resource_name = phase == "Pending" ? "" : kResource;
    Put(Kind::kGpuClaim, name_space, name, std::move(claim));
  }

  Pod PodAsking(const std::string& units) {
    Pod pod;
    pod.node_name = "n1";
    pod.containers = {{.name = "c", .requests = {{kResource, units}}}};
    return pod;
  }

  // "tenant key limit-carved used", one a line.
  std::string Text() {
    RefreshIndex(snapshot_);
    const Budgets budgets(snapshot_);
    std::string text;
    for (const Budget& budget : budgets.All()) {
      absl::StrAppend(&text, budget.tenant, " ",
                      budget.key == kClassKey      ? "class"
                      : budget.key == kResourceKey ? "resource"
                                                   : budget.key,
                      " ", budget.limit, "-", budget.carved_out, " used ",
                      budget.used, "\n");
    }
    return text;
  }

  Snapshot snapshot_;
};

TEST_F(BudgetTest, ABudgetIsUsedByBoundAndLostClaimsNotByPendingOnes) {
  Quota("a", "q", {{kClassKey, "10"}, {kResourceKey, "8"}, {"pods", "3"}});
  Claim("a", "bound", "Bound", 4);
  Claim("a", "lost", "Lost", 2);
  Claim("a", "pending", "Pending", 1);
  Claim("b", "other", "Bound", 7);
  EXPECT_EQ(Text(), "a class 10-0 used 6\na resource 8-0 used 6\n");
}

TEST_F(BudgetTest, APoolIsATenantWithTheDescendantsThatHaveNoBudget) {
  Quota("tenant-a", "q", {{kClassKey, "10"}});
  Quota("tenant-a-b-c", "q", {{kClassKey, "3"}});
  Quota("tenant-a-d", "q", {{kResourceKey, "9"}});  // another key
  Claim("tenant-a", "x", "Bound", 1);
  Claim("tenant-a-b", "x", "Bound", 2);    // no budget of its own
  Claim("tenant-a-b-c", "x", "Bound", 4);  // its own carve-out
  Claim("tenant-a-d", "x", "Bound", 5);
  Claim("tenant-e", "x", "Bound", 6);
  EXPECT_EQ(Text(),
            "tenant-a class 10-3 used 8\n"
            "tenant-a-b-c class 3-0 used 4\n"
            "tenant-a-d resource 9-0 used 5\n");
}

TEST_F(BudgetTest, OnlyTheNearestDescendantsAreCarvedOut) {
  Quota("tenant-root", "q", {{kClassKey, "20"}});
  Quota("tenant-a", "q", {{kClassKey, "6"}});
  Quota("tenant-a-b", "q", {{kClassKey, "5"}});
  Quota("tenant-c", "q", {{kClassKey, "30"}});
  EXPECT_EQ(Text(),
            "tenant-a class 6-5 used 0\n"
            "tenant-a-b class 5-0 used 0\n"
            "tenant-c class 30-0 used 0\n"
            "tenant-root class 20-36 used 0\n");
}

TEST_F(BudgetTest, NothingIsLeftWhereMoreIsCarvedOutThanThereIs) {
  EXPECT_EQ((Budget{.limit = 20, .carved_out = 36, .used = 1}).left(), 0);
  EXPECT_EQ((Budget{.limit = 20, .carved_out = 6, .used = 1}).left(), 13);
}

TEST_F(BudgetTest, ANamespaceWithoutThePrefixStandsAlone) {
  Quota("tenant-root", "q", {{kClassKey, "20"}});
  Claim("shop", "x", "Bound", 1);
  EXPECT_EQ(Text(), "tenant-root class 20-0 used 0\n");
}

TEST_F(BudgetTest, TheLeastOfSeveralQuotasCountsAndDerivedOnesDoNot) {
  Quota("a", "q1", {{kClassKey, "5"}});
  Quota("a", "q2", {{kClassKey, "3500m"}});  // floored
  ResourceQuota derived;
  derived.meta.labels = {{"quota.cozystack.io/managed-by", "tenant"}};
  derived.hard = {{kClassKey, "1"}};
  Put(Kind::kResourceQuota, "a", "q3", std::move(derived));
  EXPECT_EQ(Text(), "a class 3-0 used 0\n");
}

TEST_F(BudgetTest, AnUnreadableBudgetCountsAsNoneAndIsReported) {
  Quota("a", "q", {{kClassKey, "many"}});
  ResourceQuota wrong;
  wrong.meta.problems = {
      {absl::StrCat("spec.hard[\"", kResourceKey, "\"]"), "found true"}};
  Put(Kind::kResourceQuota, "b", "q", std::move(wrong));
  EXPECT_EQ(Text(), "a class 0-0 used 0\nb resource 0-0 used 0\n");
  RefreshIndex(snapshot_);
  const std::vector<BudgetProblem>& problems = snapshot_.index.quota_problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].name_space, "a");
  EXPECT_EQ(problems[0].problem.field,
            absl::StrCat("spec.hard[\"", kClassKey, "\"]"));
}

TEST_F(BudgetTest, PodsOfNoVmUseTheResourceBudgetOnceTheyHaveANode) {
  Quota("a", "q", {{kClassKey, "9"}, {kResourceKey, "9"}});
  Put(Kind::kPod, "a", "runs", PodAsking("2"));
  Pod waits = PodAsking("4");
  waits.node_name = "";
  Put(Kind::kPod, "a", "waits", std::move(waits));
  Pod ended = PodAsking("1");
  ended.phase = "Succeeded";
  Put(Kind::kPod, "a", "ended", std::move(ended));
  EXPECT_EQ(Text(), "a class 9-0 used 0\na resource 9-0 used 2\n");
}

// A VM of 3 units; the VMI lists its pods.
class VmBudgetTest : public BudgetTest {
 protected:
  VmBudgetTest() {
    Quota("a", "q", {{kResourceKey, "9"}});
    VirtualMachineInstance vmi;
    vmi.meta.uid = "vmi";
    vmi.phase = "Running";
    vmi.node_name = "n1";
    vmi.active_pods = {{"launcher", "n1"}, {"target", "n2"}};
    Put(Kind::kVirtualMachineInstance, "a", "vm", std::move(vmi));
    Launcher("launcher", "n1", false);
  }

  void Launcher(const std::string& name, const std::string& node,
                bool is_target) {
    Pod pod = PodAsking("3");
    pod.meta.uid = name;
    pod.node_name = node;
    pod.meta.owners = {{.kind = "VirtualMachineInstance",
                        .name = "vm",
                        .uid = "vmi",
                        .controller = true}};
    if (is_target) pod.meta.labels = {{"kubevirt.io/migrationJobUID", "m"}};
    Put(Kind::kPod, "a", name, std::move(pod));
  }

  void Held(const std::string& phase, int64_t units) {
    GpuClaim claim;
    claim.class_name = "h100";
    claim.units = units;
    claim.phase = phase;
    if (phase == "Bound") claim.node_name = "n7";
    claim.resource_name = kResource;
    claim.attached_to = Attachment{.name = "vm", .uid = "vmi"};
    Put(Kind::kGpuClaim, "a", "c", std::move(claim));
  }
};

TEST_F(VmBudgetTest, ABoundClaimCoversItsVmOnWhateverNode) {
  Held("Bound", 3);
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(VmBudgetTest, ALostClaimIsNotCountedASecondTimeByItsPod) {
  Held("Lost", 3);
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(VmBudgetTest, WhatThePodAsksBeyondItsClaimsIsUsedToo) {
  Held("Bound", 2);
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(VmBudgetTest, APendingClaimCoversNothing) {
  Held("Pending", 2);
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(VmBudgetTest, AClaimCoversAListedPodWhoeverOwnsIt) {
  Held("Bound", 3);
  Pod pod = snapshot_.pods()[0];
  pod.meta.owners.clear();
  Put(Kind::kPod, "a", "launcher", std::move(pod));
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(VmBudgetTest, APodThatOnlyNamesItsVmiAsOwnerIsCoveredByNothing) {
  Held("Bound", 3);
  Launcher("forged", "n1", false);
  EXPECT_EQ(Text(), "a resource 9-0 used 6\n");
}

TEST_F(VmBudgetTest, AMigrationTargetAddsNothing) {
  Held("Bound", 3);
  Launcher("target", "n2", true);
  EXPECT_EQ(Text(), "a resource 9-0 used 3\n");
}

TEST_F(BudgetTest, OnlyAnUnreadableLimitOfAKeyOfOursCountsAsNone) {
  ResourceQuota wrong;
  wrong.meta.problems = {
      {"metadata.labels", "found 1"},
      {"spec.hard[\"pods\"]", "found true"},
      {absl::StrCat("spec.hard[\"", kClassKey), "found true"}};
  Put(Kind::kResourceQuota, "a", "q", std::move(wrong));
  GpuClass bare;  // names no resource
  Put(Kind::kGpuClass, "", "bare", std::move(bare));
  EXPECT_EQ(Text(), "");
}

TEST_F(BudgetTest, ABindingInFlightOfAClaimThatHasGoneUsesNothing) {
  Quota("a", "q", {{kClassKey, "5"}});
  Claim("a", "x", "Pending", 2);
  v1::Effect& sent = snapshot_.in_flight[{1, 0}];
  sent.mutable_bind_claim()->set_resource_name(kResource);
  sent.mutable_target()->set_uid("uid-a-x");
  EXPECT_EQ(Text(), "a class 5-0 used 2\n");
  sent.mutable_target()->set_uid("uid-of-nobody");
  EXPECT_EQ(Text(), "a class 5-0 used 0\n");
}

TEST_F(VmBudgetTest, EachOrderOfAPassCoversWhatTheOnesBeforeLeft) {
  RefreshIndex(snapshot_);
  const std::optional<Row> vmi = snapshot_.vmis().FindUid("vmi");
  Budgets budgets(snapshot_);
  EXPECT_EQ(budgets.UncoveredOf(*vmi, kResource), 3);
  const BudgetOrder order{.tenant = "a",
                          .class_name = "h100",
                          .resource = kResource,
                          .vmi = vmi,
                          .units = 2};
  budgets.Assume(order);
  EXPECT_EQ(budgets.UncoveredOf(*vmi, kResource), 1);
  EXPECT_EQ(budgets.PoolOf("a", kResourceKey)->used, 3);  // the pod's
  budgets.Assume(order);
  EXPECT_EQ(budgets.UncoveredOf(*vmi, kResource), 0);
  EXPECT_EQ(budgets.PoolOf("a", kResourceKey)->used, 4);
}

}  // namespace
}  // namespace gpubinder
