#include <algorithm>

#include "reconciler/naive/naive.h"

namespace gpubinder::naive {
namespace {

template <typename T>
std::vector<const T*> AllOf(const Table<T>& table) {
  std::vector<const T*> all;
  for (const auto& [key, row] : table.by_name()) all.push_back(&table[row]);
  return all;
}

void FindClaims(World& world) {
  for (const GpuClaim* claim : AllOf(world.snapshot->claims())) {
    ClaimState state{
        .claim = claim, .phase = claim->phase, .class_name = claim->class_name};
    if (state.phase != "Bound" && state.phase != "Lost") {
      state.phase = "Pending";
    }
    const GpuClass* of = FindClass(world, claim->class_name);
    state.resource = claim->resource_name;
    if (state.resource.empty() && of != nullptr) {
      state.resource = of->resource_name;
    }
    // One that holds nothing yet is placed only once it is read right.
    state.units = ClaimIsMalformed(*claim) && state.phase != "Pending"
                      ? 64
                      : claim->units;
    if (state.phase == "Bound") {
      state.node = claim->node_name;
      state.counts_on.insert(state.node);
    }
    world.claims.push_back(state);
  }
  for (const auto& [id, effect] : world.snapshot->in_flight) {
    if (!effect.has_bind_claim()) continue;
    for (ClaimState& state : world.claims) {
      if (state.claim->meta.uid != effect.target().uid()) continue;
      // Where it is seen counts too; seen on the new node, the old one is
      // free.
      state.counts_on.insert(effect.bind_claim().node_name());
    }
  }
}

}  // namespace

std::string Why::Text() const {
  std::string text = v1::Reason_Name(reason) + " " + about;
  if (reason != v1::INSUFFICIENT_UNITS) return text;
  return text + " wanted " + std::to_string(wanted) + " free " +
         std::to_string(free) + " allocatable " + std::to_string(allocatable) +
         " booked " + std::to_string(booked) + " raw " + std::to_string(raw);
}

World WorldOf(const Snapshot& snapshot, absl::Time now) {
  World world{.snapshot = &snapshot,
              .now = now,
              .nodes = AllOf(snapshot.nodes()),
              .classes = AllOf(snapshot.classes()),
              .memories = AllOf(snapshot.claim_sets()),
              .vms = AllOf(snapshot.vms()),
              .vmis = AllOf(snapshot.vmis()),
              .pods = AllOf(snapshot.pods()),
              .namespaces = AllOf(snapshot.namespaces()),
              .quotas = AllOf(snapshot.Of<ResourceQuota>())};
  FindClaims(world);
  FindSets(world);
  return world;
}

const Node* FindNode(const World& world, const std::string& name) {
  for (const Node* node : world.nodes) {
    if (node->meta.name == name) return node;
  }
  return nullptr;
}

const GpuClass* FindClass(const World& world, const std::string& name) {
  for (const GpuClass* one : world.classes) {
    if (one->meta.name == name) return one;
  }
  return nullptr;
}

const VirtualMachineInstance* VmiByUid(const World& world,
                                       const std::string& uid) {
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (vmi->meta.uid == uid) return vmi;
  }
  return nullptr;
}

const VirtualMachineInstance* VmiByName(const World& world,
                                        const std::string& name_space,
                                        const std::string& name) {
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (vmi->meta.name_space == name_space && vmi->meta.name == name) {
      return vmi;
    }
  }
  return nullptr;
}

const VirtualMachine* VmByName(const World& world,
                               const std::string& name_space,
                               const std::string& name) {
  for (const VirtualMachine* vm : world.vms) {
    if (vm->meta.name_space == name_space && vm->meta.name == name) return vm;
  }
  return nullptr;
}

const Pod* PodByUid(const World& world, const std::string& uid) {
  for (const Pod* pod : world.pods) {
    if (pod->meta.uid == uid) return pod;
  }
  return nullptr;
}

bool Ended(const VirtualMachineInstance& vmi) {
  return vmi.phase == "Succeeded" || vmi.phase == "Failed";
}

bool Ended(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

bool IsTargetPod(const Pod& pod, const VirtualMachineInstance& vmi) {
  return pod.meta.labels.contains(kMigrationLabel) && !vmi.node_name.empty() &&
         pod.node_name != vmi.node_name;
}

bool IsCordoned(const Node& node) {
  return node.unschedulable ||
         std::any_of(node.taints.begin(), node.taints.end(),
                     [](const Taint& taint) {
                       return taint.key == "node.kubernetes.io/unschedulable";
                     });
}

bool IsTerminating(const World& world, const std::string& name_space) {
  for (const Namespace* space : world.namespaces) {
    if (space->meta.name == name_space) {
      return space->terminating || space->meta.deleting.has_value();
    }
  }
  return false;
}

std::string ReadyStatus(const Node& node) {
  for (const Condition& condition : node.conditions) {
    if (condition.type == "Ready") return condition.status;
  }
  return "";
}

const GpuClaimSet* MemoryOf(const World& world, const SetState& set) {
  for (const GpuClaimSet* memory : world.memories) {
    if (!set.of_vm || memory->meta.name_space != set.name_space ||
        memory->meta.name != set.name || memory->meta.owners.empty()) {
      continue;
    }
    const std::string& owner = memory->meta.owners[0].uid;
    if ((set.vm != nullptr && owner == set.vm->meta.uid) ||
        (set.vmi != nullptr && owner == set.vmi->meta.uid)) {
      return memory;
    }
  }
  return nullptr;
}

bool WasAskedToEnd(const World& world, const SetState& set) {
  const GpuClaimSet* memory = MemoryOf(world, set);
  return set.vmi != nullptr && memory != nullptr &&
         memory->ended_vmi == set.vmi->meta.uid;
}

}  // namespace gpubinder::naive
