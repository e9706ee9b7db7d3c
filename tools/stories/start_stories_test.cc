// How machines start, and what they wait for.

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/kind.h"
#include "tools/stories/story.h"

namespace gpubinder {
using embedded::At;
using embedded::Json;
using embedded::NumberAt;
using embedded::TextAt;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kOurGate[] = "gpu.cozystack.io/claims";

Json Cordon(bool on) { return {{"spec", {{"unschedulable", on}}}}; }

std::string ConditionOf(const Json& object, const std::string& type) {
  for (const Json& one : At(object, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) == type) return TextAt(one, {"status"});
  }
  return "";
}

class StartStories : public Story {};

TEST_F(StartStories, AMachineStartsOnTheNodeOfItsHeldClaim) {
  // An order goes where the fewest units are left: b.
  AddNode("a", {{kH100, 4}});
  AddNode("b", {{kH100, 1}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  ASSERT_TRUE(Await([&] { return IsBoundTo("web-gpu", "b"); }));
  Create(Kind::kVirtualMachine,
         MachineObject("web", "Always", Held("web-gpu")));
  ASSERT_TRUE(Await([&] { return RunsOn("web", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsBoundTo("web-gpu", "b"));
  EXPECT_EQ(
      TextAt(Get(Kind::kGpuClaim, "web-gpu"), {"status", "attachedTo", "uid"}),
      TextAt(Get(Kind::kVirtualMachineInstance, "web"), {"metadata", "uid"}));
  EXPECT_EQ(ReasonOf("web"), "Placed");
  EXPECT_THAT(Warnings("web"), IsEmpty());
  EXPECT_EQ(Launchers("web").size(), 1u);
}

TEST_F(StartStories, ClaimsAreMadeFromTheMachinesTemplates) {
  // The fullest node that takes both units: b.
  AddNode("a", {{kH100, 4}});
  AddNode("b", {{kH100, 2}});
  AddNode("c", {{kH100, 1}});
  Create(Kind::kVirtualMachine,
         MachineObject("train", "Always", FromTemplate("h100", 2)));
  ASSERT_TRUE(Await([&] { return RunsOn("train", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  const std::vector<Json> claims = List(Kind::kGpuClaim);
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(NumberAt(claims[0], {"spec", "count"}, 0), 2);
  EXPECT_TRUE(IsBoundTo(TextAt(claims[0], {"metadata", "name"}), "b"));
  // It never waited.
  EXPECT_EQ(ConditionOf(claims[0], "Gathered"), "");
  EXPECT_THAT(Warnings("train"), IsEmpty());
}

TEST_F(StartStories, ASetTooBigWaitsWithOneWarningUntilTheUncordon) {
  AddNode("a", {{kH100, 4}});
  AddNode("b", {{kH100, 8}});
  Merge(Kind::kNode, "b", Cordon(true));
  Create(Kind::kVirtualMachine,
         MachineObject("big", "Always", FromTemplate("h100", 8)));
  ASSERT_TRUE(Await([&] { return ReasonOf("big") == "NoNodeFits"; }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsGated("big"));
  EXPECT_THAT(Warnings("big"), ElementsAre("NoNodeFits"));
  ASSERT_EQ(List(Kind::kGpuClaim).size(), 1u);
  EXPECT_EQ(ConditionOf(List(Kind::kGpuClaim)[0], "Gathered"), "False");
  EXPECT_EQ(ConditionOf(List(Kind::kGpuClaim)[0], "Bound"), "False");
  Merge(Kind::kNode, "b", Cordon(false));
  ASSERT_TRUE(Await([&] { return RunsOn("big", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_EQ(ReasonOf("big"), "Placed");
  EXPECT_EQ(ConditionOf(List(Kind::kGpuClaim)[0], "Gathered"), "True");
  EXPECT_THAT(Warnings("big"), ElementsAre("NoNodeFits"));
}

TEST_F(StartStories, AForeignGateIsWaitedFor) {
  AddNode("a", {{kH100, 1}});
  Json machine = MachineObject("gated", "Always", FromTemplate("h100", 1));
  machine["spec"]["template"]["metadata"]["annotations"]
         ["sandbox.gpubinder/extra-gate"] = "example.org/hold";
  Create(Kind::kVirtualMachine, machine);
  ASSERT_TRUE(Await([&] { return ReasonOf("gated") == "ForeignGate"; }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsGated("gated"));
  // Nothing is booked behind somebody else's gate.
  ASSERT_EQ(List(Kind::kGpuClaim).size(), 1u);
  EXPECT_EQ(TextAt(List(Kind::kGpuClaim)[0], {"status", "nodeName"}), "");
  const std::string pod = TextAt(Launchers("gated")[0], {"metadata", "name"});
  Merge(Kind::kPod, pod,
        {{"spec", {{"schedulingGates", Json::array({{{"name", kOurGate}}})}}}});
  ASSERT_TRUE(Await([&] { return RunsOn("gated", "a"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_THAT(Warnings("gated"), ElementsAre("ForeignGate"));
}

TEST_F(StartStories, OfTwoMachinesForTheLastUnitTheOlderWins) {
  Create(Kind::kVirtualMachine,
         MachineObject("z-older", "Always", FromTemplate("h100", 1)));
  ASSERT_TRUE(Await([&] { return IsGated("z-older"); }));
  // Ages count in whole seconds, and by name the other would be first.
  const absl::Time second =
      absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()) + 1);
  absl::SleepFor(second - absl::Now());
  Create(Kind::kVirtualMachine,
         MachineObject("a-younger", "Always", FromTemplate("h100", 1)));
  ASSERT_TRUE(Await([&] {
    return ReasonOf("z-older") == "NoNodeFits" &&
           ReasonOf("a-younger") == "NoNodeFits";
  }));
  AddNode("a", {{kH100, 1}});
  ASSERT_TRUE(Await([&] { return RunsOn("z-older", "a"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsGated("a-younger"));
  Delete(Kind::kVirtualMachine, "z-older");
  ASSERT_TRUE(Await([&] { return RunsOn("a-younger", "a"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_THAT(Warnings("z-older"), ElementsAre("NoNodeFits"));
  EXPECT_THAT(Warnings("a-younger"), ElementsAre("NoNodeFits"));
}

}  // namespace
}  // namespace gpubinder
