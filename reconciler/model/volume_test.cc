#include "reconciler/model/volume.h"

#include <string>

#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

void Add(const Object& object, Snapshot& snapshot) {
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
  Fold(record, object, snapshot);
}

PersistentVolume VolumeOf(const std::string& name_space,
                          const std::string& claim, const std::string& uid) {
  PersistentVolume volume;
  volume.meta = {.name = "pv", .uid = "pv"};
  volume.claim_namespace = name_space;
  volume.claim_name = claim;
  volume.claim_uid = uid;
  return volume;
}

// Whether the disk t/disk of uid "d", bound to that volume, is reached by
// every node.
bool IsReached(PersistentVolume volume) {
  Snapshot snapshot;
  PersistentVolumeClaim claim;
  claim.meta = {.name_space = "t", .name = "disk", .uid = "d"};
  claim.volume_name = "pv";
  claim.bind_completed = true;
  Add(claim, snapshot);
  Add(volume, snapshot);
  const VolumeReach reach = ReachOf("t", "disk", snapshot);
  EXPECT_EQ(reach.nodes, nullptr);
  return reach.everywhere;
}

TEST(ReachOfTest, AVolumeOfAnotherDiskIsReachedByNoNode) {
  EXPECT_TRUE(IsReached(VolumeOf("t", "disk", "")));
  EXPECT_TRUE(IsReached(VolumeOf("t", "disk", "d")));
  EXPECT_FALSE(IsReached(VolumeOf("t", "other", "d")));
  EXPECT_FALSE(IsReached(VolumeOf("elsewhere", "disk", "d")));
  EXPECT_FALSE(IsReached(VolumeOf("t", "disk", "an-earlier-one")));
}

TEST(ReachOfTest, ADiskWithoutAVolumeYetIsReachedByEveryNode) {
  Snapshot snapshot;
  PersistentVolumeClaim claim;
  claim.meta = {.name_space = "t", .name = "disk", .uid = "d"};
  Add(claim, snapshot);
  EXPECT_TRUE(ReachOf("t", "disk", snapshot).everywhere);
  claim.meta.resource_version = "2";
  claim.volume_name = "pv";  // chosen, not bound
  Add(claim, snapshot);
  EXPECT_TRUE(ReachOf("t", "disk", snapshot).everywhere);
  EXPECT_FALSE(ReachOf("t", "none", snapshot).everywhere);
}

}  // namespace
}  // namespace gpubinder
