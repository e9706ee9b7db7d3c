// The binder's rights are the requests that it makes: derived here from the
// table of kinds and from an effect of each sort.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/effect_codec.h"
#include "k8s/effect_test_requests.h"
#include "k8s/kinds.h"
#include "k8s/manifests/install_manifests.h"
#include "proto/decision.pb.h"
#include "reconciler/model/config.h"
#include "yaml-cpp/yaml.h"

namespace gpubinder {
namespace {

// "group/plural/subresource verb name": no name is any.
using Rights = std::set<std::string>;

std::vector<YAML::Node> Documents(const char* kind) {
  std::vector<YAML::Node> found;
  for (const YAML::Node& node :
       YAML::LoadAll(InstallManifests({"rbac"}, ManifestOptions()))) {
    if (node["kind"].as<std::string>() == kind) found.push_back(node);
  }
  return found;
}

Rights RightsOf(const YAML::Node& role) {
  Rights rights;
  for (const YAML::Node& rule : role["rules"]) {
    std::vector<std::string> names = {""};
    if (rule["resourceNames"].IsDefined()) {
      names = rule["resourceNames"].as<std::vector<std::string>>();
    }
    for (const auto& resource : rule["resources"]) {
      for (const auto& verb : rule["verbs"]) {
        for (const std::string& name : names) {
          const std::string right =
              absl::StrCat(rule["apiGroups"][0].as<std::string>(), "/",
                           resource.as<std::string>(), " ",
                           verb.as<std::string>(), " ", name);
          EXPECT_FALSE(absl::StrContains(right, "*")) << right;
          EXPECT_TRUE(rights.insert(right).second) << right << " stands twice";
        }
      }
    }
    EXPECT_EQ(rule["apiGroups"].size(), 1);
  }
  return rights;
}

std::string Right(absl::string_view group, absl::string_view resource,
                  absl::string_view verb, absl::string_view name = "") {
  return absl::StrCat(group, "/", resource, " ", verb, " ", name);
}

// An effect of each sort, and each form of those that have several.
const std::vector<std::string>& Effects() {
  static const auto* const effects = [] {
    const std::string end =
        " namespace: 'a' name: 'x' uid: 'u' resource_version: '1'} ";
    const std::string claim = "target {kind: 'GPUClaim'" + end;
    const std::string set = "target {kind: 'GPUClaimSet'" + end;
    const std::string gpu_class = "target {kind: 'GPUClass'" + end;
    const std::string pod = "target {kind: 'Pod'" + end;
    const std::string vmi = "target {kind: 'VirtualMachineInstance'" + end;
    const std::string vm = "target {kind: 'VirtualMachine'" + end;
    const std::string record = "target {kind: 'Workload'" + end;
    const std::string settings = "target {kind: 'ConfigMap'" + end;
    const std::string made = " namespace: 'a' name: 'x'} ";
    const std::string condition = "set_condition {conditions {type: 'A'}}";
    return new std::vector<std::string>{
        "target {kind: 'GPUClaim'" + made + "create_template_claim {count: 1}",
        claim + "bind_claim {node_name: 'n'}",
        claim + "lose_claim {reason: NODE_GONE}",
        claim + "attach_claim {name: 'w'}",
        claim + "release_claim {}",
        claim + "record_rejection {list {node_name: 'n'}}",
        claim + "delete_template_claim {}",
        claim + condition,
        gpu_class + condition,
        set + "record_rejection {list {node_name: 'n'}}",
        set + "write_claim_set {set_claims: true}",
        set + "write_claim_set {node_name: 'n'}",
        "target {kind: 'GPUClaimSet'" + made +
            "write_claim_set {set_claims: true}",
        pod + "pin_pod {node_name: 'n' add_term: true}",
        pod + "delete_pod {reason: REJECTED_BY_NODE}",
        vmi + "delete_vmi {}",
        vmi + "emit_warning {name: 'w'}",
        vm + "restart_vm {vmi_uid: 'u'}",
        record + "write_usage_record {units: 1}",
        record + "delete_usage_record {}",
        "target {kind: 'Workload'" + made + "write_usage_record {units: 1}",
        claim + "add_finalizer {finalizer: 'f'}",
        claim + "remove_finalizer {finalizer: 'f'}",
        gpu_class + "add_finalizer {finalizer: 'f'}",
        settings + "write_settings {}",
        "target {kind: 'ConfigMap'" + made + "write_settings {}"};
  }();
  return *effects;
}

// What the request asks, and the read of the same object afterwards.
void AddWrite(const std::string& text, Rights& cluster, Rights& own) {
  const v1::Effect effect = EffectOf(text);
  const auto request = NextRequest(effect, Key(), 0, "");
  ASSERT_TRUE(request.ok() && request->has_value()) << text << request.status();
  const ResourcePath& path = (*request)->path;
  const std::string verb =
      (*request)->verb == EffectRequest::Verb::kCreate   ? "create"
      : (*request)->verb == EffectRequest::Verb::kDelete ? "delete"
                                                         : "patch";
  const std::string resource =
      path.subresource.empty()
          ? path.plural
          : absl::StrCat(path.plural, "/", path.subresource);
  if (path.plural == "configmaps") {
    own.insert(
        Right("", resource, verb, verb == "create" ? "" : kSettingsName));
    own.insert(Right("", resource, "get", kSettingsName));
    return;
  }
  cluster.insert(Right(path.group, resource, verb));
  if (!effect.has_emit_warning()) {
    cluster.insert(Right(path.group, path.plural, "get"));
  }
}

TEST(RbacTest, TheBinderHasTheRightsOfItsRequestsAndNoOthers) {
  Rights cluster, own;
  for (const KindPlace& place : kKindPlaces) {
    const bool settings = place.plural == "configmaps";
    for (const char* verb : {"list", "watch"}) {
      (settings ? own : cluster)
          .insert(Right(place.group, place.plural, verb,
                        settings ? kSettingsName : ""));
    }
  }
  for (const std::string& effect : Effects()) AddWrite(effect, cluster, own);
  for (const char* verb : {"get", "update"}) {
    own.insert(Right("coordination.k8s.io", "leases", verb,
                     "gpubinder.gpu.cozystack.io"));
  }
  own.insert(Right("coordination.k8s.io", "leases", "create"));
  EXPECT_EQ(RightsOf(Documents("ClusterRole").at(0)), cluster);
  EXPECT_EQ(RightsOf(Documents("Role").at(0)), own);
}

TEST(RbacTest, AnEffectOfEachSortIsLookedAt) {
  std::set<std::string> seen;
  for (const std::string& text : Effects()) {
    const v1::Effect effect = EffectOf(text);
    seen.insert(absl::StrCat(effect.write_case()));
  }
  EXPECT_EQ(seen.size(),
            v1::Effect::descriptor()->FindOneofByName("write")->field_count());
}

TEST(RbacTest, TenantsHaveTheirClaimsAndReadTheRest) {
  const std::vector<YAML::Node> roles = Documents("ClusterRole");
  ASSERT_EQ(roles.size(), 3);
  for (const std::string& right : RightsOf(roles[1])) {
    EXPECT_TRUE(absl::StrContains(right, " get ") ||
                absl::StrContains(right, " list ") ||
                absl::StrContains(right, " watch "))
        << right;
    EXPECT_FALSE(absl::StrContains(right, "/status")) << right;
  }
  const std::string group = "gpu.cozystack.io";
  EXPECT_EQ(RightsOf(roles[2]),
            (Rights{Right(group, "gpuclaims", "create"),
                    Right(group, "gpuclaims", "update"),
                    Right(group, "gpuclaims", "patch"),
                    Right(group, "gpuclaims", "delete"),
                    Right(group, "gpuclaims", "deletecollection")}));
}

}  // namespace
}  // namespace gpubinder
