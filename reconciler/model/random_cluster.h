// Small clusters of random nodes, classes, volumes and VMs, which change at
// random: what judging a node may depend on. One seed is one cluster.

#ifndef RECONCILER_MODEL_RANDOM_CLUSTER_H_
#define RECONCILER_MODEL_RANDOM_CLUSTER_H_

#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed);

  Snapshot& snapshot() { return snapshot_; }
  int nodes() const { return nodes_; }
  // The time at which it is judged: some rejections have lapsed.
  static absl::Time now() { return absl::FromUnixSeconds(1'800'000'000); }
  // Something that judging may depend on becomes another.
  void Change();
  // Random, from 0.
  int Below(int n);

 private:
  void Add(const Object& object);
  void Remove(int i);
  // One time in n, and seldom where most is alike.
  bool Odd(int n) { return Below(alike_ ? 5 * n : n) == 0; }
  std::string Resource() { return Odd(2) ? "r/1" : "r/0"; }
  std::string Value() { return absl::StrCat(Below(alike_ ? 2 : 3)); }
  std::string NodeName() { return absl::StrCat("n", Below(nodes_ + 1)); }

  StringMap Selector();
  NodeSelector Terms();
  Requirement Wish();

  void AddClass(int i);
  void AddNode(int i);
  // A PVC and, it may be, what it is bound to.
  void AddVolume(int i);
  void AddSchedulingClass(int i);

  RejectedNode Rejection();
  void AddClaim(const std::string& name, const std::string& vmi);
  // A VMI with a launcher and claims; it may run elsewhere too.
  void AddVm(int i);
  void Rule(Pod& pod);

  std::mt19937_64 random_;
  int nodes_ = 0, made_ = 0;
  bool alike_ = false;  // most nodes, and most of what sets ask
  Snapshot snapshot_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_RANDOM_CLUSTER_H_
