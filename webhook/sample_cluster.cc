#include "webhook/sample_cluster.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/object_codec.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/testing/object_event.h"
#include "webhook/review.h"

namespace gpubinder {

using Json = nlohmann::json;

absl::Time SampleNow() {
  return absl::FromCivil(absl::CivilSecond(2026, 12, 1, 12, 0, 0),
                         absl::UTCTimeZone());
}

void Put(Kind kind, const Json& object, Snapshot& snapshot) {
  absl::StatusOr<Object> decoded = DecodeObject(kind, object.dump());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, *decoded);
  Fold(record, *std::move(decoded), snapshot);
}

Snapshot SampleCluster() {
  Snapshot snapshot;
  Put(Kind::kGpuClass, Json::parse(R"({
    "metadata": {"name": "h100", "uid": "uid-h100"},
    "spec": {"resourceName": "nvidia.com/GH100_H100_PCIE", "maxCount": 4,
             "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists",
                              "effect": "NoSchedule"}]}})"),
      snapshot);
  Put(Kind::kGpuClass, Json::parse(R"({
    "metadata": {"name": "l40s", "uid": "uid-l40s"},
    "spec": {"resourceName": "nvidia.com/NVIDIA_L40S-24C", "type": "VGPU",
             "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists",
                              "effect": "NoSchedule"},
                             {"key": "pool", "value": "vgpu",
                              "effect": "NoExecute",
                              "tolerationSeconds": 60}]}})"),
      snapshot);
  Put(Kind::kNamespace,
      Json::parse(R"({"metadata": {"name": "tenant-acme", "uid": "uid-ns"}})"),
      snapshot);
  return snapshot;
}

Json ClaimJson(const std::string& name, const std::string& class_name,
               int count) {
  return {{"metadata",
           {{"name", name},
            {"namespace", kTenant},
            {"uid", "uid-" + name},
            {"resourceVersion", "10"}}},
          {"spec", {{"className", class_name}, {"count", count}}}};
}

Json AttachedTo(const std::string& name, const std::string& uid,
                absl::Time since) {
  Json attached = {{"name", name},
                   {"since", absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", since,
                                              absl::UTCTimeZone())}};
  if (!uid.empty()) attached["uid"] = uid;
  return attached;
}

Json VmiJson(const std::string& name, const std::string& uid,
             const std::string& phase) {
  return {{"metadata",
           {{"name", name},
            {"namespace", kTenant},
            {"uid", uid},
            {"resourceVersion", "20"}}},
          {"spec", {{"domain", {{"devices", Json::object()}}}}},
          {"status", {{"phase", phase}}}};
}

Json VmiReview(const Json& claims) {
  Json review = Json::parse(R"({
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "request": {
      "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
      "kind": {"group": "kubevirt.io", "version": "v1",
               "kind": "VirtualMachineInstance"},
      "resource": {"group": "kubevirt.io", "version": "v1",
                   "resource": "virtualmachineinstances"},
      "requestKind": {"group": "kubevirt.io", "version": "v1",
                      "kind": "VirtualMachineInstance"},
      "requestResource": {"group": "kubevirt.io", "version": "v1",
                          "resource": "virtualmachineinstances"},
      "name": "a1", "namespace": "tenant-acme", "operation": "CREATE",
      "userInfo": {
        "username": "system:serviceaccount:cozy-kubevirt:kubevirt-controller",
        "groups": ["system:serviceaccounts", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": ["JTI=1"]}},
      "object": {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
        "metadata": {
          "name": "a1", "namespace": "tenant-acme", "creationTimestamp": null,
          "labels": {"app": "a1"}, "annotations": {"foo/bar": "1"},
          "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"],
          "ownerReferences": [
            {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine",
             "name": "a1", "uid": "5d7a", "controller": true,
             "blockOwnerDeletion": true}]},
        "spec": {"domain": {
          "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]},
          "resources": {"requests": {"memory": "1Gi"}}}},
        "status": {}},
      "oldObject": null, "dryRun": false,
      "options": {"kind": "CreateOptions",
                  "apiVersion": "meta.k8s.io/v1"}}})");
  review["request"]["object"]["metadata"]["annotations"]
        ["gpu.cozystack.io/claims"] = claims.dump();
  return review;
}

Json PodReview(const Json& claims) {
  Json review = VmiReview(claims);
  Json& request = review["request"];
  request.erase("name");
  for (const char* kind : {"kind", "requestKind"}) {
    request[kind] = {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}};
  }
  for (const char* resource : {"resource", "requestResource"}) {
    request[resource] = {
        {"group", ""}, {"version", "v1"}, {"resource", "pods"}};
  }
  request["object"] = Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
      "generateName": "virt-launcher-a1-", "namespace": "tenant-acme",
      "creationTimestamp": null,
      "labels": {"app": "a1", "kubevirt.io": "virt-launcher",
                 "kubevirt.io/created-by": "9c1e", "vm.kubevirt.io/name": "a1"},
      "annotations": {"kubevirt.io/domain": "a1"},
      "ownerReferences": [
        {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
         "name": "a1", "uid": "9c1e", "controller": true,
         "blockOwnerDeletion": true}]},
    "spec": {
      "nodeSelector": {"kubevirt.io/schedulable": "true"},
      "tolerations": [
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
         "effect": "NoExecute", "tolerationSeconds": 300}],
      "containers": [
        {"name": "compute",
         "resources": {"requests": {"nvidia.com/GH100_H100_PCIE": "1"},
                       "limits": {"nvidia.com/GH100_H100_PCIE": "1"}}}]},
    "status": {}})");
  request["object"]["metadata"]["annotations"]["gpu.cozystack.io/claims"] =
      claims.dump();
  return review;
}

TakenAnswer Take(const Json& review, absl::string_view response) {
  TakenAnswer taken{.patch = Json::array(),
                    .object = review.at("request").value("object", Json())};
  const Json answer =
      Json::parse(response.begin(), response.end(), nullptr, false);
  EXPECT_EQ(answer.value("apiVersion", ""), "admission.k8s.io/v1") << response;
  EXPECT_EQ(answer.value("kind", ""), "AdmissionReview");
  const Json inner = answer.value("response", Json::object());
  EXPECT_EQ(inner.value("uid", ""), review["request"]["uid"]);
  taken.allowed = inner.at("allowed");
  if (inner.contains("status")) {
    taken.code = inner["status"].at("code");
    taken.reason = inner["status"].at("reason");
    taken.message = inner["status"].at("message");
  }
  taken.warnings = inner.value("warnings", std::vector<std::string>());
  EXPECT_EQ(inner.contains("patch"), inner.contains("patchType"));
  if (!inner.contains("patch")) return taken;
  EXPECT_EQ(inner["patchType"], "JSONPatch");
  std::string text;
  EXPECT_TRUE(absl::Base64Unescape(inner["patch"].get<std::string>(), &text));
  taken.patch = Json::parse(text);
  taken.object = taken.object.patch(taken.patch);
  return taken;
}

TakenAnswer AnswerTo(const Json& review, const Snapshot& snapshot,
                     absl::Time now) {
  const absl::StatusOr<std::string> response =
      Review(review.dump(), snapshot, now);
  EXPECT_TRUE(response.ok()) << response.status();
  if (!response.ok()) return {};
  return Take(review, *response);
}

}  // namespace gpubinder
