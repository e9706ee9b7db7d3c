// The scheduler's words, against what the real one (v1.34.4) said: fact sheet
// real-apiserver, section 3.2. The pinned node is n1.

#include "k8s/embedded/scheduler_stand_in.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_cluster.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kTail[] = ". no new claims to deallocate, preemption: ";
constexpr char kPod[] = "/api/v1/namespaces/default/pods/p";

std::string PinnedPod(const std::string& terms, int gpus) {
  Json pod = *ParseJson(PodText("p", "", gpus));
  pod["spec"]["affinity"]["nodeAffinity"]
     ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
         *ParseJson(terms);
  return DumpJson(pod);
}
const std::string kPin =
    R"({"matchFields":[{"key":"metadata.name","operator":"In",
        "values":["n1"]}]})";

struct Verdict {
  std::string id;
  std::string change;  // a merge patch of n1
  std::string terms;
  int gpus = 1;
  std::string message;
};

std::vector<Verdict> Verdicts() {
  const std::string only = "[" + kPin + "]";
  return {
      {"too small", "{}", only, 9,
       absl::StrCat("0/3 nodes are available: 1 Insufficient nvidia.com/H100, "
                    "2 node(s) didn't satisfy plugin(s) [NodeAffinity]",
                    kTail,
                    "0/3 nodes are available: 3 Preemption is not helpful for "
                    "scheduling.")},
      {"cordoned", R"({"spec":{"unschedulable":true}})", only, 1,
       absl::StrCat("0/3 nodes are available: 1 node(s) were unschedulable, 2 "
                    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
                    kTail,
                    "0/3 nodes are available: 3 Preemption is not helpful for "
                    "scheduling.")},
      {"tainted", R"({"spec":{"taints":[{"key":"x","effect":"NoSchedule"}]}})",
       only, 1,
       "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) "
       "didn't satisfy plugin(s) [NodeAffinity]"},
      {"not there", "{}",
       R"([{"matchFields":[{"key":"metadata.name","operator":"In",
            "values":["gone"]}]}])",
       1,
       "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) "
       "[NodeAffinity]"},
      {"fails another requirement of its term", "{}",
       R"([{"matchExpressions":[{"key":"zone","operator":"Exists"}],
            "matchFields":[{"key":"metadata.name","operator":"In",
            "values":["n1"]}]}])",
       1,
       "0/3 nodes are available: 1 node(s) didn't match Pod's node "
       "affinity/selector, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"},
      {"pinned in two terms", "{}", "[" + kPin + "," + kPin + "]", 9,
       "0/3 nodes are available: 1 Insufficient nvidia.com/H100, 2 node(s) "
       "didn't satisfy plugin(s) [NodeAffinity]"},
      {"an empty term lets the others speak", "{}", "[{}," + kPin + "]", 9,
       "0/3 nodes are available: 1 Insufficient nvidia.com/H100, 2 node(s) "
       "didn't match Pod's node affinity/selector"},
  };
}

TEST(SchedulerStandIn, SaysWhyInTheSchedulersWords) {
  for (const Verdict& verdict : Verdicts()) {
    SCOPED_TRACE(verdict.id);
    TestCluster cluster;
    for (const char* name : {"n1", "n2", "n3"}) cluster.AddNode(name, 8);
    cluster.Call("PATCH", "/api/v1/nodes/n1", verdict.change, "merge");
    ASSERT_EQ(cluster.code(), 200);
    cluster.Call("POST", "/api/v1/namespaces/default/pods",
                 PinnedPod(verdict.terms, verdict.gpus));
    ASSERT_EQ(cluster.code(), 201);
    cluster.Settle();
    const Json pod = cluster.Call("GET", kPod);
    Json condition;
    for (const Json& one : pod["status"]["conditions"]) {
      if (one["type"] == "PodScheduled") condition = one;
    }
    EXPECT_EQ(TextAt(condition, {"reason"}), "Unschedulable");
    EXPECT_EQ(TextAt(condition, {"message"}).substr(0, verdict.message.size()),
              verdict.message);
    EXPECT_EQ(condition["observedGeneration"], 1);
    const std::vector<Json> events =
        cluster.Items("/api/v1/namespaces/default/events");
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["reason"], "FailedScheduling");
    EXPECT_EQ(events[0]["message"], condition["message"]);
  }
}

TEST(SchedulerStandIn, AFullNodeCouldBePreempted) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3"}) cluster.AddNode(name, 2);
  Json other = *ParseJson(PinnedPod("[" + kPin + "]", 2));
  other["metadata"]["name"] = "other";
  cluster.Call("POST", "/api/v1/namespaces/default/pods", DumpJson(other));
  cluster.Settle();
  cluster.Call("POST", "/api/v1/namespaces/default/pods",
               PinnedPod("[" + kPin + "]", 1));
  cluster.Settle();
  const Json pod = cluster.Call("GET", kPod);
  EXPECT_EQ(pod["status"]["conditions"][0]["message"],
            absl::StrCat("0/3 nodes are available: 1 Insufficient "
                         "nvidia.com/H100, 2 node(s) didn't satisfy plugin(s) "
                         "[NodeAffinity]",
                         kTail,
                         "0/3 nodes are available: 1 No preemption victims "
                         "found for incoming pod, 2 Preemption is not helpful "
                         "for scheduling."));
  // A waiting pod is bound as soon as there is room.
  cluster.Call("DELETE", "/api/v1/namespaces/default/pods/other");
  cluster.Settle();
  EXPECT_EQ(cluster.Call("GET", kPod)["spec"]["nodeName"], "n1");
}

TEST(SchedulerStandIn, NoNodesAtAll) {  // SO-7
  TestCluster cluster;
  cluster.Call("POST", "/api/v1/namespaces/default/pods", PodText("p", "", 1));
  cluster.Settle();
  EXPECT_EQ(cluster.Call("GET", kPod)["status"]["conditions"][0]["message"],
            "no nodes available to schedule pods");
}

TEST(SchedulerStandIn, LeavesGatedPodsAlone) {  // SG-6
  TestCluster cluster;
  cluster.AddNode("n1", 8);
  cluster.Call("POST", "/api/v1/namespaces/default/pods",
               PodText("p", "g.example/a", 1));
  cluster.Settle();
  const Json pod = cluster.Call("GET", kPod);
  EXPECT_EQ(TextAt(pod, {"spec", "nodeName"}), "");
  EXPECT_EQ(pod["status"]["conditions"][0]["reason"], "SchedulingGated");
}

TEST(SchedulerStandIn, KeepsTheTaintsOfANodesState) {  // CO-2, RD-2
  TestCluster cluster;
  cluster.AddNode("n1", 8);
  const auto taints = [&] {
    std::string text;
    const Json node = cluster.Call("GET", "/api/v1/nodes/n1");
    for (const Json& one : At(node, {"spec", "taints"})) {
      absl::StrAppend(&text, TextAt(one, {"key"}), ":", TextAt(one, {"effect"}),
                      " ");
    }
    return text;
  };
  cluster.Call("PATCH", "/api/v1/nodes/n1",
               R"({"spec":{"unschedulable":true}})", "merge");
  cluster.Settle();
  EXPECT_EQ(taints(), "node.kubernetes.io/unschedulable:NoSchedule ");
  cluster.Call("PATCH", "/api/v1/nodes/n1",
               R"({"spec":{"unschedulable":null}})", "merge");
  cluster.Settle();
  EXPECT_EQ(taints(), "");
  cluster.Call("PATCH", "/api/v1/nodes/n1/status",
               R"({"status":{"conditions":[{"type":"Ready",
                   "status":"False"}]}})",
               "merge");
  cluster.Settle();
  EXPECT_EQ(taints(),
            "node.kubernetes.io/not-ready:NoExecute "
            "node.kubernetes.io/not-ready:NoSchedule ");
}

}  // namespace
}  // namespace gpubinder::embedded
