// Each effect on our own kinds against the request that it has to become,
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
constexpr char kSet[] =
    "target {kind: 'GPUClaimSet' namespace: 'a' name: 'web' uid: 's-1' "
    "resource_version: '12'} ";
constexpr char kNewSet[] =
    "target {kind: 'GPUClaimSet' namespace: 'a' name: 'web'} ";
constexpr char kOwner[] =
    "owner {api_version: 'kubevirt.io/v1' kind: 'VirtualMachine' name: 'web' "
    "uid: 'v-1'} ";

TEST(EffectCodecTest, CreatesATemplateClaim) {
  const SentRequest sent = OnlyRequestOf(R"(
      target {kind: 'GPUClaim' namespace: 'a' name: 'web-0-1a2b3c4d'}
      create_template_claim {class_name: 'h100' count: 2 vmi_name: 'web'
        owner {api_version: 'kubevirt.io/v1' kind: 'VirtualMachineInstance'
               name: 'web' uid: 'i-1'}})");
  EXPECT_EQ(sent.verb, "create");
  EXPECT_EQ(sent.path, "gpu.cozystack.io/v1alpha1/gpuclaims a  ");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "apiVersion": "gpu.cozystack.io/v1alpha1", "kind": "GPUClaim",
      "metadata": {"name": "web-0-1a2b3c4d", "namespace": "a",
        "labels": {"gpu.cozystack.io/template-claim": "web"},
        "finalizers": ["gpu.cozystack.io/claim-protection"],
        "ownerReferences": [{"apiVersion": "kubevirt.io/v1",
          "kind": "VirtualMachineInstance", "name": "web", "uid": "i-1",
          "controller": false, "blockOwnerDeletion": false}]},
      "spec": {"className": "h100", "count": 2}})"));
}

TEST(EffectCodecTest, BindsAClaimWithItsConditions) {
  const SentRequest sent = OnlyRequestOf(std::string(kClaim) + R"(
      bind_claim {node_name: 'n1' resource_name: 'a.b/gpu' gathered: true
        bound_at_unix_seconds: 1796083200
        conditions {type: 'Other' status: 'Unknown' reason: 'X' message: 'm'
                    observed_generation: 3
                    transition_unix_seconds: 1796083140}
        conditions {type: 'Bound' status: 'True' reason: 'Placed'
                    transition_unix_seconds: 1796083200}})");
  EXPECT_EQ(sent.verb, "merge");
  EXPECT_EQ(sent.path, "gpu.cozystack.io/v1alpha1/gpuclaims a c status");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "metadata": {"uid": "g-1", "resourceVersion": "10"},
      "status": {"phase": "Bound", "nodeName": "n1", "resourceName": "a.b/gpu",
        "boundAt": "2026-12-01T00:00:00Z",
        "conditions": [
          {"type": "Other", "status": "Unknown", "reason": "X", "message": "m",
           "observedGeneration": 3,
           "lastTransitionTime": "2026-11-30T23:59:00Z"},
          {"type": "Bound", "status": "True", "reason": "Placed",
           "message": "", "lastTransitionTime": "2026-12-01T00:00:00Z"}],
        "decision": {"journal": "0a1b2c3d", "epoch": 7, "sequence": 42}}})"));
}

TEST(EffectCodecTest, LosesAClaimButNotItsResource) {
  const SentRequest sent =
      OnlyRequestOf(std::string(kClaim) + "lose_claim {reason: NODE_GONE}");
  EXPECT_EQ(sent.path, "gpu.cozystack.io/v1alpha1/gpuclaims a c status");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "metadata": {"uid": "g-1", "resourceVersion": "10"},
      "status": {"phase": "Lost", "nodeName": null, "boundAt": null,
        "decision": {"journal": "0a1b2c3d", "epoch": 7, "sequence": 42}}})"));
}

TEST(EffectCodecTest, RecordsAWholeListOfRejections) {
  const SentRequest sent =
      OnlyRequestOf(std::string(kSet) + R"(record_rejection {
      entry {node_name: 'n2'}
      list {node_name: 'n1' node_uid: 'u1' pod_uid: 'p-0' resources: 'a.b/gpu'
            resources: 'cpu' reason: 'Too many pods' fingerprint: '0f'
            rejected_at_unix_seconds: 1796083200
            until_unix_seconds: 1796083800}
      list {node_name: 'n2'}})");
  EXPECT_EQ(sent.verb, "merge");
  EXPECT_EQ(sent.path, "gpu.cozystack.io/v1alpha1/gpuclaimsets a web status");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "metadata": {"uid": "s-1", "resourceVersion": "12"},
      "status": {"rejectedNodes": [
        {"nodeName": "n1", "nodeUID": "u1", "podUID": "p-0",
         "resources": ["a.b/gpu", "cpu"], "reason": "Too many pods",
         "rejectedAt": "2026-12-01T00:00:00Z", "until": "2026-12-01T00:10:00Z",
         "fingerprint": "0f"},
        {"nodeName": "n2", "nodeUID": "", "podUID": "", "resources": [],
         "reason": "", "rejectedAt": "1970-01-01T00:00:00Z",
         "until": "1970-01-01T00:00:00Z", "fingerprint": ""}]}})"));
}

TEST(EffectCodecTest, AttachesAndReleasesAClaim) {
  EXPECT_EQ(OnlyRequestOf(std::string(kClaim) +
                          "attach_claim {name: 'web' uid: 'i-1' "
                          "since_unix_seconds: 1796083200}")
                .body,
            Json::parse(R"({
      "metadata": {"uid": "g-1", "resourceVersion": "10"},
      "status": {"attachedTo": {"name": "web", "uid": "i-1",
                                "since": "2026-12-01T00:00:00Z"}}})"));
  const SentRequest released = OnlyRequestOf(
      std::string(kClaim) + "release_claim {name: 'web' uid: 'i-1'}");
  EXPECT_EQ(released.path, "gpu.cozystack.io/v1alpha1/gpuclaims a c status");
  EXPECT_EQ(released.body, Json::parse(R"({
      "metadata": {"uid": "g-1", "resourceVersion": "10"},
      "status": {"attachedTo": null}})"));
}

TEST(EffectCodecTest, SetsAConditionOfAClassAmongTheOthers) {
  const SentRequest sent = OnlyRequestOf(R"(
      target {kind: 'GPUClass' name: 'h100' uid: 'c-1' resource_version: '9'}
      set_condition {type: 'Ready' status: 'True' reason: SERVING
        conditions {type: 'Ready' status: 'True' reason: 'Serving'
                    observed_generation: 2}})");
  EXPECT_EQ(sent.verb, "merge");
  EXPECT_EQ(sent.path, "gpu.cozystack.io/v1alpha1/gpuclasses  h100 status");
  EXPECT_EQ(sent.body, Json::parse(R"({
      "metadata": {"uid": "c-1", "resourceVersion": "9"},
      "status": {"conditions": [{"type": "Ready", "status": "True",
        "reason": "Serving", "message": "", "observedGeneration": 2,
        "lastTransitionTime": "1970-01-01T00:00:00Z"}]}})"));
}

TEST(WriteClaimSetTest, ANewSetIsCreatedAndThenGetsItsStatus) {
  const v1::Effect effect =
      EffectOf(std::string(kNewSet) + "write_claim_set {" + kOwner +
               "set_claims: true claims: 'x' claims: 'y' "
               "node_name: 'n1' transitions: 1}");
  const auto first = NextRequest(effect, Key(), 0, "");
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ(SentOf(**first).verb, "create");
  EXPECT_EQ(SentOf(**first).path, "gpu.cozystack.io/v1alpha1/gpuclaimsets a  ");
  EXPECT_EQ(SentOf(**first).body, Json::parse(R"({
      "apiVersion": "gpu.cozystack.io/v1alpha1", "kind": "GPUClaimSet",
      "metadata": {"name": "web", "namespace": "a", "ownerReferences": [
        {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
         "name": "web", "uid": "v-1", "controller": false,
         "blockOwnerDeletion": false}]},
      "spec": {"claims": ["x", "y"]}})"));
  const auto second =
      NextRequest(effect, Key(), 1,
                  R"({"metadata": {"uid": "s-new", "resourceVersion": "77"}})");
  ASSERT_TRUE(second.ok() && second->has_value());
  EXPECT_EQ(SentOf(**second).path,
            "gpu.cozystack.io/v1alpha1/gpuclaimsets a web status");
  EXPECT_EQ(SentOf(**second).body, Json::parse(R"({
      "metadata": {"uid": "s-new", "resourceVersion": "77"},
      "status": {"nodeName": "n1", "transitions": 1,
        "decision": {"journal": "0a1b2c3d", "epoch": 7, "sequence": 42}}})"));
  const auto third = NextRequest(effect, Key(), 2, "{}");
  EXPECT_TRUE(third.ok() && !third->has_value());
  for (const char* answer : {"", "[]", "{}", R"({"metadata":{"uid":"s"}})"}) {
    EXPECT_EQ(NextRequest(effect, Key(), 1, answer).status().code(),
              absl::StatusCode::kDataLoss)
        << answer;
  }
}

TEST(WriteClaimSetTest, ATakeOverForgetsBeforeItOwns) {
  const v1::Effect effect =
      EffectOf(std::string(kSet) + "write_claim_set {" + kOwner +
               "set_claims: true claims: 'x' take_over: true vmi_uid: 'i-2' "
               "reason: STARTING since_unix_seconds: 1796083200 message: ''}");
  const auto first = NextRequest(effect, Key(), 0, "");
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ(SentOf(**first).path,
            "gpu.cozystack.io/v1alpha1/gpuclaimsets a web status");
  EXPECT_EQ(SentOf(**first).body, Json::parse(R"({
      "metadata": {"uid": "s-1", "resourceVersion": "12"},
      "status": {"nodeName": null, "vmiUID": "i-2", "podUID": null,
        "reason": "Starting", "message": null,
        "since": "2026-12-01T00:00:00Z", "transitions": null,
        "endedVMI": null, "rejectedNodes": null, "summary": null,
        "decision": {"journal": "0a1b2c3d", "epoch": 7, "sequence": 42}}})"));
  const auto second =
      NextRequest(effect, Key(), 1,
                  R"({"metadata": {"uid": "s-1", "resourceVersion": "13"}})");
  ASSERT_TRUE(second.ok() && second->has_value());
  EXPECT_EQ(SentOf(**second).path,
            "gpu.cozystack.io/v1alpha1/gpuclaimsets a web ");
  EXPECT_EQ(SentOf(**second).body, Json::parse(R"({
      "metadata": {"uid": "s-1", "resourceVersion": "13", "ownerReferences": [
        {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
         "name": "web", "uid": "v-1", "controller": false,
         "blockOwnerDeletion": false}]},
      "spec": {"claims": ["x"]}})"));
}

TEST(WriteClaimSetTest, OneHalfAloneIsOneRequest) {
  const SentRequest status = OnlyRequestOf(
      std::string(kSet) +
      "write_claim_set {set_summary: true "
      "summary {reason: INSUFFICIENT_UNITS nodes: 2 example: 'n1' "
      "resource: 'a/b'} summary {reason: OVER_BUDGET key: 'k'}}");
  EXPECT_EQ(status.path, "gpu.cozystack.io/v1alpha1/gpuclaimsets a web status");
  EXPECT_EQ(status.body["status"]["summary"], Json::parse(R"([
      {"reason": "InsufficientUnits", "nodes": 2, "example": "n1",
       "resource": "a/b"},
      {"reason": "OverBudget", "nodes": 0, "key": "k"}])"));
  const SentRequest spec =
      OnlyRequestOf(std::string(kSet) + "write_claim_set {set_claims: true}");
  EXPECT_EQ(spec.path, "gpu.cozystack.io/v1alpha1/gpuclaimsets a web ");
  EXPECT_EQ(spec.body["spec"], Json::parse(R"({"claims": []})"));
}

TEST(EffectCodecTest, AnIncompleteEffectIsNeverSent) {
  for (const char* text : {
           "",
           "target {kind: 'Pod' namespace: 'a' name: 'p'} delete_pod {}",
           "target {kind: 'Pod' namespace: 'a' name: 'p' uid: 'u'} pin_pod {}",
           "target {kind: 'Secret' name: 's' uid: 'u'} delete_pod {}",
           "target {kind: 'Pod' namespace: 'a' uid: 'u'} delete_pod {}",
           "target {kind: 'GPUClaim' namespace: 'a' name: 'c' uid: 'u' "
           "resource_version: '1'} set_condition {type: 'Bound'}",
           "target {kind: 'GPUClaim' namespace: 'a' name: 'c' uid: 'u' "
           "resource_version: '1'} record_rejection {entry {}}",
       }) {
    EXPECT_EQ(NextRequest(EffectOf(text), Key(), 0, "").status().code(),
              absl::StatusCode::kInternal)
        << text;
  }
}

}  // namespace
}  // namespace gpubinder
