// Nodes that refuse a launcher, and where it goes then.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/kind.h"
#include "tools/stories/story.h"

namespace gpubinder {
using embedded::At;
using embedded::Json;
using embedded::TextAt;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RefusalStories : public Story {
 protected:
  std::vector<std::string> RejectedNodes(Kind kind, const std::string& name) {
    std::vector<std::string> nodes;
    const Json object = Get(kind, name);
    for (const Json& entry : At(object, {"status", "rejectedNodes"})) {
      nodes.push_back(TextAt(entry, {"nodeName"}));
    }
    return nodes;
  }
};

TEST_F(RefusalStories, AfterAKubeletsRefusalItStartsOnTheOtherNode) {
  Json refusing = NodeObject("a", {{kH100, 1}});
  refusing["metadata"]["annotations"]["sandbox.gpubinder/refuse"] =
      "UnexpectedAdmissionError";
  Create(Kind::kNode, refusing);
  AddNode("b", {{kH100, 4}});
  // The fullest first: a, which refuses.
  Create(Kind::kVirtualMachine,
         MachineObject("picky", "Always", FromTemplate("h100", 1)));
  ASSERT_TRUE(Await([&] { return RunsOn("picky", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_THAT(RejectedNodes(Kind::kGpuClaimSet, "picky"), ElementsAre("a"));
  // It was placed twice and never waited.
  EXPECT_THAT(Warnings("picky"), IsEmpty());
  // The claim of the VMI that failed has gone with it.
  EXPECT_EQ(List(Kind::kGpuClaim).size(), 1u);
}

TEST_F(RefusalStories, AfterASchedulersRefusalItStartsOnTheOtherNode) {
  AddNode("a", {{kH100, 1}});
  AddNode("b", {{kH100, 4}});
  Json hog = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", "hog"}}},
      {"spec",
       {{"nodeName", "a"},
        {"containers",
         Json::array({{{"name", "hog"},
                       {"image", "hog"},
                       {"resources", {{"requests", {{"cpu", "64"}}}}}}})}}}};
  Create(Kind::kPod, hog);
  Create(Kind::kVirtualMachine,
         MachineObject("picky", "Always", FromTemplate("h100", 1)));
  ASSERT_TRUE(Await([&] { return RunsOn("picky", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_THAT(RejectedNodes(Kind::kGpuClaimSet, "picky"), ElementsAre("a"));
  EXPECT_THAT(Warnings("picky"), IsEmpty());
  EXPECT_EQ(List(Kind::kGpuClaim).size(), 1u);
}

TEST_F(RefusalStories, AHeldClaimMovesWithItsMachineThatWasRefused) {
  Json refusing = NodeObject("a", {{kH100, 1}});
  refusing["metadata"]["annotations"]["sandbox.gpubinder/refuse"] = "OutOfcpu";
  Create(Kind::kNode, refusing);
  AddNode("b", {{kH100, 4}});
  Create(Kind::kGpuClaim, ClaimObject("web-gpu", "h100", 1));
  ASSERT_TRUE(Await([&] { return IsBoundTo("web-gpu", "a"); }));
  Create(Kind::kVirtualMachine,
         MachineObject("web", "Always", Held("web-gpu")));
  ASSERT_TRUE(Await([&] { return RunsOn("web", "b"); }));
  ASSERT_TRUE(AwaitQuiet());
  EXPECT_TRUE(IsBoundTo("web-gpu", "b"));
  // The claim has it too, unless the failed VMI had gone before (R2).
  EXPECT_THAT(RejectedNodes(Kind::kGpuClaimSet, "web"), ElementsAre("a"));
}

}  // namespace
}  // namespace gpubinder
