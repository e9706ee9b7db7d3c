// What must hold of clusters too large for a scenario to show: a settled one
// is left alone, and a VM that is refused tries every node once.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/testing/object_event.h"
#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder {
namespace {

constexpr char kNoEffects[] = "(no effects)";

class ClusterBarsTest : public testing::Test {
 protected:
  std::vector<std::string> Do(const std::string& command) {
    return runner_.Run(command);
  }
  void TearDown() override {
    runner_.ReplayJournal();
    EXPECT_EQ(absl::StrJoin(runner_.mistakes(), "\n"), "");
  }
  const Pod* FindPod(const std::string& name) const {
    const Object* found = runner_.server().Find(Kind::kPod, "t", name);
    return found == nullptr ? nullptr : &std::get<Pod>(*found);
  }

  ScenarioRunner runner_{Replays::kAtTheEnd};
};

// 100 VMs run, 100 orders are Bound, 50 VMs and 50 orders wait for units that
// no node has: all of it with nothing left to do.
class SettledClusterTest : public ClusterBarsTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < kNodes; ++i) Do(absl::StrCat("node n", i, " H100=8"));
    Do("class h100");
    for (int i = 0; i < 100; ++i) {
      const std::string node = absl::StrCat("n", i % kNodes);
      Do(absl::StrCat("vm r", i, " claims=cr", i));
      Do(absl::StrCat("vmi r", i, " phase=Running node=", node));
      Do(absl::StrCat("claim cr", i, " class=h100 node=", node, " vmi=r", i));
      Do(absl::StrCat("pod pr", i, " vmi=r", i, " H100=1 node=", node,
                      " pinned=", node));
      Do(absl::StrCat("claim o", i, " class=h100"));
    }
    Do("advance 1s");
    for (int i = 0; i < 50; ++i) {
      Do(absl::StrCat("vm w", i, " claims=cw", i));
      Do(absl::StrCat("vmi w", i));
      Do(absl::StrCat("claim cw", i, " class=h100 count=8"));
      Do(absl::StrCat("pod pw", i, " vmi=w", i, " H100=8 gated"));
      Do(absl::StrCat("claim q", i, " class=h100 count=8"));
    }
    Do("settle");
  }
  // One of each that says nothing new: a node's heartbeat and its agent's, a
  // pod that asks for no GPU, another that has ended.
  void LetUnrelatedThingsHappen(int step) {
    const std::string node = absl::StrCat("n", step % kNodes);
    Do(absl::StrCat("node ", node, " ready=True heartbeat=0s"));
    Do(absl::StrCat("pod other/web", step, " cpu.example.org/x=1 node=", node));
    if (step > 0) {
      Do(absl::StrCat("pod other/web", step - 1, " phase=Succeeded"));
    }
    if (step > 1) Do(absl::StrCat("gone pod other/web", step - 2));
    Do("advance 30s");
  }

  static constexpr int kNodes = 40;
};

TEST_F(SettledClusterTest, GetsNoEffectInAHundredPasses) {
  for (int pass = 0; pass < 100; ++pass) {
    ASSERT_EQ(absl::StrJoin(Do("pass"), "\n"), kNoEffects) << "pass " << pass;
    Do("advance 30s");
  }
}

TEST_F(SettledClusterTest, GetsNoEffectWhileHeartbeatsAndOtherPodsFlow) {
  for (int pass = 0; pass < 100; ++pass) {
    LetUnrelatedThingsHappen(pass);
    ASSERT_EQ(absl::StrJoin(Do("pass"), "\n"), kNoEffects) << "pass " << pass;
  }
}

// The node that a pod with our pin names.
std::string PinOf(const Pod& pod) {
  if (!pod.gates.empty() || !pod.required.has_value()) return "";
  return pod.required->terms.at(0).fields.at(0).values.at(0);
}

// KubeVirt makes the VMI anew after 10 s times the square of the failures and
// half as much again, at most 300 s: in all far more than a rejection's 10
// minutes.
TEST_F(ClusterBarsTest, TwentyNodesThatRefuseAreAllTriedBeforeAnyIsTwice) {
  constexpr int kRefusing = 20;
  for (int i = 0; i < kRefusing; ++i) Do(absl::StrCat("node n", i, " H100=4"));
  Do("class h100");
  Do("claim x class=h100");
  Do("vm web claims=x,h100*1");
  std::set<std::string> tried;
  for (int attempt = 0; attempt < kRefusing; ++attempt) {
    Do("vmi web");
    Do("pod launcher vmi=web H100=2 gated");
    Do("settle");
    ASSERT_NE(FindPod("launcher"), nullptr);
    const std::string node = PinOf(*FindPod("launcher"));
    ASSERT_NE(node, "") << "waits in attempt " << attempt;
    EXPECT_TRUE(tried.insert(node).second)
        << node << " is tried twice, in attempt " << attempt;
    Do("pod launcher scheduler=\"0/20 nodes are available: 20 Insufficient "
       "cpu.\"");
    Do("pass");
    Do("apply");
    Do("advance 10s");
    Do("settle");
    ASSERT_EQ(FindPod("launcher"), nullptr) << "was not deleted";
    Do("vmi web phase=Failed");
    Do("settle");
    Do("gone vmi web");
    const int failures = attempt + 1;
    Do(absl::StrCat("advance ", std::min(300, 15 * failures * failures), "s"));
  }
  EXPECT_EQ(tried.size(), static_cast<size_t>(kRefusing));
}

// Tenant b with one order of two units, younger than all of tenant a's, whose
// budget is 3 of the 8 units of a node.
class TenantsTest : public testing::Test {
 protected:
  void Add(Object object) {
    v1::Record record;
    record.set_time_unix_nanos(absl::ToUnixNanos(kNow));
    *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
    Fold(record, std::move(object), snapshot_);
  }
  static ObjectMeta Meta(const std::string& name_space, const std::string& name,
                         absl::Time created) {
    return {.name_space = name_space,
            .name = name,
            .uid = absl::StrCat("uid-", name_space, "-", name),
            .resource_version = "1",
            .created = created};
  }
  void AddClaim(const std::string& name_space, const std::string& name,
                int64_t units, absl::Time created) {
    GpuClaim claim{.meta = Meta(name_space, name, created),
                   .class_name = "h100",
                   .units = units};
    claim.meta.finalizers = {kClaimFinalizer};
    Add(claim);
  }
  PassResult PassWithOrdersOfA(int orders) {
    snapshot_ = Snapshot();
    Node node{.meta = Meta("", "n", kNow)};
    node.allocatable["nvidia.com/H100"] = "8";
    node.conditions = {{.type = "Ready", .status = "True"}};
    Add(node);
    GpuClass of{.meta = Meta("", "h100", kNow),
                .resource_name = "nvidia.com/H100"};
    of.meta.finalizers = {kClassFinalizer};
    Add(of);
    ResourceQuota quota{.meta = Meta("a", "q", kNow)};
    quota.hard["requests.gpu.cozystack.io/h100"] = "3";
    Add(quota);
    for (int i = 0; i < orders; ++i) {
      AddClaim("a", absl::StrCat("order-", i), 1, kNow - absl::Hours(1));
    }
    AddClaim("b", "order", 2, kNow);
    return RunPass(snapshot_, kNow);
  }

  const absl::Time kNow = absl::FromUnixSeconds(1767225600);
  Snapshot snapshot_;
};

// The effects on objects of the namespace.
std::vector<std::string> EffectsIn(const std::string& name_space,
                                   const PassResult& result) {
  std::vector<std::string> effects;
  for (const v1::Effect& effect : result.effects) {
    if (effect.target().namespace_() == name_space) {
      effects.push_back(effect.ShortDebugString());
    }
  }
  return effects;
}

TEST_F(TenantsTest, TenThousandClaimsTakeTheirBudgetAndChangeNothingElse) {
  const PassResult alone = PassWithOrdersOfA(0);
  const std::vector<std::string> wanted = EffectsIn("b", alone);
  ASSERT_EQ(wanted.size(), 1u);
  ASSERT_TRUE(alone.effects[0].has_bind_claim());

  const PassResult beside = PassWithOrdersOfA(10000);
  EXPECT_EQ(EffectsIn("b", beside), wanted);
  int bound = 0;
  for (const v1::Effect& effect : beside.effects) {
    bound += effect.has_bind_claim() && effect.target().namespace_() == "a";
  }
  EXPECT_EQ(bound, 3);
}

}  // namespace
}  // namespace gpubinder
