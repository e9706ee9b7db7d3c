#include "tools/bench/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "journal/dice.h"

namespace gpubinder::bench {
namespace {

constexpr int64_t kClaimsPerTenant = 250;
// More than any node has of a class, and the most that a claim may ask for.
constexpr int64_t kTooManyUnits = 64;
constexpr int kSetSizes[] = {1, 2, 4, 8};

}  // namespace

std::string ResourceName(int gpu_class) {
  return absl::StrFormat("nvidia.com/GPU_%02d", gpu_class);
}

std::string ClassName(int gpu_class) {
  return absl::StrFormat("gpu-%02d", gpu_class);
}

Cluster::Cluster(const ClusterShape& shape)
    : shape_(shape),
      tenants_(std::max<int64_t>(1, shape.claims / kClaimsPerTenant)),
      booked_(static_cast<size_t>(shape.nodes) * kClassesPerNode) {
  Dice dice(shape.seed);
  auto add = [&](bool waiting) {
    PlannedSet set{.number = static_cast<int64_t>(sets_.size()),
                   .waiting = waiting};
    set.tenant = static_cast<int64_t>(dice.Below(tenants_));
    // Round robin, so that no node has much more than its share.
    set.node = set.number % shape_.nodes;
    set.claims = kSetSizes[dice.Below(std::size(kSetSizes))];
    const int slot = static_cast<int>(dice.Below(kClassesPerNode));
    set.gpu_class = slot * (kClasses / kClassesPerNode) +
                    static_cast<int>(set.node % (kClasses / kClassesPerNode));
    set.units = waiting ? kTooManyUnits : 1 + dice.OneIn(4);
    set.held = waiting || dice.OneIn(2);
    claims_ += set.claims;
    if (!waiting) {
      const int64_t units = set.claims * set.units;
      booked_[set.node * kClassesPerNode + slot] += units;
      booked_units_ += units;
    }
    sets_.push_back(set);
  };
  while (claims_ < shape.claims) add(false);
  for (int64_t i = 0; i < shape.waiting_sets; ++i) add(true);
}

absl::Time Cluster::now() const {
  return absl::FromUnixSeconds(1'767'225'600) +
         absl::Seconds(static_cast<int64_t>(sets_.size())) + absl::Hours(24);
}

std::string Cluster::NodeName(int64_t node) const {
  return absl::StrFormat("gpu-node-%05d", node);
}

std::string Cluster::TenantName(int64_t tenant) const {
  return absl::StrFormat("tenant-t%05d", tenant);
}

std::string Cluster::VmName(const PlannedSet& set) const {
  return absl::StrFormat("vm-%06d", set.number);
}

std::string Cluster::PodName(const PlannedSet& set) const {
  return absl::StrFormat("virt-launcher-vm-%06d-x7k2p", set.number);
}

std::string Cluster::UidOf(Kind kind, int64_t number) const {
  Dice dice(shape_.seed * 1'000'003 + static_cast<uint64_t>(kind) * 7'919);
  return Dice(dice.Next() ^ static_cast<uint64_t>(number)).Uid();
}

std::string Cluster::Pool(int64_t node) const {
  return absl::StrFormat("pool-%04d", node % shape_.selector_variants);
}

void Cluster::ForEach(Kind kind, absl::FunctionRef<void(Object)> visit) const {
  auto each_set = [&](auto make) {
    for (const PlannedSet& set : sets_) visit((this->*make)(set));
  };
  auto each_number = [&](int64_t end, auto make) {
    for (int64_t i = 0; i < end; ++i) visit((this->*make)(i));
  };
  switch (kind) {
    case Kind::kNode:
      return each_number(shape_.nodes, &Cluster::MakeNode);
    case Kind::kGpuClass:
      return each_number(kClasses, &Cluster::MakeClass);
    case Kind::kGpuClaim:
      for (const PlannedSet& set : sets_) {
        for (int i = 0; i < set.claims; ++i) visit(MakeClaim(set, i));
      }
      return;
    case Kind::kGpuClaimSet:
      for (const PlannedSet& set : sets_) {
        if (!set.waiting) visit(MakeClaimSet(set));
      }
      return;
    case Kind::kVirtualMachine:
      return each_set(&Cluster::MakeVm);
    case Kind::kVirtualMachineInstance:
      return each_set(&Cluster::MakeVmi);
    case Kind::kPod:
      return each_set(&Cluster::MakePod);
    case Kind::kNamespace:
      return each_number(tenants_, &Cluster::MakeNamespace);
    case Kind::kResourceQuota:
      return each_number(tenants_, &Cluster::MakeQuota);
    case Kind::kPersistentVolumeClaim:
    case Kind::kPersistentVolume:
    case Kind::kSchedulingClass:
    case Kind::kWorkload:
    case Kind::kConfigMap:
      return;
  }
}

}  // namespace gpubinder::bench
