// Each invariant is broken by hand, and the observer says which.

#include "tools/stories/server_invariants.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/sha256.h"
#include "tools/stories/objects.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kGate[] = "gpu.cozystack.io/claims";

class ServerInvariantsTest : public testing::Test {
 protected:
  ServerInvariantsTest() {
    store_.SetObserver(
        [this](const embedded::StoreEvent& e) { invariants_.See(e); });
    Put("nodes", "", NodeObject("a", {{kH100, 2}}));
    Put("nodes", "", NodeObject("b", {{kH100, 2}}));
  }

  void Put(const std::string& resource, const std::string& space,
           const Json& object) {
    store_.Put({resource, space, object["metadata"]["name"]}, object);
  }
  void PutClaim(const std::string& name, const std::string& node,
                const Json& more = Json::object()) {
    Json claim = ClaimObject(name, "h100", 2);
    if (!node.empty()) {
      claim["status"] = {
          {"phase", "Bound"}, {"nodeName", node}, {"resourceName", kH100}};
    }
    claim.merge_patch(more);
    Put("gpuclaims.gpu.cozystack.io", kTenant, claim);
  }
  void PutVmi(const std::string& name, const std::string& phase) {
    Put("virtualmachineinstances.kubevirt.io", kTenant,
        {{"metadata",
          {{"name", name}, {"namespace", kTenant}, {"uid", "vmi-" + name}}},
         {"status", {{"phase", phase}}}});
  }
  // The launcher of VMI web, which names the claim web-gpu.
  Json Launcher(const std::vector<std::string>& gates,
                const std::string& pinned) {
    Json pod = {
        {"metadata",
         {{"name", "launcher"},
          {"namespace", kTenant},
          {"uid", "pod-1"},
          {"labels",
           {{"kubevirt.io", "virt-launcher"}, {"vm.kubevirt.io/name", "web"}}},
          {"annotations", {{kGate, Held("web-gpu")}}},
          {"ownerReferences", Json::array({{{"kind", "VirtualMachineInstance"},
                                            {"uid", "vmi-web"},
                                            {"controller", true}}})}}},
        {"spec", {{"schedulingGates", Json::array()}}}};
    for (const std::string& gate : gates) {
      pod["spec"]["schedulingGates"].push_back({{"name", gate}});
    }
    Json term = {{"matchExpressions",
                  Json::array({{{"key", "x"}, {"operator", "Exists"}}})}};
    if (!pinned.empty()) {
      term["matchFields"] = Json::array({{{"key", "metadata.name"},
                                          {"operator", "In"},
                                          {"values", Json::array({pinned})}}});
    }
    pod["spec"]["affinity"]["nodeAffinity"]
       ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
           Json::array({term});
    return pod;
  }
  void PutPod(const Json& pod) { Put("pods", kTenant, pod); }
  void RemovePod() { store_.Remove({"pods", kTenant, "launcher"}); }
  void PutSet(const Json& status) {
    Put("gpuclaimsets.gpu.cozystack.io", kTenant,
        {{"metadata", {{"name", "web"}, {"namespace", kTenant}}},
         {"status", status}});
  }
  void PutWarning(const std::string& name, const std::string& reason) {
    Put("events", kTenant,
        {{"metadata", {{"name", name}}},
         {"source", {{"component", "gpubinder"}}},
         {"involvedObject", {{"uid", "vmi-web"}}},
         {"reason", reason}});
  }
  Json Refused(Json pod) {
    pod["status"]["conditions"] =
        Json::array({{{"type", "PodScheduled"}, {"reason", "Unschedulable"}}});
    return pod;
  }
  static Json RejectionOf(const std::string& pod) {
    return {{"rejectedNodes", Json::array({{{"podUID", pod}}})}};
  }

  embedded::Store store_{100};
  ServerInvariants invariants_;
};

TEST_F(ServerInvariantsTest, BindingMoreThanIsAllocatableBreaksC1) {
  PutClaim("one", "a");
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
  PutClaim("two", "a");
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("C1: ")));
}

TEST_F(ServerInvariantsTest, AFallOfAllocatableExcusesC1ButNoNewBinding) {
  PutClaim("one", "a");
  Put("nodes", "", NodeObject("a", {{kH100, 1}}));
  PutClaim("one", "a", {{"status", {{"conditions", Json::array()}}}});
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
  PutClaim("one", "");
  PutClaim("one", "a");
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("C1: ")));
}

TEST_F(ServerInvariantsTest, AnUngatedLauncherWithoutPinBreaksP1) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "a");
  PutPod(Launcher({kGate}, ""));
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
  PutPod(Launcher({}, ""));
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("P1: ")));
}

TEST_F(ServerInvariantsTest, UngatingForANodeWithoutTheClaimsBreaksP2) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "b");
  PutPod(Launcher({kGate}, ""));
  PutPod(Launcher({}, "a"));
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("P2: ")));
}

TEST_F(ServerInvariantsTest, APinnedLauncherWithItsClaimsBreaksNothing) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "a");
  PutPod(Launcher({kGate}, ""));
  PutPod(Launcher({}, "a"));
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
}

TEST_F(ServerInvariantsTest, TouchingOtherGatesBreaksP4) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "a");
  PutPod(Launcher({"x", kGate, "y"}, ""));
  PutPod(Launcher({"x", kGate}, ""));  // its owner took it off
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
  PutPod(Launcher({}, "a"));
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("P4: ")));
  RemovePod();
  PutPod(Launcher({kGate, kGate}, ""));
  EXPECT_THAT(
      invariants_.Broken(),
      ElementsAre(StartsWith("P4: "), StartsWith("P6: "), StartsWith("R1: "),
                  StartsWith("R1: "), StartsWith("P4: ")));
}

TEST_F(ServerInvariantsTest, DeletingALauncherBeforeTheRefusalBreaksR1) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "a");
  PutPod(Refused(Launcher({}, "a")));
  PutSet(RejectionOf("pod-1"));
  RemovePod();
  // The claim lacks it.
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("R1: ")));
}

TEST_F(ServerInvariantsTest, DeletingALauncherAfterTheRefusalBreaksNothing) {
  PutVmi("web", "Scheduling");
  PutClaim("web-gpu", "a", {{"status", RejectionOf("pod-1")}});
  PutPod(Refused(Launcher({}, "a")));
  PutSet(RejectionOf("pod-1"));
  RemovePod();
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
}

TEST_F(ServerInvariantsTest, TakingAClaimFromALiveVmiBreaksG5) {
  const auto held_by = [](const std::string& uid) {
    return Json{{"status", {{"attachedTo", {{"uid", uid}}}}}};
  };
  PutVmi("web", "Running");
  PutClaim("web-gpu", "a", held_by("vmi-web"));
  PutClaim("web-gpu", "a", held_by("vmi-other"));
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("G5: ")));
  PutClaim("web-gpu", "a", held_by("vmi-web"));
  PutVmi("web", "Succeeded");
  PutClaim("web-gpu", "a", held_by("vmi-other"));
  EXPECT_EQ(invariants_.Broken().size(), 1u);
}

TEST_F(ServerInvariantsTest, ATemplateClaimOfAnotherNameBreaksL3) {
  PutVmi("web", "Scheduling");
  const Json made = {
      {"metadata",
       {{"labels", {{"gpu.cozystack.io/template-claim", "web"}}},
        {"ownerReferences", Json::array({{{"uid", "vmi-web"}}})}}}};
  PutClaim(absl::StrCat("web-0-", Sha256Hex("vmi-web").substr(0, 8)), "", made);
  EXPECT_THAT(invariants_.Broken(), IsEmpty());
  PutClaim("web-0-12345678", "", made);
  EXPECT_THAT(invariants_.Broken(), ElementsAre(StartsWith("L3: ")));
}

TEST_F(ServerInvariantsTest, EachChangeOfReasonHasItsOneWarning) {
  const auto stands = [this](int transitions, const std::string& reason) {
    PutSet({{"vmiUID", "vmi-web"},
            {"transitions", transitions},
            {"reason", reason}});
  };
  PutVmi("web", "Scheduling");
  PutWarning("w1", "NoNodeFits");
  stands(1, "NoNodeFits");
  stands(2, "Placed");
  EXPECT_THAT(invariants_.BrokenAtTheEnd(), IsEmpty());
  PutWarning("w2", "NoNodeFits");
  EXPECT_THAT(invariants_.BrokenAtTheEnd(), ElementsAre(StartsWith("E1: ")));
  stands(3, "OverBudget");
  EXPECT_THAT(invariants_.BrokenAtTheEnd(),
              ElementsAre(StartsWith("E1: "), StartsWith("E2: ")));
}

}  // namespace
}  // namespace gpubinder
