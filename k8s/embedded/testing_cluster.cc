#include "k8s/embedded/testing_cluster.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder::embedded {
namespace {

constexpr char kGate[] = "gpu.cozystack.io/claims";
constexpr char kDefault[] = "/namespaces/default/";

std::string KubeVirt(const std::string& plural, const std::string& name) {
  return absl::StrCat("/apis/kubevirt.io/v1", kDefault, plural, "/", name);
}

}  // namespace

TestCluster::TestCluster()
    : server({.clock = [this] { return clock.Now(); }}),
      transport_(InProcess([this](const ApiRequest& request) {
        return server.Handle(request);
      })) {
  server.SetAdmission(
      [this](const AdmissionCall& call) { return Admit(call); });
}

// Gates a launcher that has no gate yet; lets everything else pass.
absl::StatusOr<std::string> TestCluster::Admit(const AdmissionCall& call) {
  reviews.push_back(call);
  const Json review = *ParseJson(call.review);
  Json response = {{"uid", At(review, {"request", "uid"})}, {"allowed", true}};
  const Json& gates =
      At(review, {"request", "object", "spec", "schedulingGates"});
  if (call.path == "/mutate-pod" && gates.is_null()) {
    const Json patch =
        Json::array({{{"op", "add"},
                      {"path", "/spec/schedulingGates"},
                      {"value", Json::array({{{"name", kGate}}})}}});
    response["patch"] = absl::Base64Escape(DumpJson(patch));
    response["patchType"] = "JSONPatch";
  }
  return DumpJson({{"apiVersion", "admission.k8s.io/v1"},
                   {"kind", "AdmissionReview"},
                   {"response", std::move(response)}});
}

Json TestCluster::Call(const std::string& method, const std::string& target,
                       const std::string& body, const std::string& type) {
  const TestAnswer answer = transport_({method, target, body, type});
  code_ = answer.code;
  const absl::StatusOr<Json> parsed = ParseJson(answer.body);
  return parsed.ok() ? *parsed : Json();
}

std::vector<Json> TestCluster::Items(const std::string& target) {
  std::vector<Json> items;
  const Json list = Call("GET", target);
  for (const Json& item : Member(list, "items")) items.push_back(item);
  return items;
}

Json TestCluster::Vm(const std::string& name) {
  const Json vm = Call("GET", KubeVirt("virtualmachines", name));
  return code_ == 200 ? vm : Json();
}

Json TestCluster::Vmi(const std::string& name) {
  const Json vmi = Call("GET", KubeVirt("virtualmachineinstances", name));
  return code_ == 200 ? vmi : Json();
}

Json TestCluster::Launcher() {
  const std::vector<Json> pods =
      Items("/api/v1/namespaces/default/pods?labelSelector=kubevirt.io");
  return pods.size() == 1 ? pods[0] : Json();
}

void TestCluster::AddNode(const std::string& name, int gpus) {
  Call("POST", "/api/v1/nodes", NodeText(name, gpus));
  BINDER_CHECK(code_ == 201);
}

void TestCluster::StartVm(const std::string& name, const std::string& strategy,
                          int gpus) {
  Call("POST", KubeVirt("virtualmachines", ""),
       MachineText(name, strategy, gpus));
  BINDER_CHECK(code_ == 201);
  Settle();
}

void TestCluster::Pin(const Json& pod, const std::string& node) {
  const std::string terms =
      "/spec/affinity/nodeAffinity/"
      "requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
  const Json patch = Json::array(
      {{{"op", "replace"},
        {"path", "/metadata/resourceVersion"},
        {"value", At(pod, {"metadata", "resourceVersion"})}},
       {{"op", "add"},
        {"path", terms + "/matchFields"},
        {"value", Json::array({{{"key", "metadata.name"},
                                {"operator", "In"},
                                {"values", Json::array({node})}}})}},
       {{"op", "remove"}, {"path", "/spec/schedulingGates/0"}}});
  Call("PATCH",
       absl::StrCat("/api/v1", kDefault, "pods/",
                    TextAt(pod, {"metadata", "name"})),
       DumpJson(patch), "patch");
  BINDER_CHECK(code_ == 200);
}

void TestCluster::DeletePod(const Json& pod) {
  Call("DELETE",
       absl::StrCat("/api/v1", kDefault, "pods/",
                    TextAt(pod, {"metadata", "name"})),
       DumpJson({{"preconditions", {{"uid", At(pod, {"metadata", "uid"})}}}}));
  BINDER_CHECK(code_ == 200);
}

void TestCluster::Settle() { BINDER_CHECK(server.RunUntilIdle()); }

}  // namespace gpubinder::embedded
