// What the fold takes for a refusal of a launcher, by scheduler or kubelet.

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/fold_fixture.h"
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

VirtualMachineInstance VmiWith(const std::string& pod) {
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = "web", .uid = "v"};
  if (!pod.empty()) vmi.active_pods[pod] = "a";
  return vmi;
}

class UnlistedRefusalTest : public FoldTest {
 protected:
  void ListVmis(const std::vector<VirtualMachineInstance>& vmis) {
    Begin(Kind::kVirtualMachineInstance);
    for (const VirtualMachineInstance& vmi : vmis) {
      See(v1::ObjectEvent::LISTED, vmi);
    }
    End(Kind::kVirtualMachineInstance);
  }
};

// A replica that begins may see the pod listed, and even removed, before it
// sees the VMI.
TEST_F(UnlistedRefusalTest, OutlivesItsPodUntilTheVmisAreListed) {
  Serve(Kind::kVirtualMachineInstance, true);
  See(v1::ObjectEvent::ADDED, Refused("p"));
  See(v1::ObjectEvent::ADDED, Refused("q"));
  See(v1::ObjectEvent::DELETED, Refused("p"));
  ListVmis({VmiWith("p")});
  EXPECT_TRUE(snapshot_.kubelet_refusals.contains("p"));
  EXPECT_EQ(snapshot_.unlisted_refusals.size(), 1);
}

TEST_F(UnlistedRefusalTest, OfAVmiThatIsNotThereIsForgotten) {
  See(v1::ObjectEvent::ADDED, Refused("p"));
  ListVmis({});
  EXPECT_TRUE(snapshot_.unlisted_refusals.empty());
  See(v1::ObjectEvent::ADDED, Refused("q"));
  EXPECT_TRUE(snapshot_.unlisted_refusals.empty());
  See(v1::ObjectEvent::ADDED, VmiWith(""));
  See(v1::ObjectEvent::ADDED, Refused("r"));
  EXPECT_EQ(snapshot_.unlisted_refusals.size(), 1);
  See(v1::ObjectEvent::DELETED, VmiWith(""));
  EXPECT_TRUE(snapshot_.unlisted_refusals.empty());
}

TEST_F(UnlistedRefusalTest, WithoutKubeVirtNothingStaysOfAPodThatHasGone) {
  See(v1::ObjectEvent::ADDED, Refused("p"));
  EXPECT_EQ(snapshot_.unlisted_refusals.size(), 1);
  See(v1::ObjectEvent::DELETED, Refused("p"));
  EXPECT_TRUE(snapshot_.unlisted_refusals.empty());
}

TEST_F(UnlistedRefusalTest, OfPodsThatAVmiDoesNotListOnlySoManyAreKept) {
  ListVmis({VmiWith("")});
  for (int i = 0; i < 100; ++i) {
    const Pod pod = Refused("p" + std::to_string(i));
    See(v1::ObjectEvent::ADDED, pod);
    See(v1::ObjectEvent::DELETED, pod);
  }
  EXPECT_EQ(snapshot_.unlisted_refusals.size(), 64);
  EXPECT_TRUE(snapshot_.kubelet_refusals.empty());
}

}  // namespace
}  // namespace gpubinder
