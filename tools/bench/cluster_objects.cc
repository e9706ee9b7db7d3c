#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "reconciler/model/config.h"
#include "reconciler/model/names.h"
#include "tools/bench/cluster.h"

namespace gpubinder::bench {
namespace {

constexpr char kPoolLabel[] = "node.example.com/pool";
constexpr char kGpuTaint[] = "nvidia.com/gpu";
// Numbers of claims of one set: at most eight.
constexpr int64_t kClaimsOfSet = 8;
constexpr char kEnough[] = "1000000";

const Toleration kTolerateGpu = {
    .key = kGpuTaint, .op = "Exists", .effect = "NoSchedule"};

OwnerReference Owner(const char* kind, std::string name, std::string uid) {
  return {.api_version = "kubevirt.io/v1",
          .kind = kind,
          .name = std::move(name),
          .uid = std::move(uid),
          .controller = true};
}

}  // namespace

ObjectMeta Cluster::Meta(Kind kind, int64_t number, std::string name_space,
                         std::string name) const {
  return {.name_space = std::move(name_space),
          .name = std::move(name),
          .uid = UidOf(kind, number),
          .resource_version = "1",
          .created = absl::FromUnixSeconds(1'767'225'600 + number),
          .generation = 1};
}

Node Cluster::MakeNode(int64_t number) const {
  Node node{.meta = Meta(Kind::kNode, number, "", NodeName(number))};
  node.meta.labels = {
      {"kubernetes.io/arch", "amd64"},
      {"kubernetes.io/hostname", node.meta.name},
      {"kubernetes.io/os", "linux"},
      {kKubeVirtSchedulable, "true"},
      {kPoolLabel, Pool(number)},
      {"topology.kubernetes.io/zone", absl::StrCat("zone-", number % 8)}};
  if (number % 2 == 0) {
    node.taints = {
        {.key = kGpuTaint, .value = "present", .effect = "NoSchedule"}};
  }
  node.allocatable = {{"cpu", "255500m"},
                      {"devices.kubevirt.io/kvm", "1k"},
                      {"ephemeral-storage", "3567587328Ki"},
                      {"memory", "2113441024Ki"},
                      {"pods", "250"}};
  for (int slot = 0; slot < kClassesPerNode; ++slot) {
    const int gpu_class = slot * (kClasses / kClassesPerNode) +
                          static_cast<int>(number % kClassesPerNode);
    const int64_t booked = booked_[number * kClassesPerNode + slot];
    const int64_t units =
        (booked * 100 + shape_.fill_percent - 1) / shape_.fill_percent;
    node.allocatable[ResourceName(gpu_class)] =
        absl::StrCat(std::max<int64_t>(1, units));
  }
  node.conditions = {{.type = "MemoryPressure",
                      .status = "False",
                      .reason = "KubeletHasSufficientMemory",
                      .last_transition = node.meta.created},
                     {.type = "Ready",
                      .status = "True",
                      .reason = "KubeletReady",
                      .last_transition = node.meta.created}};
  return node;
}

GpuClass Cluster::MakeClass(int gpu_class) const {
  GpuClass made{
      .meta = Meta(Kind::kGpuClass, gpu_class, "", ClassName(gpu_class)),
      .resource_name = ResourceName(gpu_class),
      .max_count = 64,
      .node_selector = {{"kubernetes.io/os", "linux"}},
      .tolerations = {kTolerateGpu}};
  made.meta.finalizers = {kClassFinalizer};
  made.conditions = {{.type = "Ready",
                      .status = "True",
                      .reason = "Serving",
                      .message = "Serving",
                      .observed_generation = 1,
                      .last_transition = made.meta.created}};
  return made;
}

std::string Cluster::ClaimName(const PlannedSet& set, int index) const {
  if (set.held) return absl::StrFormat("gpus-%06d-%d", set.number, index);
  return TemplateClaimName(VmName(set), index,
                           UidOf(Kind::kVirtualMachineInstance, set.number));
}

GpuClaim Cluster::MakeClaim(const PlannedSet& set, int index) const {
  GpuClaim claim{
      .meta = Meta(Kind::kGpuClaim, set.number * kClaimsOfSet + index,
                   TenantName(set.tenant), ClaimName(set, index)),
      .class_name = ClassName(set.gpu_class),
      .units = set.units};
  claim.meta.created = absl::FromUnixSeconds(1'767'225'600 + set.number);
  claim.meta.finalizers = {kClaimFinalizer};
  const std::string vm = VmName(set);
  const std::string vmi_uid = UidOf(Kind::kVirtualMachineInstance, set.number);
  if (set.held) {
    claim.attached_to = {
        .name = vm, .uid = vmi_uid, .since = claim.meta.created};
  } else {
    claim.meta.labels = {{kTemplateClaimLabel, vm}};
    claim.meta.owners = {Owner("VirtualMachineInstance", vm, vmi_uid)};
    claim.meta.owners[0].controller = false;
  }
  if (set.waiting) return claim;
  claim.phase = "Bound";
  claim.node_name = NodeName(set.node);
  claim.resource_name = ResourceName(set.gpu_class);
  claim.bound_at = claim.meta.created + absl::Seconds(1);
  claim.conditions = {{.type = "Bound",
                       .status = "True",
                       .reason = "Placed",
                       .message = absl::StrCat("Placed on ", claim.node_name),
                       .observed_generation = 1,
                       .last_transition = *claim.bound_at}};
  claim.decision = {.journal = "5e1f09ab",
                    .epoch = 1,
                    .sequence = static_cast<uint64_t>(set.number)};
  return claim;
}

GpuClaim Cluster::MakeOrder(int64_t number) const {
  const int64_t past =
      (static_cast<int64_t>(sets_.size()) + number) * kClaimsOfSet;
  GpuClaim claim{
      .meta = Meta(Kind::kGpuClaim, past, TenantName(number % tenants_),
                   absl::StrFormat("order-%06d", number)),
      .class_name = ClassName(static_cast<int>(number % kClasses)),
      .units = 1};
  claim.meta.created = now();
  claim.meta.finalizers = {kClaimFinalizer};
  return claim;
}

GpuClaimSet Cluster::MakeClaimSet(const PlannedSet& set) const {
  GpuClaimSet made{.meta = Meta(Kind::kGpuClaimSet, set.number,
                                TenantName(set.tenant), VmName(set))};
  made.meta.owners = {Owner("VirtualMachine", VmName(set),
                            UidOf(Kind::kVirtualMachine, set.number))};
  for (int i = 0; i < set.claims; ++i) {
    made.claims.push_back(ClaimName(set, i));
  }
  made.node_name = NodeName(set.node);
  made.vmi_uid = UidOf(Kind::kVirtualMachineInstance, set.number);
  made.pod_uid = UidOf(Kind::kPod, set.number);
  made.reason = "Placed";
  made.message = absl::StrCat("Placed on ", made.node_name);
  made.since = made.meta.created;
  made.transitions = 1;
  return made;
}

ClaimsAnnotation Cluster::Annotation(const PlannedSet& set) const {
  ClaimsAnnotation annotation{.present = true};
  for (int i = 0; i < set.claims; ++i) {
    annotation.entries.push_back(
        set.held ? ClaimEntry{.claim_name = ClaimName(set, i)}
                 : ClaimEntry{.class_name = ClassName(set.gpu_class),
                              .units = set.units});
  }
  return annotation;
}

VirtualMachine Cluster::MakeVm(const PlannedSet& set) const {
  return {.meta = Meta(Kind::kVirtualMachine, set.number,
                       TenantName(set.tenant), VmName(set)),
          .claims = Annotation(set),
          .run_strategy = "Always"};
}

VirtualMachineInstance Cluster::MakeVmi(const PlannedSet& set) const {
  VirtualMachineInstance vmi{
      .meta = Meta(Kind::kVirtualMachineInstance, set.number,
                   TenantName(set.tenant), VmName(set)),
      .claims = Annotation(set),
      .phase = set.waiting ? "Scheduling" : "Running",
      .node_name = set.waiting ? "" : NodeName(set.node)};
  vmi.meta.owners = {Owner("VirtualMachine", VmName(set),
                           UidOf(Kind::kVirtualMachine, set.number))};
  vmi.active_pods = {{UidOf(Kind::kPod, set.number), vmi.node_name}};
  vmi.conditions = {{.type = "Ready",
                     .status = set.waiting ? "False" : "True",
                     .last_transition = vmi.meta.created}};
  return vmi;
}

Pod Cluster::MakePod(const PlannedSet& set) const {
  Pod pod{.meta = Meta(Kind::kPod, set.number, TenantName(set.tenant),
                       PodName(set))};
  pod.meta.labels = {{"kubevirt.io", "virt-launcher"},
                     {"vm.kubevirt.io/name", VmName(set)}};
  pod.meta.owners = {Owner("VirtualMachineInstance", VmName(set),
                           UidOf(Kind::kVirtualMachineInstance, set.number))};
  pod.node_selector = {{"kubernetes.io/arch", "amd64"},
                       {kKubeVirtSchedulable, "true"}};
  if (shape_.selector_variants > 1) {
    pod.node_selector[kPoolLabel] = Pool(set.node);
  }
  pod.tolerations = {kTolerateGpu};
  pod.containers = {{.name = "compute",
                     .requests = {{"cpu", "4"},
                                  {"memory", "16Gi"},
                                  {ResourceName(set.gpu_class),
                                   absl::StrCat(set.claims * set.units)}}}};
  if (set.waiting) {
    pod.gates = {kGate};
    pod.phase = "Pending";
    return pod;
  }
  pod.node_name = NodeName(set.node);
  pod.has_affinity = pod.has_node_affinity = true;
  pod.required.emplace();
  pod.required->terms = {
      {.fields = {
           {.key = "metadata.name", .op = "In", .values = {pod.node_name}}}}};
  pod.phase = "Running";
  pod.conditions = {
      {.type = "PodScheduled",
       .status = "True",
       .last_transition = pod.meta.created},
      {.type = "Ready", .status = "True", .last_transition = pod.meta.created}};
  return pod;
}

Namespace Cluster::MakeNamespace(int64_t tenant) const {
  return {.meta = Meta(Kind::kNamespace, tenant, "", TenantName(tenant))};
}

ResourceQuota Cluster::MakeQuota(int64_t tenant) const {
  ResourceQuota quota{.meta = Meta(Kind::kResourceQuota, tenant,
                                   TenantName(tenant), "tenant-quota")};
  for (int i = 0; i < kClasses; ++i) {
    quota.hard[absl::StrCat("requests.gpu.cozystack.io/", ClassName(i))] =
        kEnough;
  }
  return quota;
}

}  // namespace gpubinder::bench
