// A made-up cluster of any size, settled: most VMs run with their GPUs, and
// some may wait for room that is not there.
//
// Nodes, classes and tenants are spread as section 6.2 of the benchmark
// designs says: K claims a set in {1, 2, 4, 8}, 16 classes of which each node
// has four, 250 claims a tenant with a budget each, half of the sets held
// claims and half template claims. One shape and seed give one cluster.

#ifndef TOOLS_BENCH_CLUSTER_H_
#define TOOLS_BENCH_CLUSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "reconciler/model/objects.h"

namespace gpubinder::bench {

struct ClusterShape {
  uint64_t seed = 1;
  int64_t claims = 1000;  // of VMs that run; a set more or less
  int64_t nodes = 20;
  // Of the units of each class on each node, rounded up to whole units.
  int64_t fill_percent = 95;
  // Pods select a node pool; so many pools there are. 1: they select none.
  int64_t selector_variants = 50;
  // Sets at their gate that ask for more units than any node has.
  int64_t waiting_sets = 0;
};

inline constexpr int kClasses = 16;
inline constexpr int kClassesPerNode = 4;

// One VM with its claims, all on one node.
struct PlannedSet {
  int64_t number = 0;
  int64_t tenant = 0;
  int64_t node = 0;  // a waiting set: its pool stands for this node's
  int claims = 1;
  int gpu_class = 0;
  int64_t units = 1;  // of each claim
  bool held = false;  // else template claims
  bool waiting = false;
};

class Cluster {
 public:
  // O(sets).
  explicit Cluster(const ClusterShape& shape);

  const ClusterShape& shape() const { return shape_; }
  const std::vector<PlannedSet>& sets() const { return sets_; }
  int64_t tenants() const { return tenants_; }
  int64_t claims() const { return claims_; }
  // Of the Bound claims.
  int64_t booked_units() const { return booked_units_; }
  // Later than anything in it.
  absl::Time now() const;
  // Calls visit with every object of the kind.
  void ForEach(Kind kind, absl::FunctionRef<void(Object)> visit) const;

  Node MakeNode(int64_t node) const;
  GpuClaim MakeClaim(const PlannedSet& set, int index) const;
  VirtualMachineInstance MakeVmi(const PlannedSet& set) const;
  Pod MakePod(const PlannedSet& set) const;
  // A claim of no VM that fits somewhere: an order.
  GpuClaim MakeOrder(int64_t number) const;

  std::string NodeName(int64_t node) const;
  std::string VmName(const PlannedSet& set) const;
  std::string ClaimName(const PlannedSet& set, int index) const;
  std::string PodName(const PlannedSet& set) const;
  std::string UidOf(Kind kind, int64_t number) const;

 private:
  ObjectMeta Meta(Kind kind, int64_t number, std::string name_space,
                  std::string name) const;
  std::string TenantName(int64_t tenant) const;
  ClaimsAnnotation Annotation(const PlannedSet& set) const;
  std::string Pool(int64_t node) const;
  GpuClass MakeClass(int gpu_class) const;
  GpuClaimSet MakeClaimSet(const PlannedSet& set) const;
  VirtualMachine MakeVm(const PlannedSet& set) const;
  Namespace MakeNamespace(int64_t tenant) const;
  ResourceQuota MakeQuota(int64_t tenant) const;

  const ClusterShape shape_;
  int64_t tenants_ = 0, claims_ = 0, booked_units_ = 0;
  std::vector<PlannedSet> sets_;
  // By node, then the node's four classes.
  std::vector<int64_t> booked_;
};

// nvidia.com/GPU_00 and gpu-00.
std::string ResourceName(int gpu_class);
std::string ClassName(int gpu_class);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_CLUSTER_H_
