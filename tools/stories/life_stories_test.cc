// Machines that stop, start again and go, and what they leave.

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/kind.h"
#include "tools/stories/story.h"

namespace gpubinder {
using embedded::At;
using embedded::HasText;
using embedded::Json;
using embedded::TextAt;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json Strategy(const std::string& strategy) {
  return {{"spec", {{"runStrategy", strategy}}}};
}
bool IsDeleting(const Json& object) {
  return !At(object, {"metadata", "deletionTimestamp"}).is_null();
}

class LifeStories : public Story {};

TEST_F(LifeStories, AStoppedMachineKeepsItsClaimAndStartsOnTheSameNode) {
  AddNode("b", {{kH100, 2}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  Create(Kind::kVirtualMachine,
         MachineObject("web", "Always", Held("web-gpu")));
  ASSERT_TRUE(Await([&] { return RunsOn("web", "b"); }));
  Merge(Kind::kVirtualMachine, "web", Strategy("Halted"));
  ASSERT_TRUE(Await([&] {
    return Get(Kind::kVirtualMachineInstance, "web").is_null() &&
           At(Get(Kind::kGpuClaim, "web-gpu"), {"status", "attachedTo"})
               .empty();
  }));
  EXPECT_TRUE(IsBoundTo("web-gpu", "b"));
  // Fuller by a unit, and first by name: a move would be the reason.
  AddNode("a", {{kH100, 1}});
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsBoundTo("web-gpu", "b"));
  Merge(Kind::kVirtualMachine, "web", Strategy("Always"));
  ASSERT_TRUE(Await([&] { return RunsOn("web", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_THAT(Warnings("web"), IsEmpty());
}

TEST_F(LifeStories, AClaimDeletedUnderARunningMachineStaysUntilItStops) {
  AddNode("a", {{kH100, 1}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  Create(Kind::kVirtualMachine,
         MachineObject("web", "Always", Held("web-gpu")));
  ASSERT_TRUE(Await([&] {
    return RunsOn("web", "a") && HasText(At(Get(Kind::kGpuClaim, "web-gpu"),
                                            {"metadata", "finalizers"}),
                                         "gpu.cozystack.io/claim-protection");
  }));
  Delete(Kind::kGpuClaim, "web-gpu");
  ASSERT_TRUE(AwaitQuiet());
  const Json claim = Get(Kind::kGpuClaim, "web-gpu");
  EXPECT_TRUE(IsDeleting(claim));
  EXPECT_TRUE(HasText(At(claim, {"metadata", "finalizers"}),
                      "gpu.cozystack.io/claim-protection"));
  EXPECT_TRUE(IsBoundTo("web-gpu", "a"));
  Merge(Kind::kVirtualMachine, "web", Strategy("Halted"));
  ASSERT_TRUE(Await([&] { return Get(Kind::kGpuClaim, "web-gpu").is_null(); }));
}

TEST_F(LifeStories, AClassStaysWhileAClaimRefersToIt) {
  AddNode("a", {{kH100, 1}});
  EXPECT_TRUE(
      At(Get(Kind::kGpuClass, "h100"), {"metadata", "finalizers"}).empty());
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  ASSERT_TRUE(Await([&] { return IsBoundTo("web-gpu", "a"); }));
  EXPECT_TRUE(
      HasText(At(Get(Kind::kGpuClass, "h100"), {"metadata", "finalizers"}),
              "gpu.cozystack.io/class-in-use"));
  Delete(Kind::kGpuClass, "h100");
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsDeleting(Get(Kind::kGpuClass, "h100")));
  Delete(Kind::kGpuClaim, "web-gpu");
  ASSERT_TRUE(Await([&] { return Get(Kind::kGpuClass, "h100").is_null(); }));
  EXPECT_TRUE(Get(Kind::kGpuClaim, "web-gpu").is_null());
}

TEST_F(LifeStories, ADeletedMachineLeavesNothingButItsHeldClaim) {
  AddNode("a", {{kH100, 2}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  Json claims = Json::parse(Held("web-gpu"));
  claims.push_back(Json::parse(FromTemplate("h100", 1))[0]);
  Create(Kind::kVirtualMachine, MachineObject("web", "Always", claims.dump()));
  ASSERT_TRUE(Await([&] { return RunsOn("web", "a"); }));
  EXPECT_EQ(List(Kind::kGpuClaim).size(), 2u);
  Delete(Kind::kVirtualMachine, "web");
  ASSERT_TRUE(Await([&] {
    return Get(Kind::kVirtualMachine, "web").is_null() &&
           List(Kind::kGpuClaim).size() == 1 &&
           List(Kind::kGpuClaimSet).empty();
  }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsBoundTo("web-gpu", "a"));
  EXPECT_TRUE(
      At(Get(Kind::kGpuClaim, "web-gpu"), {"status", "attachedTo"}).empty());
}

TEST_F(LifeStories, HeartbeatsAndForeignPodsCauseNoPassAndNoWrite) {
  AddNode("a", {{kH100, 1}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  Create(Kind::kVirtualMachine,
         MachineObject("web", "Always", Held("web-gpu")));
  Create(Kind::kVirtualMachine,
         MachineObject("big", "Always", FromTemplate("h100", 2)));
  ASSERT_TRUE(Await(
      [&] { return RunsOn("web", "a") && ReasonOf("big") == "NoNodeFits"; }));
  ASSERT_TRUE(AwaitQuiet());
  const uint64_t before = writes_to_gpu_things();
  const uint64_t passes_before = passes();
  for (int i = 0; i < 20; ++i) {
    const std::string beat = absl::StrCat("2026-01-01T00:00:", i + 10, "Z");
    MergeStatus(Kind::kNode, "a",
                {{"conditions", Json::array({{{"type", "Ready"},
                                              {"status", "True"},
                                              {"lastHeartbeatTime", beat}}})}});
    const std::string pod = absl::StrCat("foreign-", i);
    Create(
        Kind::kPod,
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", pod}}},
         {"spec",
          {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}});
    ASSERT_TRUE(Await([&] {
      return TextAt(Get(Kind::kPod, pod), {"status", "phase"}) == "Running";
    }));
    if (i % 2 == 0) Delete(Kind::kPod, pod);
  }
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_EQ(writes_to_gpu_things(), before);
  EXPECT_EQ(passes(), passes_before);
  EXPECT_THAT(Warnings("big"), ElementsAre("NoNodeFits"));
}

TEST_F(LifeStories, EachBoundClaimHasAUsageRecordThatGoesWithIt) {
  AddNode("a", {{kH100, 2}});
  Create(Kind::kGpuClaim, ClaimObject("one", "h100", 2));
  Create(Kind::kGpuClaim, ClaimObject("two", "h100", 1));
  ASSERT_TRUE(
      Await([&] { return !Get(Kind::kWorkload, "gpu-one").is_null(); }));
  ASSERT_TRUE(AwaitQuiet());
  const Json record = Get(Kind::kWorkload, "gpu-one");
  EXPECT_EQ(record["status"], (Json{{"kind", "gpu"},
                                    {"type", "h100"},
                                    {"resources", {{kH100, "2"}}},
                                    {"operational", true}}));
  EXPECT_EQ(TextAt(record["metadata"]["ownerReferences"][0], {"uid"}),
            TextAt(Get(Kind::kGpuClaim, "one"), {"metadata", "uid"}));
  EXPECT_EQ(List(Kind::kWorkload).size(), 1);
  // The second has its place now, and the first nothing left behind.
  Delete(Kind::kGpuClaim, "one");
  ASSERT_TRUE(Await([&] {
    return Get(Kind::kWorkload, "gpu-one").is_null() &&
           !Get(Kind::kWorkload, "gpu-two").is_null();
  }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_EQ(List(Kind::kWorkload).size(), 1);
}

}  // namespace
}  // namespace gpubinder
