// Admission of VMIs and launchers (AR, MW rules; fact sheet real-apiserver,
// section 3.5; kubevirt-real, section f).

#include "k8s/embedded/admission.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_calls.h"
#include "k8s/embedded/testing_cluster.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kVmis[] =
    "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances";
const std::string kVmi =
    R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
        "metadata":{"name":"v","annotations":{"gpu.cozystack.io/claims":"[]"}},
        "spec":{}})";

Json RequestOf(const AdmissionCall& call) {
  return Member(*ParseJson(call.review), "request");
}

TEST(Admission, SendsAReviewOfALauncher) {
  TestCluster cluster;
  cluster.StartVm("a", "Always", 1);
  ASSERT_EQ(cluster.reviews.size(), 4u);
  EXPECT_EQ(cluster.reviews[0].path, "/mutate-vmi");
  EXPECT_EQ(cluster.reviews[2].path, "/mutate-pod");
  const Json review = *ParseJson(cluster.reviews[2].review);
  EXPECT_EQ(review["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(review["kind"], "AdmissionReview");
  const Json request = RequestOf(cluster.reviews[2]);
  EXPECT_EQ(request["operation"], "CREATE");
  EXPECT_EQ(request["namespace"], "default");
  EXPECT_EQ(request["name"], "");  // AR-8: there is only a generateName
  EXPECT_EQ(request["dryRun"], false);
  EXPECT_EQ(request["oldObject"], nullptr);
  EXPECT_EQ(request["userInfo"]["username"],
            "system:serviceaccount:cozy-kubevirt:kubevirt-controller");
  EXPECT_EQ(request["kind"]["kind"], "Pod");
  EXPECT_EQ(request["resource"]["resource"], "pods");
  EXPECT_FALSE(request["object"]["metadata"].contains("uid"));
  EXPECT_EQ(request["object"]["metadata"]["generateName"], "virt-launcher-a-");
}

TEST(Admission, CallsAgainWithWhatBecameOfTheObject) {  // MW-8
  TestCluster cluster;
  cluster.StartVm("a", "Always", 1);
  ASSERT_EQ(cluster.reviews.size(), 4u);
  EXPECT_EQ(RequestOf(cluster.reviews[0])["object"]["metadata"]["finalizers"],
            Json::array({"kubevirt.io/virtualMachineControllerFinalize"}));
  EXPECT_EQ(RequestOf(cluster.reviews[1])["object"]["metadata"]["finalizers"],
            Json::array({"kubevirt.io/virtualMachineControllerFinalize",
                         "kubevirt.io/foregroundDeleteVirtualMachine"}));
  EXPECT_TRUE(
      At(RequestOf(cluster.reviews[2]), {"object", "spec", "schedulingGates"})
          .is_null());
  EXPECT_EQ(RequestOf(cluster.reviews[3])["object"]["spec"]["schedulingGates"],
            Json::array({{{"name", "gpu.cozystack.io/claims"}}}));
}

TEST(Admission, LeavesOthersAlone) {  // matchConditions, objectSelector
  TestCluster cluster;
  cluster.Call("POST", "/api/v1/namespaces/default/pods", PodText("p", "", 1));
  cluster.Call("POST", kVmis,
               R"({"apiVersion":"kubevirt.io/v1","kind":
                   "VirtualMachineInstance","metadata":{"name":"v"}})");
  EXPECT_EQ(cluster.code(), 201);
  EXPECT_TRUE(cluster.reviews.empty());
}

TEST(Admission, DryRunIsToldAndStoresNothing) {
  TestCluster cluster;
  const uint64_t before = cluster.server.revision();
  cluster.Call("POST", std::string(kVmis) + "?dryRun=All", kVmi);
  EXPECT_EQ(cluster.code(), 201);
  ASSERT_FALSE(cluster.reviews.empty());
  EXPECT_EQ(RequestOf(cluster.reviews[0])["dryRun"], true);
  EXPECT_EQ(cluster.server.revision(), before);
}

struct AnswerCase {
  std::string id;
  std::string response;  // members beside uid
  int code = 0;
  std::string said;
};

TEST(Admission, JudgesTheAnswer) {
  const std::vector<AnswerCase> cases = {
      {"allowed", R"("allowed":true)", 201, ""},
      {"denied", R"("allowed":false,"status":{"code":422,"reason":"Invalid",
                    "message":"entry 1: no such class"}})",
       422,
       "admission webhook \\\"vmi.gpu.cozystack.io\\\" denied the request: "
       "entry 1: no such class"},
      {"AR-3 denied with a code below 400",
       R"("allowed":false,"status":{"code":200,"message":"m"})", 400, "m"},
      {"AR-4 a patch without its type", R"("allowed":true,"patch":"W10=")", 500,
       "patch and patchType JSONPatch go together"},
      {"AR-4 an empty patch is fine",
       R"("allowed":true,"patch":"W10=","patchType":"JSONPatch")", 201, ""},
      {"AR-5 a patch that does not apply",
       // [{"op":"remove","path":"/zzz"}]
       R"("allowed":true,"patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3p6eiJ9XQ==",
          "patchType":"JSONPatch")",
       500, "Internal error occurred"},
  };
  for (const AnswerCase& one : cases) {
    SCOPED_TRACE(one.id);
    EmbeddedServer server({});
    server.SetAdmission(
        [&](const AdmissionCall& call) -> absl::StatusOr<std::string> {
          const std::string uid = TextAt(RequestOf(call), {"uid"});
          std::string members = one.response;
          if (one.id == "denied") members.pop_back();  // its own brace
          return "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
                 "\"AdmissionReview\",\"response\":{\"uid\":\"" +
                 uid + "\"," + members + "}}";
        });
    const TestAnswer answer = InProcess([&](const ApiRequest& request) {
      return server.Handle(request);
    })({"POST", kVmis, kVmi});
    EXPECT_EQ(answer.code, one.code) << answer.body;
    EXPECT_NE(answer.body.find(one.said), std::string::npos) << answer.body;
  }
}

TEST(Admission, AFailedCallRefusesTheWrite) {  // failurePolicy Fail
  EmbeddedServer server({.admission = [](const AdmissionCall&) {
    return absl::StatusOr<std::string>(absl::UnavailableError("refused"));
  }});
  const TestAnswer answer = InProcess([&](const ApiRequest& request) {
    return server.Handle(request);
  })({"POST", kVmis, kVmi});
  EXPECT_EQ(answer.code, 500);
  EXPECT_NE(answer.body.find("failed calling webhook "
                             "\\\"vmi.gpu.cozystack.io\\\": refused"),
            std::string::npos)
      << answer.body;
}

TEST(Admission, AnAnswerToAnotherReviewIsAFailedCall) {  // AR-3
  EmbeddedServer server({.admission = [](const AdmissionCall&) {
    return absl::StatusOr<std::string>(
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
            "response":{"uid":"other","allowed":true}})");
  }});
  EXPECT_EQ(InProcess([&](const ApiRequest& request) {
              return server.Handle(request);
            })({"POST", kVmis, kVmi})
                .code,
            500);
}

TEST(Admission, TheHookMayUseTheServer) {
  EmbeddedServer server({});
  std::unique_ptr<ApiClient> client = server.NewClient("webhook", {});
  int asked = 0;
  server.SetAdmission([&](const AdmissionCall& call) {
    const auto found = client->Get(
        {.version = "v1", .plural = "namespaces", .name = "default"},
        absl::Seconds(1));
    if (found.ok()) ++asked;
    return absl::StatusOr<std::string>(
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
            "response":{"allowed":true,"uid":")" +
        TextAt(RequestOf(call), {"uid"}) + "\"}}");
  });
  EXPECT_EQ(InProcess([&](const ApiRequest& request) {
              return server.Handle(request);
            })({"POST", kVmis, kVmi})
                .code,
            201);
  EXPECT_EQ(asked, 2);
}

TEST(Admission, ARefusedVmiIsTriedAgainAfterADelayThatDoubles) {  // f
  TestCluster cluster;
  int refused = 0;
  cluster.server.SetAdmission([&](const AdmissionCall&) {
    ++refused;
    return absl::StatusOr<std::string>(absl::UnavailableError("no"));
  });
  cluster.StartVm("a", "Always", 1);
  EXPECT_EQ(refused, 1);
  for (int i = 0; i < 10; ++i) {  // 5, 10, ... 2560 ms: 5.115 s in all
    cluster.clock.Advance(absl::Milliseconds(5 << i));
    cluster.Settle();
  }
  EXPECT_EQ(refused, 11);
  cluster.clock.Advance(absl::Milliseconds(5119));
  cluster.Settle();
  EXPECT_EQ(refused, 11);
}

}  // namespace
}  // namespace gpubinder::embedded
