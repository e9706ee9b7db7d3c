// What the fold takes for a refusal of a launcher, by scheduler or kubelet.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

void See(const Object& object, Snapshot& snapshot) {
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
  Fold(record, object, snapshot);
}

Pod PodOf(const std::string& name) {
  Pod pod;
  pod.meta = {.name_space = "t", .name = name, .uid = name, .generation = 2};
  pod.meta.owners = {{.kind = "VirtualMachineInstance",
                      .name = "web",
                      .uid = "v",
                      .controller = true}};
  return pod;
}

// Whether a scheduler's refusal counts from now, once `change` was made.
bool Refuses(const std::function<void(Pod&)>& change) {
  Pod pod = PodOf("p");
  pod.conditions = {
      {.type = "Initialized", .status = "False"},
      {.type = "PodScheduled",
       .status = "False",
       .reason = "Unschedulable",
       .message = "0/1 nodes are available: 1 Insufficient cpu."}};
  change(pod);
  Snapshot snapshot;
  See(pod, snapshot);
  return snapshot.refused_since.contains("p");
}

TEST(SchedulerRefusalTest, IsSaidOfThisPodAndOfItsNode) {
  EXPECT_TRUE(Refuses([](Pod&) {}));
  EXPECT_TRUE(
      Refuses([](Pod& pod) { pod.conditions[1].observed_generation = 2; }));
  EXPECT_FALSE(
      Refuses([](Pod& pod) { pod.conditions[1].observed_generation = 1; }));
  EXPECT_FALSE(Refuses([](Pod& pod) { pod.conditions[1].status = "True"; }));
  EXPECT_FALSE(
      Refuses([](Pod& pod) { pod.conditions[1].reason = "SchedulerError"; }));
  EXPECT_FALSE(Refuses([](Pod& pod) { pod.conditions.pop_back(); }));
  EXPECT_FALSE(Refuses([](Pod& pod) { pod.nominated_node = "a"; }));
}

// Whether a kubelet's refusal is kept, once `change` was made to a pod that
// the VMI lists.
bool IsKept(const std::function<void(Pod&)>& change) {
  Snapshot snapshot;
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = "web", .uid = "v"};
  vmi.active_pods["p"] = "a";
  See(vmi, snapshot);
  Pod pod = PodOf("p");
  pod.node_name = "a";
  pod.phase = "Failed";
  pod.reason = "OutOfcpu";
  change(pod);
  See(pod, snapshot);
  return snapshot.kubelet_refusals.contains("p");
}

TEST(KubeletRefusalTest, IsOfAPodOnANodeThatAVmiHasMade) {
  EXPECT_TRUE(IsKept([](Pod&) {}));
  EXPECT_TRUE(IsKept([](Pod& pod) {
    pod.meta.owners.insert(pod.meta.owners.begin(),
                           {.kind = "Service", .controller = true});
  }));
  EXPECT_FALSE(IsKept([](Pod& pod) { pod.meta.owners[0].controller = false; }));
  EXPECT_FALSE(
      IsKept([](Pod& pod) { pod.meta.owners[0].kind = "ReplicaSet"; }));
  EXPECT_FALSE(IsKept([](Pod& pod) { pod.meta.owners.clear(); }));
  EXPECT_FALSE(IsKept([](Pod& pod) { pod.node_name.clear(); }));
  EXPECT_FALSE(IsKept([](Pod& pod) { pod.reason = "Evicted"; }));
}

TEST(KubeletRefusalTest, CountsOnceTheOwnerListsThePod) {
  Snapshot snapshot;
  VirtualMachineInstance other, vmi;
  vmi.meta = {.name_space = "t", .name = "web", .uid = "v"};
  other.meta = {.name_space = "t", .name = "other", .uid = "o"};
  other.active_pods["p"] = "a";
  See(vmi, snapshot);
  See(other, snapshot);
  Pod pod = PodOf("p");
  pod.node_name = "a";
  pod.phase = "Failed";
  pod.reason = "UnexpectedAdmissionError";
  See(pod, snapshot);
  EXPECT_FALSE(snapshot.kubelet_refusals.contains("p"));
  other.meta.resource_version = "2";
  other.phase = "Running";
  See(other, snapshot);
  EXPECT_FALSE(snapshot.kubelet_refusals.contains("p"));
  vmi.meta.resource_version = "2";
  vmi.active_pods["p"] = "a";
  See(vmi, snapshot);
  EXPECT_TRUE(snapshot.kubelet_refusals.contains("p"));
  EXPECT_TRUE(snapshot.unlisted_refusals.empty());
}

Pod Refused(const std::string& name) {
  Pod pod = PodOf(name);
  pod.node_name = "a";
  pod.phase = "Failed";
  pod.reason = "OutOfcpu";
  return pod;
}

void See(const v1::Record& record, Snapshot& snapshot) {
  Fold(record, std::nullopt, snapshot);
}

void ListVmis(const std::vector<VirtualMachineInstance>& vmis,
              Snapshot& snapshot) {
  v1::Record began, ended;
  began.mutable_list_began()->set_kind("VirtualMachineInstance");
  See(began, snapshot);
  for (const VirtualMachineInstance& vmi : vmis) {
    v1::Record record;
    *record.mutable_object() = EventOf(v1::ObjectEvent::LISTED, vmi);
    Fold(record, vmi, snapshot);
  }
  ended.mutable_list_ended()->set_kind("VirtualMachineInstance");
  See(ended, snapshot);
}

void Delete(const Object& object, Snapshot& snapshot) {
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::DELETED, object);
  Fold(record, object, snapshot);
}

VirtualMachineInstance VmiWith(const std::string& pod) {
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = "web", .uid = "v"};
  if (!pod.empty()) vmi.active_pods[pod] = "a";
  return vmi;
}

// A replica that begins may see the pod listed, and even removed, before it
// sees the VMI.
TEST(KubeletRefusalTest, OutlivesItsPodUntilTheVmisAreListed) {
  Snapshot snapshot;
  v1::Record served;
  served.mutable_kind_served()->set_kind("VirtualMachineInstance");
  served.mutable_kind_served()->set_served(true);
  See(served, snapshot);
  See(Refused("p"), snapshot);
  See(Refused("q"), snapshot);
  Delete(Refused("p"), snapshot);
  ListVmis({VmiWith("p")}, snapshot);
  EXPECT_TRUE(snapshot.kubelet_refusals.contains("p"));
  EXPECT_EQ(snapshot.unlisted_refusals.size(), 1);
}

TEST(KubeletRefusalTest, OfAVmiThatIsNotThereIsForgotten) {
  Snapshot snapshot;
  See(Refused("p"), snapshot);
  ListVmis({}, snapshot);
  EXPECT_TRUE(snapshot.unlisted_refusals.empty());
  See(Refused("q"), snapshot);
  EXPECT_TRUE(snapshot.unlisted_refusals.empty());
  See(VmiWith(""), snapshot);
  See(Refused("r"), snapshot);
  EXPECT_EQ(snapshot.unlisted_refusals.size(), 1);
  Delete(VmiWith(""), snapshot);
  EXPECT_TRUE(snapshot.unlisted_refusals.empty());
}

TEST(KubeletRefusalTest, WithoutKubeVirtNothingStaysOfAPodThatHasGone) {
  Snapshot snapshot;
  See(Refused("p"), snapshot);
  EXPECT_EQ(snapshot.unlisted_refusals.size(), 1);
  Delete(Refused("p"), snapshot);
  EXPECT_TRUE(snapshot.unlisted_refusals.empty());
}

TEST(KubeletRefusalTest, OfPodsThatAVmiDoesNotListOnlySoManyAreKept) {
  Snapshot snapshot;
  ListVmis({VmiWith("")}, snapshot);
  for (int i = 0; i < 100; ++i) {
    const Pod pod = Refused("p" + std::to_string(i));
    See(pod, snapshot);
    Delete(pod, snapshot);
  }
  EXPECT_EQ(snapshot.unlisted_refusals.size(), 64);
  EXPECT_TRUE(snapshot.kubelet_refusals.empty());
}

}  // namespace
}  // namespace gpubinder
