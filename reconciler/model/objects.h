// The fields of Kubernetes objects that the binder reads, as plain structs.
//
// A struct holds what the object says, not what it means: quantities stay
// text, labels stay labels. The codec (k8s/object_codec.h) fills them from
// JSON. A field of a wrong type is left at its default and named in
// `problems`, which makes the object malformed: it keeps what it holds and is
// given nothing new.

#ifndef RECONCILER_MODEL_OBJECTS_H_
#define RECONCILER_MODEL_OBJECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/gpu_objects.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList allocatable;
  std::vector<Condition> conditions;
  bool operator==(const Node&) const = default;
};

struct VirtualMachine {
  ObjectMeta meta;
  ClaimsAnnotation claims;   // of spec.template.metadata
  std::string run_strategy;  // `running` is translated; empty: Halted
  std::vector<std::string> volume_claims;  // PVC and DataVolume names
  // status.stateChangeRequests, for RestartVM's intention.
  std::vector<std::pair<std::string, std::string>> state_changes;
  bool operator==(const VirtualMachine&) const = default;
};

struct VirtualMachineInstance {
  ObjectMeta meta;
  ClaimsAnnotation claims;
  std::string phase, node_name;
  StringMap active_pods;                    // pod uid to node
  std::vector<std::string> volume_claims;   // PVC and DataVolume names
  std::vector<std::string> hotplug_claims;  // those of them hotplugged
  std::vector<Condition> conditions;
  // What the VMI webhook looks at.
  struct Device {
    std::string name, device_name;
    bool operator==(const Device&) const = default;
  };
  std::vector<Device> gpus, host_devices;
  ResourceList resource_requests, resource_limits;  // domain.resources
  bool operator==(const VirtualMachineInstance&) const = default;
};

struct Container {
  std::string name;
  ResourceList requests;
  bool restart_always = false;  // an init container that is a sidecar
  bool operator==(const Container&) const = default;
};

struct Pod {
  ObjectMeta meta;
  std::string node_name;  // spec
  std::vector<std::string> gates;
  StringMap node_selector;
  bool has_affinity = false, has_node_affinity = false;
  std::optional<NodeSelector> required;  // node affinity
  std::vector<Toleration> tolerations;
  std::vector<Container> containers, init_containers;
  ResourceList overhead, pod_requests;  // spec.overhead, spec.resources
  std::vector<std::string> volume_claims;
  std::string phase, reason, nominated_node;  // status
  std::vector<Condition> conditions;
  bool operator==(const Pod&) const = default;
};

struct Namespace {
  ObjectMeta meta;
  bool terminating = false;
  bool operator==(const Namespace&) const = default;
};

struct ResourceQuota {
  ObjectMeta meta;
  ResourceList hard;
  bool operator==(const ResourceQuota&) const = default;
};

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::string volume_name;
  bool bind_completed = false;
  bool operator==(const PersistentVolumeClaim&) const = default;
};

struct PersistentVolume {
  ObjectMeta meta;
  std::optional<NodeSelector> required;  // nodeAffinity
  std::string claim_namespace, claim_name, claim_uid;
  bool operator==(const PersistentVolume&) const = default;
};

struct SchedulingClass {
  ObjectMeta meta;
  StringMap node_selector;
  std::optional<NodeSelector> required;
  bool operator==(const SchedulingClass&) const = default;
};

// Cozystack's record of what is used. It has no spec.
struct Workload {
  ObjectMeta meta;
  std::string kind, type;  // status
  ResourceList resources;
  bool operational = false;
  bool operator==(const Workload&) const = default;
};

struct ConfigMap {
  ObjectMeta meta;
  StringMap data;
  bool operator==(const ConfigMap&) const = default;
};

// All modelled kinds, in the order of Kind.
using Object =
    std::variant<Node, GpuClass, GpuClaim, GpuClaimSet, VirtualMachine,
                 VirtualMachineInstance, Pod, Namespace, ResourceQuota,
                 PersistentVolumeClaim, PersistentVolume, SchedulingClass,
                 Workload, ConfigMap>;
static_assert(std::variant_size_v<Object> == kKinds);

inline Kind KindOf(const Object& object) {
  return static_cast<Kind>(object.index());
}
inline const ObjectMeta& MetaOf(const Object& object) {
  return std::visit([](const auto& o) -> const ObjectMeta& { return o.meta; },
                    object);
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_OBJECTS_H_
