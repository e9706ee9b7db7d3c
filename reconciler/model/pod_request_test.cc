#include "reconciler/model/pod_request.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

constexpr char kH100[] = "nvidia.com/H100";

Container Asking(const std::string& units) {
  return {.name = "c", .requests = {{kH100, units}}};
}
Container Sidecar(const std::string& units) {
  return {.name = "s", .requests = {{kH100, units}}, .restart_always = true};
}

struct Row {
  const char* purpose;
  std::vector<Container> init, containers;
  const char* overhead;  // nullptr: none
  int64_t units;
};

TEST(EffectiveRequestTest, CountsAsKubernetesDoes) {
  const std::vector<Row> rows = {
      {"nothing asked", {}, {{.name = "c"}}, nullptr, 0},
      {"no container", {}, {}, nullptr, 0},
      {"a larger init container", {Asking("4")}, {Asking("1")}, nullptr, 4},
      {"larger containers",
       {Asking("2")},
       {Asking("2"), Asking("3")},
       nullptr,
       5},
      {"overhead", {Asking("2")}, {Asking("2"), Asking("3")}, "1", 6},
      {"overhead alone", {}, {}, "5", 5},
      {"overhead on a larger init container", {Asking("9")}, {}, "1", 10},
      {"init containers are not summed",
       {Asking("3"), Asking("4"), Asking("2")},
       {Asking("1")},
       nullptr,
       4},
      {"a sidecar runs on", {Sidecar("1")}, {Asking("2")}, nullptr, 3},
      {"sidecars sum", {Sidecar("1"), Sidecar("2")}, {Asking("2")}, nullptr, 5},
      {"a sidecar counts beside a later init container",
       {Sidecar("1"), Asking("4")},
       {Asking("2")},
       nullptr,
       5},
      {"and not beside an earlier one",
       {Asking("4"), Sidecar("1")},
       {Asking("2")},
       nullptr,
       4},
      {"the largest moment of the start",
       {Sidecar("1"), Asking("5"), Sidecar("3"), Asking("2")},
       {Asking("1")},
       nullptr,
       6},  // 1+5; 1+3+2 = 6; running 1+1+3 = 5
      {"fractions count up each",
       {},
       {Asking("500m"), Asking("1.1")},
       nullptr,
       3},
      {"any notation", {}, {Asking("1k"), Asking("2000m")}, nullptr, 1002},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.purpose);
    Pod pod;
    pod.init_containers = row.init;
    pod.containers = row.containers;
    if (row.overhead != nullptr) pod.overhead[kH100] = row.overhead;
    const PodRequest request = EffectiveRequest(pod, kH100);
    EXPECT_EQ(request.units, row.units);
    EXPECT_TRUE(request.problems.empty());
    EXPECT_EQ(EffectiveRequest(pod, "nvidia.com/L40S").units, 0);
  }
}

TEST(EffectiveRequestTest, PodLevelReplacesOnlyWhatItMay) {
  for (const char* resource : {"memory", "cpu", "hugepages-2Mi"}) {
    Pod pod;
    pod.containers = {{.name = "c", .requests = {{resource, "7"}}}};
    EXPECT_EQ(EffectiveRequest(pod, resource).units, 7);
    pod.pod_requests[resource] = "3";
    EXPECT_EQ(EffectiveRequest(pod, resource).units, 3);
    pod.overhead[resource] = "2";
    EXPECT_EQ(EffectiveRequest(pod, resource).units, 5);
  }
  Pod pod;
  pod.containers = {Asking("7")};
  pod.pod_requests[kH100] = "3";
  EXPECT_EQ(EffectiveRequest(pod, kH100).units, 7);
}

TEST(EffectiveRequestTest, ReportsWhatCannotBeReadAndCountsTheRest) {
  Pod pod;
  pod.containers = {Asking("2"), {.name = "bad", .requests = {{kH100, "two"}}}};
  pod.init_containers = {
      {.name = "worse", .requests = {{kH100, "-1"}}, .restart_always = true}};
  // 39 bytes and then one of two bytes: the quote ends inside it.
  pod.overhead[kH100] = std::string(39, '!') + "\xc3\xa9\n";
  const PodRequest request = EffectiveRequest(pod, kH100);
  EXPECT_EQ(request.units, 2);
  ASSERT_EQ(request.problems.size(), 3u);
  EXPECT_EQ(request.problems[0].field,
            "spec.containers[bad].resources.requests[nvidia.com/H100]");
  EXPECT_EQ(request.problems[0].message,
            "is \"two\", must be a quantity of 0 or more");
  EXPECT_EQ(request.problems[1].field,
            "spec.initContainers[worse].resources.requests[nvidia.com/H100]");
  EXPECT_EQ(request.problems[1].message,
            "is \"-1\", must be a quantity of 0 or more");
  EXPECT_EQ(request.problems[2].field, "spec.overhead[nvidia.com/H100]");
  EXPECT_EQ(request.problems[2].message,
            "is \"" + std::string(39, '!') +
                "\\xc3\", must be a quantity of 0 or more");
}

TEST(EffectiveRequestTest, SumsSaturate) {
  const std::string most = "9223372036854775807";
  Pod pod;
  pod.containers = {Asking(most), Asking("1")};
  pod.init_containers = {Sidecar(most), Asking("1e30")};
  pod.overhead[kH100] = "1";
  EXPECT_EQ(EffectiveRequest(pod, kH100).units,
            std::numeric_limits<int64_t>::max());
}

TEST(IsExtendedResourceTest, FollowsKubernetes) {
  // "requests." is put before the prefix, which then may have 253 bytes.
  const std::string longest = std::string(244, 'p') + "/x";
  for (const std::string& name :
       {std::string("nvidia.com/GH100_H100"), std::string("a/b"),
        std::string("nvidia.com/NVIDIA_L40S-24C"),
        std::string("devices.kubevirt.io/kvm"), longest,
        "a/" + std::string(63, 'x')}) {
    EXPECT_TRUE(IsExtendedResource(name)) << name;
  }
  for (const std::string& name :
       {std::string("cpu"), std::string("memory"), std::string("hugepages-2Mi"),
        std::string(""), std::string("kubernetes.io/batch"),
        std::string("scheduling.kubernetes.io/x"),
        std::string("requests.nvidia.com/H100"), std::string("Nvidia.com/a"),
        std::string("a/"), std::string("/a"), std::string("a/b/c"),
        "p" + longest, "a/" + std::string(64, 'x')}) {
    EXPECT_FALSE(IsExtendedResource(name)) << name;
  }
}

TEST(ExtendedRequestsTest, GivesEachNameOnceSorted) {
  Pod pod;
  pod.containers = {
      {.name = "c", .requests = {{"z.com/z", "1"}, {kH100, "2"}, {"cpu", "4"}}},
      {.name = "d", .requests = {{kH100, "1"}, {"a.com/none", "0"}}}};
  pod.init_containers = {
      {.name = "i",
       .requests = {{"devices.kubevirt.io/kvm", "1"}, {"m.com/bad", "x"}}}};
  pod.overhead = {{"b.com/o", "3"}, {"memory", "5"}};
  pod.pod_requests = {{"p.com/p", "9"}};
  const ExtendedPodRequests requests = ExtendedRequests(pod);
  const std::vector<std::pair<std::string, int64_t>> want = {
      {"b.com/o", 3},
      {"devices.kubevirt.io/kvm", 1},
      {kH100, 3},
      {"z.com/z", 1}};
  EXPECT_EQ(requests.units, want);
  ASSERT_EQ(requests.problems.size(), 1u);
  EXPECT_EQ(requests.problems[0].field,
            "spec.initContainers[i].resources.requests[m.com/bad]");
}

TEST(ExtendedRequestsTest, NothingAskedGivesNothing) {
  const ExtendedPodRequests requests = ExtendedRequests(Pod());
  EXPECT_TRUE(requests.units.empty());
  EXPECT_TRUE(requests.problems.empty());
}

}  // namespace
}  // namespace gpubinder
