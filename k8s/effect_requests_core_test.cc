// Each effect on others' kinds against the request that it has to become,
// written by hand.

#include <string>

#include "gtest/gtest.h"
#include "k8s/effect_codec.h"
#include "k8s/effect_test_requests.h"
#include "nlohmann/json.hpp"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr char kClaim[] =
    "target {kind: 'GPUClaim' namespace: 'a' name: 'c' uid: 'g-1' "
    "resource_version: '10'} ";
constexpr char kPod[] =
    "target {kind: 'Pod' namespace: 'a' name: 'p' uid: 'p-1' "
    "resource_version: '11'} ";

TEST(EffectCodecTest, PinsEveryTermAndUngatesInOnePatch) {
  const SentRequest sent = OnlyRequestOf(std::string(kPod) + R"(
      pin_pod {node_name: 'n1' gate_index: 1 has_affinity: true
        has_node_affinity: true has_tolerations: true
        term_indices: 0 term_indices: 2 terms_without_match_fields: 2
        add_tolerations {key: 'gpu' operator: 'Exists' effect: 'NoSchedule'}
        add_tolerations {key: 'x' value: 'y' toleration_seconds: 0}})");
  EXPECT_EQ(sent.verb, "json");
  EXPECT_EQ(sent.path, "/v1/pods a p ");
  const std::string terms =
      "/spec/affinity/nodeAffinity/"
      "requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/";
  Json want = Json::parse(R"([
      {"op": "replace", "path": "/metadata/resourceVersion", "value": "11"},
      {"op": "test", "path": "/metadata/uid", "value": "p-1"},
      {"op": "test", "path": "/spec/schedulingGates/1/name",
       "value": "gpu.cozystack.io/claims"},
      {"op": "add", "path": "0/matchFields/-",
       "value": {"key": "metadata.name", "operator": "In", "values": ["n1"]}},
      {"op": "add", "path": "2/matchFields",
       "value": [{"key": "metadata.name", "operator": "In",
                  "values": ["n1"]}]},
      {"op": "add", "path": "/spec/tolerations/-",
       "value": {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}},
      {"op": "add", "path": "/spec/tolerations/-",
       "value": {"key": "x", "value": "y", "tolerationSeconds": 0}},
      {"op": "remove", "path": "/spec/schedulingGates/1"}])");
  want[3]["path"] = terms + "0/matchFields/-";
  want[4]["path"] = terms + "2/matchFields";
  EXPECT_EQ(sent.body, want);
}

TEST(EffectCodecTest, AddsATermWhereThereIsNone) {
  const Json term = Json::parse(
      R"({"nodeSelectorTerms": [{"matchFields": [
          {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]})");
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  const auto add = [](const std::string& has) {
    return OnlyRequestOf(std::string(kPod) +
                         "pin_pod {node_name: 'n1' add_term: true " + has +
                         "add_tolerations {operator: 'Exists'}}")
        .body;
  };
  const Json bare = add("");
  ASSERT_EQ(bare.size(), 6);
  EXPECT_EQ(bare[3], Json({{"op", "add"},
                           {"path", "/spec/affinity"},
                           {"value", {{"nodeAffinity", {{required, term}}}}}}));
  EXPECT_EQ(bare[4], Json::parse(R"({"op": "add", "path": "/spec/tolerations",
                                     "value": [{"operator": "Exists"}]})"));
  EXPECT_EQ(bare[5]["path"], "/spec/schedulingGates/0");
  EXPECT_EQ(add("has_affinity: true ")[3],
            Json({{"op", "add"},
                  {"path", "/spec/affinity/nodeAffinity"},
                  {"value", {{required, term}}}}));
  EXPECT_EQ(add("has_affinity: true has_node_affinity: true ")[3],
            Json({{"op", "add"},
                  {"path", "/spec/affinity/nodeAffinity/" + required},
                  {"value", term}}));
}

TEST(EffectCodecTest, DeletesNameUidAndVersion) {
  const SentRequest pod = OnlyRequestOf(
      std::string(kPod) + "delete_pod {reason: REJECTED_BY_NODE}");
  EXPECT_EQ(pod.verb, "delete");
  EXPECT_EQ(pod.path, "/v1/pods a p ");
  EXPECT_EQ(pod.body, Json::parse(R"({"apiVersion": "v1",
      "kind": "DeleteOptions",
      "preconditions": {"uid": "p-1", "resourceVersion": "11"}})"));
  const SentRequest vmi = OnlyRequestOf(
      "target {kind: 'VirtualMachineInstance' namespace: 'a' name: 'web' "
      "uid: 'i-1'} delete_vmi {}");
  EXPECT_EQ(vmi.path, "kubevirt.io/v1/virtualmachineinstances a web ");
  EXPECT_EQ(vmi.body["preconditions"], Json::parse(R"({"uid": "i-1"})"));
  EXPECT_EQ(
      OnlyRequestOf(std::string(kClaim) + "delete_template_claim {}").path,
      "gpu.cozystack.io/v1alpha1/gpuclaims a c ");
  EXPECT_EQ(OnlyRequestOf("target {kind: 'Workload' namespace: 'a' name: "
                          "'gpu-c' uid: 'w-1'} delete_usage_record {}")
                .path,
            "cozystack.io/v1alpha1/workloads a gpu-c ");
}

TEST(EffectCodecTest, RestartsAVmByItsStatus) {
  const SentRequest sent = OnlyRequestOf(
      "target {kind: 'VirtualMachine' namespace: 'a' name: 'web' uid: 'v-1' "
      "resource_version: '8'} restart_vm {vmi_uid: 'i-1'}");
  EXPECT_EQ(sent.verb, "json");
  EXPECT_EQ(sent.path, "kubevirt.io/v1/virtualmachines a web status");
  EXPECT_EQ(sent.body, Json::parse(R"([
      {"op": "test", "path": "/metadata/resourceVersion", "value": "8"},
      {"op": "add", "path": "/status/stateChangeRequests",
       "value": [{"action": "Stop", "uid": "i-1"}, {"action": "Start"}]}])"));
}

TEST(EffectCodecTest, WarnsOnTheVmi) {
  const SentRequest sent = OnlyRequestOf(R"(
      target {kind: 'VirtualMachineInstance' namespace: 'a' name: 'web'
              uid: 'i-1' resource_version: '5'}
      emit_warning {name: 'web.0f' reason: NO_NODE_FITS note: '2 nodes \xff'
                    time_unix_seconds: 1796083200})");
  EXPECT_EQ(sent.verb, "create");
  EXPECT_EQ(sent.path, "/v1/events a  ");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "apiVersion": "v1", "kind": "Event",
      "metadata": {"name": "web.0f", "namespace": "a"},
      "involvedObject": {"apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance", "namespace": "a", "name": "web",
        "uid": "i-1"},
      "type": "Warning", "reason": "NoNodeFits", "message": "2 nodes \ufffd",
      "source": {"component": "gpubinder"}, "count": 1,
      "firstTimestamp": "2026-12-01T00:00:00Z",
      "lastTimestamp": "2026-12-01T00:00:00Z"})"));
}

TEST(EffectCodecTest, CreatesAndCorrectsAUsageRecord) {
  const std::string write =
      "write_usage_record {class_name: 'h100' resource: 'a.b/gpu' units: 2 "
      "owner {api_version: 'gpu.cozystack.io/v1alpha1' kind: 'GPUClaim' "
      "name: 'c' uid: 'g-1'}}";
  const Json status = Json::parse(
      R"({"kind": "gpu", "type": "h100", "resources": {"a.b/gpu": "2"},
          "operational": true})");
  const SentRequest made = OnlyRequestOf(
      "target {kind: 'Workload' namespace: 'a' name: 'gpu-c'} " + write);
  EXPECT_EQ(made.verb, "create");
  EXPECT_EQ(made.path, "cozystack.io/v1alpha1/workloads a  ");
  Json want = Json::parse(R"({
      "apiVersion": "cozystack.io/v1alpha1", "kind": "Workload",
      "metadata": {"name": "gpu-c", "namespace": "a", "ownerReferences": [
        {"apiVersion": "gpu.cozystack.io/v1alpha1", "kind": "GPUClaim",
         "name": "c", "uid": "g-1", "controller": false,
         "blockOwnerDeletion": false}]}})");
  want["status"] = status;
  EXPECT_EQ(made.body, want);

  const SentRequest corrected = OnlyRequestOf(
      "target {kind: 'Workload' namespace: 'a' name: 'gpu-c' uid: 'w-1' "
      "resource_version: '4'} " +
      write);
  EXPECT_EQ(corrected.verb, "json");
  want = Json::parse(R"([
      {"op": "replace", "path": "/metadata/resourceVersion", "value": "4"},
      {"op": "test", "path": "/metadata/uid", "value": "w-1"},
      {"op": "add", "path": "/status"}])");
  want[2]["value"] = status;
  EXPECT_EQ(corrected.body, want);
}

TEST(EffectCodecTest, TakesAUsageRecordOverAndItsLabelOff) {
  const SentRequest sent = OnlyRequestOf(
      "target {kind: 'Workload' namespace: 'a' name: 'gpu-c' uid: 'w-1' "
      "resource_version: '4'} write_usage_record {class_name: 'h100' "
      "resource: 'a.b/gpu' units: 2 set_owner: true remove_monitor_label: true "
      "owner {api_version: 'gpu.cozystack.io/v1alpha1' kind: 'GPUClaim' "
      "name: 'c' uid: 'g-1'}}");
  EXPECT_EQ(sent.body[2], Json::parse(R"({
      "op": "add", "path": "/metadata/ownerReferences", "value": [
        {"apiVersion": "gpu.cozystack.io/v1alpha1", "kind": "GPUClaim",
         "name": "c", "uid": "g-1", "controller": false,
         "blockOwnerDeletion": false}]})"));
  EXPECT_EQ(sent.body[3], Json::parse(R"({"op": "remove",
      "path": "/metadata/labels/workloads.cozystack.io~1monitor"})"));
  EXPECT_EQ(sent.body[4]["path"], "/status");
}

TEST(EffectCodecTest, FinalizersOfOthersStay) {
  const Json guard = Json::parse(R"([
      {"op": "replace", "path": "/metadata/resourceVersion", "value": "10"},
      {"op": "test", "path": "/metadata/uid", "value": "g-1"}])");
  const auto rest = [&](const std::string& write) {
    Json body = OnlyRequestOf(std::string(kClaim) + write).body;
    EXPECT_EQ(body[0], guard[0]);
    EXPECT_EQ(body[1], guard[1]);
    body.erase(0);
    body.erase(0);
    return body;
  };
  EXPECT_EQ(rest("add_finalizer {finalizer: 'a/b'}"),
            Json::parse(R"([{"op": "add", "path": "/metadata/finalizers/-",
                             "value": "a/b"}])"));
  EXPECT_EQ(rest("add_finalizer {finalizer: 'a/b' list_absent: true}"),
            Json::parse(R"([{"op": "add", "path": "/metadata/finalizers",
                             "value": ["a/b"]}])"));
  EXPECT_EQ(rest("remove_finalizer {finalizer: 'a/b' index: 2}"),
            Json::parse(R"([{"op": "test", "path": "/metadata/finalizers/2",
                             "value": "a/b"},
                            {"op": "remove",
                             "path": "/metadata/finalizers/2"}])"));
}

TEST(EffectCodecTest, CreatesAndCorrectsTheSettings) {
  const std::string write =
      "write_settings {resource_names: 'a/b,c/d' raw_resource_names: "
      "'denied'}";
  const SentRequest made = OnlyRequestOf(
      "target {kind: 'ConfigMap' namespace: 's' name: 'gpu-settings'} " +
      write);
  EXPECT_EQ(made.verb, "create");
  EXPECT_EQ(made.path, "/v1/configmaps s  ");
  EXPECT_EQ(made.body, Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
      "metadata": {"name": "gpu-settings", "namespace": "s"},
      "data": {"resourceNames": "a/b,c/d", "rawResourceNames": "denied"}})"));
  const SentRequest corrected = OnlyRequestOf(
      "target {kind: 'ConfigMap' namespace: 's' name: 'gpu-settings' "
      "uid: 'm-1' resource_version: '3'} " +
      write);
  EXPECT_EQ(corrected.verb, "merge");
  EXPECT_EQ(corrected.body, Json::parse(R"({
      "metadata": {"uid": "m-1", "resourceVersion": "3"},
      "data": {"resourceNames": "a/b,c/d", "rawResourceNames": "denied"}})"));
  EXPECT_EQ(
      OnlyRequestOf("target {kind: 'ConfigMap' namespace: 's' name: "
                    "'gpu-settings' uid: 'm-1' resource_version: '3'} "
                    "write_settings {resource_names: 'a/b' raw_resource_names: "
                    "'denied' remove_keys: 'mine'}")
          .body["data"],
      Json::parse(R"({"resourceNames": "a/b",
                            "rawResourceNames": "denied", "mine": null})"));
}

}  // namespace
}  // namespace gpubinder
