// The stand-in against what KubeVirt's real virt-controller was seen to do
// (fact sheet kubevirt-real, sections a to e).

#include "k8s/embedded/kubevirt_stand_in.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_cluster.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kVmi[] =
    "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/a";
constexpr char kVmStatus[] =
    "/apis/kubevirt.io/v1/namespaces/default/virtualmachines/a/status";

class KubeVirtStandInTest : public testing::Test {
 protected:
  std::string Uid() { return TextAt(cluster_.Vmi("a"), {"metadata", "uid"}); }
  std::string Phase() { return TextAt(cluster_.Vmi("a"), {"status", "phase"}); }
  std::string Printable() {
    return TextAt(cluster_.Vm("a"), {"status", "printableStatus"});
  }
  // A pinned launcher that its node refuses: one unit is there, two wanted.
  void StartRefused(const std::string& strategy) {
    cluster_.AddNode("n1", 1);
    cluster_.StartVm("a", strategy, 2);
    Ask();
    cluster_.Pin(cluster_.Launcher(), "n1");
    cluster_.Settle();
    ASSERT_EQ(Phase(), "Scheduling");
  }
  void StartRunning(const std::string& strategy) {
    cluster_.AddNode("n1", 8);
    cluster_.StartVm("a", strategy, 2);
    Ask();
    cluster_.Pin(cluster_.Launcher(), "n1");
    cluster_.Settle();
    ASSERT_EQ(Phase(), "Running");
  }
  // A Manual VM starts only when it is asked to.
  void Ask() {
    if (!cluster_.Vmi("a").is_null()) return;
    Request(Json::array({{{"action", "Start"}}}));
  }
  void Request(const Json& requests) {
    cluster_.Call("PATCH", kVmStatus,
                  DumpJson({{"status", {{"stateChangeRequests", requests}}}}),
                  "merge");
    ASSERT_EQ(cluster_.code(), 200);
    cluster_.Settle();
  }
  void Restart(const std::string& uid) {
    Request(Json::array(
        {{{"action", "Stop"}, {"uid", uid}}, {{"action", "Start"}}}));
  }
  void Advance(int seconds) {
    cluster_.clock.Advance(absl::Seconds(seconds));
    cluster_.Settle();
  }

  TestCluster cluster_;
};

TEST_F(KubeVirtStandInTest, AGatedLauncherWaits) {  // a, b
  cluster_.AddNode("n1", 8);
  cluster_.StartVm("a", "Always", 3);
  const Json pod = cluster_.Launcher();
  ASSERT_FALSE(pod.is_null());
  const Json vmi = cluster_.Vmi("a");
  const std::string uid = TextAt(vmi, {"metadata", "uid"});
  EXPECT_EQ(TextAt(pod, {"status", "phase"}), "Pending");
  EXPECT_EQ(pod["spec"]["schedulingGates"],
            Json::array({{{"name", "gpu.cozystack.io/claims"}}}));
  EXPECT_EQ(Phase(), "Scheduling");
  EXPECT_EQ(vmi["status"]["activePods"],
            Json({{TextAt(pod, {"metadata", "uid"}), ""}}));
  EXPECT_EQ(Printable(), "Starting");
  EXPECT_TRUE(HasText(vmi["metadata"]["finalizers"],
                      "kubevirt.io/foregroundDeleteVirtualMachine"));
  EXPECT_TRUE(HasText(vmi["metadata"]["finalizers"],
                      "kubevirt.io/virtualMachineControllerFinalize"));

  EXPECT_EQ(pod["metadata"]["labels"], Json({{"app", "a"},
                                             {"kubevirt.io", "virt-launcher"},
                                             {"kubevirt.io/created-by", uid},
                                             {"vm.kubevirt.io/name", "a"},
                                             {"vmi.kubevirt.io/id", "a"}}));
  EXPECT_EQ(pod["metadata"]["annotations"]["gpu.cozystack.io/claims"],
            "[{\"claimName\":\"a\"}]");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["uid"], uid);
  const Json resources = pod["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["limits"],
            Json({{"nvidia.com/H100", "3"},
                  {"devices.kubevirt.io/kvm", "1"},
                  {"devices.kubevirt.io/tun", "1"},
                  {"devices.kubevirt.io/vhost-net", "1"}}));
  EXPECT_EQ(resources["requests"]["cpu"], "100m");
  EXPECT_EQ(resources["requests"]["memory"], "2336Mi");
  EXPECT_EQ(pod["spec"]["terminationGracePeriodSeconds"], 35);
  EXPECT_EQ(pod["spec"]["affinity"]["nodeAffinity"]
               ["requiredDuringSchedulingIgnoredDuringExecution"]
               ["nodeSelectorTerms"][0]["matchExpressions"][0]["key"],
            "node-labeller.kubevirt.io/obsolete-host-model");
  Advance(86400);
  EXPECT_EQ(Uid(), uid) << "a launcher may wait for days";
}

TEST_F(KubeVirtStandInTest, PinnedAndUngatedItRuns) {  // c
  StartRunning("Always");
  const Json pod = cluster_.Launcher(), vmi = cluster_.Vmi("a");
  EXPECT_EQ(TextAt(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(TextAt(pod, {"metadata", "labels", "kubevirt.io/nodeName"}), "n1");
  EXPECT_EQ(vmi["status"]["activePods"],
            Json({{TextAt(pod, {"metadata", "uid"}), "n1"}}));
  EXPECT_EQ(TextAt(vmi, {"status", "nodeName"}), "n1");
  EXPECT_EQ(TextAt(vmi, {"metadata", "labels", "kubevirt.io/nodeName"}), "n1");
  EXPECT_EQ(Printable(), "Running");
}

TEST_F(KubeVirtStandInTest, ActivePodsNamesNoPodBeforeItExists) {  // a
  std::string trouble;
  std::vector<std::string> pods;
  cluster_.server.ObserveRevisions([&](const StoreEvent& event) {
    if (event.key.resource == "pods") {
      pods.push_back(TextAt(*event.object, {"metadata", "uid"}));
    }
    const Json& active = At(*event.object, {"status", "activePods"});
    if (!active.is_object()) return;
    for (const auto& [uid, node] : active.items()) {
      if (std::find(pods.begin(), pods.end(), uid) == pods.end()) {
        trouble = uid;
      }
    }
  });
  StartRunning("Always");
  EXPECT_EQ(trouble, "");
  EXPECT_GE(pods.size(), 3u);
}

TEST_F(KubeVirtStandInTest, HaltingAGatedVmTakesAllAway) {  // b
  cluster_.StartVm("a", "Always", 1);
  cluster_.Call("PATCH",
                "/apis/kubevirt.io/v1/namespaces/default/virtualmachines/a",
                "{\"spec\":{\"runStrategy\":\"Halted\"}}", "merge");
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  EXPECT_TRUE(cluster_.Launcher().is_null());
  EXPECT_EQ(Printable(), "Stopped");
}

TEST_F(KubeVirtStandInTest, ADeletedVmGoesWithAllThatItOwns) {
  StartRunning("Always");
  cluster_.Call("DELETE",
                "/apis/kubevirt.io/v1/namespaces/default/virtualmachines/a");
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Vm("a").is_null());
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  EXPECT_TRUE(cluster_.Launcher().is_null());
}

// d: the launcher is refused by the scheduler and deleted.
TEST_F(KubeVirtStandInTest, AlwaysStartsAgainAfterABackoff) {
  StartRefused("Always");
  const std::string first = Uid();
  cluster_.DeletePod(cluster_.Launcher());
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  EXPECT_EQ(Printable(), "CrashLoopBackOff");
  const Json failure = cluster_.Vm("a")["status"]["startFailure"];
  EXPECT_EQ(failure["consecutiveFailCount"], 1);
  EXPECT_EQ(failure["lastFailedVMIUID"], first);
  Advance(9);  // 10 to 15 seconds
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  Advance(7);
  EXPECT_NE(Uid(), "");
  EXPECT_NE(Uid(), first);

  cluster_.DeletePod(cluster_.Launcher());
  cluster_.Settle();
  Advance(39);  // 40 to 60
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  Advance(22);
  EXPECT_FALSE(cluster_.Vmi("a").is_null());
}

TEST_F(KubeVirtStandInTest, RerunOnFailureAsksItselfToStart) {
  StartRefused("RerunOnFailure");
  cluster_.DeletePod(cluster_.Launcher());
  cluster_.Settle();
  EXPECT_EQ(cluster_.Vm("a")["status"]["stateChangeRequests"],
            Json::array({{{"action", "Start"}}}));
  Advance(16);
  EXPECT_EQ(Phase(), "Scheduling");
}

TEST_F(KubeVirtStandInTest, OnceAndManualStayFailed) {
  for (const char* strategy : {"Once", "Manual"}) {
    TestCluster cluster;
    cluster.AddNode("n1", 1);
    cluster.StartVm("a", strategy, 2);
    if (cluster.Vmi("a").is_null()) {
      cluster.Call("PATCH", kVmStatus,
                   R"({"status":{"stateChangeRequests":[{"action":"Start"}]}})",
                   "merge");
      cluster.Settle();
    }
    const std::string uid = TextAt(cluster.Vmi("a"), {"metadata", "uid"});
    cluster.DeletePod(cluster.Launcher());
    cluster.Settle();
    cluster.clock.Advance(absl::Hours(1));
    cluster.Settle();
    EXPECT_EQ(TextAt(cluster.Vmi("a"), {"status", "phase"}), "Failed");
    EXPECT_EQ(TextAt(cluster.Vmi("a"), {"metadata", "uid"}), uid);
    EXPECT_EQ(TextAt(cluster.Vm("a"), {"status", "printableStatus"}),
              std::string(strategy) == "Once" ? "CrashLoopBackOff" : "Stopped");
  }
}

struct Ending {
  const char* strategy;
  bool comes_back;  // at once, with another uid
};

// e: a running VMI is deleted by somebody.
TEST_F(KubeVirtStandInTest, WhatFollowsTheDeleteOfARunningVmi) {
  for (const Ending& ending : std::vector<Ending>{{"Always", true},
                                                  {"RerunOnFailure", false},
                                                  {"Once", true},
                                                  {"Manual", false}}) {
    SCOPED_TRACE(ending.strategy);
    TestCluster cluster;
    cluster.AddNode("n1", 8);
    cluster.StartVm("a", ending.strategy, 2);
    if (cluster.Vmi("a").is_null()) {
      cluster.Call("PATCH", kVmStatus,
                   R"({"status":{"stateChangeRequests":[{"action":"Start"}]}})",
                   "merge");
      cluster.Settle();
    }
    cluster.Pin(cluster.Launcher(), "n1");
    cluster.Settle();
    const std::string uid = TextAt(cluster.Vmi("a"), {"metadata", "uid"});
    ASSERT_EQ(TextAt(cluster.Vmi("a"), {"status", "phase"}), "Running");
    cluster.Call("DELETE", kVmi);
    cluster.Settle();
    EXPECT_NE(TextAt(cluster.Vmi("a"), {"metadata", "uid"}), uid);
    EXPECT_EQ(!cluster.Vmi("a").is_null(), ending.comes_back);
  }
}

TEST_F(KubeVirtStandInTest, DeletingAWaitingVmiUnderAlwaysCostsABackoff) {
  StartRefused("Always");
  cluster_.Call("DELETE", kVmi);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Vmi("a").is_null());
  Advance(16);
  EXPECT_FALSE(cluster_.Vmi("a").is_null());
}

TEST_F(KubeVirtStandInTest, RequestedRestartStartsARunningVmAnew) {
  StartRunning("RerunOnFailure");
  const std::string uid = Uid();
  Restart(uid);
  EXPECT_NE(Uid(), uid);
  EXPECT_EQ(Phase(), "Scheduling");
}

TEST_F(KubeVirtStandInTest, RequestedRestartBringsAManualVmBackAtOnce) {
  StartRefused("Manual");
  const std::string uid = Uid();
  Restart(uid);
  EXPECT_NE(Uid(), uid);
  EXPECT_EQ(Phase(), "Scheduling");
}

TEST_F(KubeVirtStandInTest, RestartOfAReplacedVmiDoesNothing) {
  StartRunning("Always");
  const std::string uid = Uid();
  Restart("another");
  EXPECT_EQ(Uid(), uid);
  EXPECT_EQ(Phase(), "Running");
  EXPECT_FALSE(cluster_.Vm("a")["status"].contains("stateChangeRequests"));
}

TEST_F(KubeVirtStandInTest, AGuestThatCrashesStartsAtOnce) {  // e
  StartRunning("Always");
  const std::string uid = Uid();
  cluster_.Call("PATCH",
                absl::StrCat("/api/v1/namespaces/default/pods/",
                             TextAt(cluster_.Launcher(), {"metadata", "name"}),
                             "/status"),
                R"({"status":{"phase":"Failed"}})", "merge");
  cluster_.Settle();
  EXPECT_NE(Uid(), uid);
  EXPECT_EQ(Phase(), "Scheduling");
  EXPECT_FALSE(cluster_.Vm("a")["status"].contains("startFailure"));
}

// e, "Refused by the kubelet".
TEST_F(KubeVirtStandInTest, ARefusalByTheKubeletFailsTheVmi) {
  for (const char* reason : {"OutOfcpu", "UnexpectedAdmissionError"}) {
    TestCluster cluster;
    cluster.AddNode("n1", 8);
    cluster.Call("PATCH", "/api/v1/nodes/n1",
                 absl::StrCat("{\"metadata\":{\"annotations\":{"
                              "\"sandbox.gpubinder/refuse\":\"",
                              reason, "\"}}}"),
                 "merge");
    cluster.StartVm("a", "Once", 2);
    cluster.Pin(cluster.Launcher(), "n1");
    cluster.Settle();
    const Json pod = cluster.Launcher();
    EXPECT_EQ(TextAt(pod, {"status", "phase"}), "Failed");
    EXPECT_EQ(TextAt(pod, {"status", "reason"}), reason);
    EXPECT_EQ(TextAt(pod, {"status", "message"}).substr(0, 18),
              "Pod was rejected: ");
    EXPECT_EQ(TextAt(cluster.Vmi("a"), {"status", "phase"}), "Failed");
  }
}

TEST_F(KubeVirtStandInTest, QuotaCountsGatedPodsAndItWaits) {  // f
  cluster_.AddNode("n1", 8);
  cluster_.Call("POST", "/api/v1/namespaces/default/resourcequotas",
                R"({"metadata":{"name":"q"},
                    "spec":{"hard":{"requests.nvidia.com/H100":"3"}}})");
  cluster_.StartVm("b", "Always", 2);
  cluster_.StartVm("a", "Always", 2);
  const Json vmi = cluster_.Vmi("a");
  EXPECT_EQ(TextAt(vmi, {"status", "phase"}), "Pending");
  EXPECT_EQ(TextAt(vmi["status"]["conditions"][0], {"reason"}), "FailedCreate");
  EXPECT_NE(TextAt(vmi["status"]["conditions"][0], {"message"})
                .find("exceeded quota: q, requested: "
                      "requests.nvidia.com/H100=2, used: "
                      "requests.nvidia.com/H100=2, limited: "
                      "requests.nvidia.com/H100=3"),
            std::string::npos)
      << vmi;
  cluster_.Call("DELETE",
                "/apis/kubevirt.io/v1/namespaces/default/virtualmachines/b");
  cluster_.Settle();
  Advance(1000);
  EXPECT_EQ(Phase(), "Scheduling");
}

}  // namespace
}  // namespace gpubinder::embedded
