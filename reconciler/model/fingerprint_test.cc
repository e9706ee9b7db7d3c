#include "reconciler/model/fingerprint.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

using Names = std::vector<std::string>;

Condition Ready(const std::string& status) {
  return {.type = "Ready", .status = status};
}

Node Example() {
  Node node;
  node.allocatable = {{"nvidia.com/A", "4500m"}, {"cpu", "64"}};
  node.taints = {{"spare", "", "PreferNoSchedule"},
                 {"node.kubernetes.io/not-ready", "", "NoExecute"},
                 {"dedicated", "gpu", "NoSchedule"}};
  node.conditions = {{.type = "MemoryPressure", .status = "False"},
                     Ready("True")};
  return node;
}

// The figures below are `printf '<lines>' | sha256sum | cut -c1-16`.

TEST(NodeFingerprintTest, IsTheHashOfItsLines) {
  // nvidia.com/A=4\nnvidia.com/B=0\ndedicated=gpu:NoSchedule\n
  // spare=:PreferNoSchedule\nReady=True\n
  EXPECT_EQ(NodeFingerprint(Example(), Names{"nvidia.com/B", "nvidia.com/A"}),
            "80af71d2a8e8a424");
}

TEST(NodeFingerprintTest, SaysUnknownWithoutReadyCondition) {
  EXPECT_EQ(NodeFingerprint(Node(), {}),
            "6d8c02c521c749fb");  // Ready=Unknown\n
}

std::string Of(const Node& node) {
  return NodeFingerprint(node, Names{"nvidia.com/A"});
}

TEST(NodeFingerprintTest, ChangesWithUnitsTaintsAndReadiness) {
  const std::string before = Of(Example());
  Node node = Example();
  node.allocatable["nvidia.com/A"] = "5";
  EXPECT_NE(Of(node), before);
  node = Example();
  node.allocatable["nvidia.com/A"] = "-4";
  EXPECT_NE(Of(node), before);
  node = Example();
  node.taints.pop_back();
  EXPECT_NE(Of(node), before);
  node = Example();
  node.taints[0].effect = "NoSchedule";
  EXPECT_NE(Of(node), before);
  node = Example();
  node.taints[0].value = "x";
  EXPECT_NE(Of(node), before);
  node = Example();
  node.conditions[1] = Ready("False");
  EXPECT_NE(Of(node), before);
}

TEST(NodeFingerprintTest, StaysWhenOnlyOrderAndOtherThingsChange) {
  const std::string before = Of(Example());
  Node node = Example();
  node.allocatable["nvidia.com/A"] = "4";
  node.allocatable["cpu"] = "1";
  std::swap(node.taints[0], node.taints[2]);
  node.taints.push_back({"node.kubernetes.io/unschedulable", "", "NoSchedule"});
  std::swap(node.conditions[0], node.conditions[1]);
  node.meta.resource_version = "7";
  node.meta.labels["a"] = "b";
  EXPECT_EQ(Of(node), before);
  EXPECT_EQ(NodeFingerprint(node, Names{"nvidia.com/A", "nvidia.com/A"}),
            before);
}

}  // namespace
}  // namespace gpubinder
