#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tools/called_command.h"

namespace gpubinder {
namespace {

// The seed is printed, and GPUBINDER_TEST_SEED repeats it.
uint64_t Seed() {
  const char* text = std::getenv("GPUBINDER_TEST_SEED");
  uint64_t seed = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &seed)) {
    seed = std::random_device()();
  }
  std::cout << "GPUBINDER_TEST_SEED=" << seed << "\n";
  return seed;
}

// A cluster of many kinds, some of it wrong, most of it without uids,
// versions and times. One JSON text each.
class RandomObjects {
 public:
  explicit RandomObjects(uint64_t seed) : random_(seed) {}

  std::vector<std::string> Make() {
    for (int i = 0; i < 3; ++i) AddClass(i);
    for (int i = 0; i < 6; ++i) AddNode(i);
    for (int i = 0; i < 20; ++i) AddClaim(i);
    for (int i = 0; i < 8; ++i) AddVm(i);
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"v1","kind":"ResourceQuota",
            "metadata":{"name":"q","namespace":"tenant-a"},
            "spec":{"hard":{"requests.gpu.cozystack.io/class-0":$0}}})",
        Below(9)));
    return objects_;
  }

 private:
  int Below(int n) {
    return std::uniform_int_distribution<>(0, n - 1)(random_);
  }
  const char* Tenant() { return Below(2) == 0 ? "tenant-a" : "tenant-a-b"; }

  void AddClass(int i) {
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClass",
            "metadata":{"name":"class-$0"},
            "spec":{"resourceName":"nvidia.com/class-$0"}})",
        i));
  }

  void AddNode(int i) {
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-$0",
            "labels":{"kubevirt.io/schedulable":"true"}},
            "spec":{"unschedulable":$1},
            "status":{"allocatable":{"nvidia.com/class-0":"$2",
              "nvidia.com/class-1":"$3","nvidia.com/class-2":"$4"},
              "conditions":[{"type":"Ready","status":"True"}]}})",
        i, Below(6) == 0 ? "true" : "false",
        Below(9) == 0 ? "bad" : absl::StrCat(Below(9)), Below(9), Below(9)));
  }

  void AddClaim(int i) {
    std::string status, meta;
    if (Below(3) == 0) {
      status =
          absl::Substitute(R"(,"status":{"phase":"$0","nodeName":"node-$1"})",
                           Below(4) == 0 ? "Lost" : "Bound", Below(7));
    }
    if (Below(6) == 0) {
      meta = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z",
                "finalizers":["gpu.cozystack.io/claim-protection"])";
    }
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClaim",
            "metadata":{"name":"claim-$0","namespace":"$1"$2},
            "spec":{"className":"class-$3","count":$4}$5})",
        i, Tenant(), meta, Below(4),
        Below(10) == 0 ? "\"two\"" : absl::StrCat(1 + Below(3)), status));
  }

  void AddVm(int i) {
    const char* tenant = Tenant();
    const int of = Below(3);
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
            "metadata":{"name":"vm-$0","namespace":"$1","uid":"vmi-$0",
              "annotations":{"gpu.cozystack.io/claims":
                "[{\"claimName\":\"claim-$2\"},)"
        R"({\"claimTemplate\":{\"className\":\"class-$3\",)"
        R"(\"count\":$4}}]"}},
            "spec":{},
            "status":{"phase":"Scheduling","activePods":{"pod-$0":""}}})",
        i, tenant, Below(22), of, 1 + Below(3)));
    objects_.push_back(absl::Substitute(
        R"({"apiVersion":"v1","kind":"Pod",
            "metadata":{"name":"launcher-$0","namespace":"$1","uid":"pod-$0",
              "ownerReferences":[{"apiVersion":"kubevirt.io/v1",
                "kind":"VirtualMachineInstance","name":"vm-$0","uid":"vmi-$0",
                "controller":true}]},
            "spec":{"schedulingGates":[{"name":"gpu.cozystack.io/claims"}],
              "containers":[{"name":"c","resources":{"requests":{
                "nvidia.com/class-$2":"$3"}}}]}})",
        i, tenant, of, 3 + Below(3)));
  }

  std::mt19937_64 random_;
  std::vector<std::string> objects_;
};

TEST(PlanOrderTest, TheOrderOfTheObjectsChangesNothing) {
  std::mt19937_64 random(Seed());
  for (int round = 0; round < 15; ++round) {
    std::vector<std::string> objects = RandomObjects(random()).Make();
    std::string first;
    for (int order = 0; order < 4; ++order) {
      // As JSON, and as documents of YAML.
      const char* between = order % 2 == 0 ? "\n" : "\n---\n";
      const std::string text = absl::StrCat(order % 2 == 0 ? "" : "# YAML\n",
                                            absl::StrJoin(objects, between));
      const Ended ended =
          Call({"plan", "-f", "-", "-o", "json", "--now=2026-01-31T12:00:00Z"},
               text);
      ASSERT_EQ(ended.err, "");
      ASSERT_EQ(ended.code, 0);
      if (order == 0) first = ended.out;
      ASSERT_EQ(ended.out, first) << "round " << round;
      std::shuffle(objects.begin(), objects.end(), random);
    }
  }
}

}  // namespace
}  // namespace gpubinder
