// What every definition of ours has to have. Whether an API server takes them
// only an API server can say.

#include "k8s/manifests/crd_manifests.h"

#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "yaml-cpp/yaml.h"

namespace gpubinder {
namespace {

YAML::Node Load(absl::string_view manifest) {
  return YAML::Load(std::string(manifest));
}

TEST(CrdManifestsTest, HoldsTheThreeKinds) {
  std::vector<std::string> names;
  for (absl::string_view manifest : CrdManifests()) {
    const YAML::Node crd = Load(manifest);
    const YAML::Node spec = crd["spec"];
    EXPECT_EQ(crd["kind"].as<std::string>(), "CustomResourceDefinition");
    EXPECT_EQ(crd["metadata"]["name"].as<std::string>(),
              spec["names"]["plural"].as<std::string>() + "." +
                  spec["group"].as<std::string>());
    EXPECT_EQ(spec["group"].as<std::string>(), "gpu.cozystack.io");
    EXPECT_EQ(spec["names"]["categories"][0].as<std::string>(), "gpu");
    ASSERT_EQ(spec["versions"].size(), 1);
    EXPECT_EQ(spec["versions"][0]["name"].as<std::string>(), "v1alpha1");
    EXPECT_TRUE(spec["versions"][0]["subresources"]["status"].IsDefined());
    names.push_back(spec["names"]["kind"].as<std::string>() + " " +
                    spec["names"]["shortNames"][0].as<std::string>() + " " +
                    spec["scope"].as<std::string>());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"GPUClass gpucls Cluster",
                                             "GPUClaim gclaim Namespaced",
                                             "GPUClaimSet gset Namespaced"}));
}

// Every list, text and map has a bound: the server's cost limit for CEL counts
// on it, and so does our memory.
void ExpectBounded(const YAML::Node& schema, const std::string& path) {
  const std::string type =
      schema["type"].IsDefined() ? schema["type"].as<std::string>() : "";
  if (type == "array") {
    EXPECT_TRUE(schema["maxItems"].IsDefined()) << path;
    ExpectBounded(schema["items"], path + "[]");
  }
  if (type == "string") {
    EXPECT_TRUE(schema["maxLength"].IsDefined() || schema["enum"].IsDefined())
        << path;
  }
  if (schema["additionalProperties"].IsDefined()) {
    EXPECT_TRUE(schema["maxProperties"].IsDefined()) << path;
    ExpectBounded(schema["additionalProperties"], path + "{}");
  }
  if (!schema["properties"].IsDefined()) return;
  for (const auto& property : schema["properties"]) {
    ExpectBounded(property.second,
                  path + "." + property.first.as<std::string>());
  }
}

TEST(CrdManifestsTest, EverythingIsBounded) {
  for (absl::string_view manifest : CrdManifests()) {
    const YAML::Node crd = Load(manifest);
    const YAML::Node schema =
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for (const char* part : {"spec", "status"}) {
      ASSERT_TRUE(schema["properties"][part].IsDefined());
      ExpectBounded(schema["properties"][part],
                    crd["metadata"]["name"].as<std::string>() + " " + part);
    }
  }
}

TEST(CrdManifestsTest, AClaimShowsTheColumnsOfTheDocumentation) {
  std::vector<std::string> columns;
  for (const auto& column :
       Load(CrdManifests()[1])["spec"]["versions"][0]
                              ["additionalPrinterColumns"]) {
    columns.push_back(column["name"].as<std::string>());
  }
  EXPECT_EQ(columns, (std::vector<std::string>{"Class", "Count", "Phase",
                                               "Node", "VM", "Reason", "Age"}));
}

TEST(KubevirtTestCrdsTest, OnlyTheVmHasAStatusSubresource) {
  std::ifstream file("k8s/manifests/testing/kubevirt-crds.yaml");
  std::vector<std::string> kinds;
  for (const YAML::Node& crd : YAML::LoadAll(file)) {
    const YAML::Node version = crd["spec"]["versions"][0];
    EXPECT_EQ(version["name"].as<std::string>(), "v1");
    kinds.push_back(
        crd["spec"]["names"]["kind"].as<std::string>() +
        (version["subresources"].IsDefined() ? " with status" : ""));
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"VirtualMachine with status",
                                             "VirtualMachineInstance"}));
}

}  // namespace
}  // namespace gpubinder
