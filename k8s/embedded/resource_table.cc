#include "k8s/embedded/resource_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/crd_resources.h"
#include "proto/check.h"

namespace gpubinder::embedded {
namespace {

const PrinterColumn kAge = {"Age", "date", ".metadata.creationTimestamp"};

void AddCore(std::vector<Resource>& all) {
  all.push_back({"", "v1", "configmaps", "configmap", "ConfigMap", {"cm"}, {}});
  all.back().columns = {{"Data", "integer", "@dataCount"}, kAge};

  all.push_back({"", "v1", "events", "event", "Event", {"ev"}, {}});
  all.back().columns = {{"Last Seen", "date", ".lastTimestamp"},
                        {"Type", "string", ".type"},
                        {"Reason", "string", ".reason"},
                        {"Object", "string", "@eventObject"},
                        {"Message", "string", ".message"}};

  all.push_back({"", "v1", "namespaces", "namespace", "Namespace", {"ns"}, {}});
  all.back().namespaced = false;
  all.back().has_status = true;
  all.back().columns = {{"Status", "string", ".status.phase"}, kAge};

  all.push_back({"", "v1", "nodes", "node", "Node", {"no"}, {}});
  all.back().namespaced = false;
  all.back().has_status = true;
  all.back().columns = {
      {"Status", "string", "@nodeStatus"},
      {"Roles", "string", "@nodeRoles"},
      kAge,
      {"Version", "string", ".status.nodeInfo.kubeletVersion"}};
}

void AddPodsAndVolumes(std::vector<Resource>& all) {
  all.push_back({"",
                 "v1",
                 "persistentvolumeclaims",
                 "persistentvolumeclaim",
                 "PersistentVolumeClaim",
                 {"pvc"},
                 {}});
  all.back().has_status = true;
  all.back().columns = {{"Status", "string", ".status.phase"},
                        {"Volume", "string", ".spec.volumeName"},
                        {"StorageClass", "string", ".spec.storageClassName"},
                        kAge};

  all.push_back({"",
                 "v1",
                 "persistentvolumes",
                 "persistentvolume",
                 "PersistentVolume",
                 {"pv"},
                 {}});
  all.back().namespaced = false;
  all.back().has_status = true;
  all.back().columns = {{"Status", "string", ".status.phase"},
                        {"Claim", "string", ".spec.claimRef.name"},
                        kAge};

  all.push_back({"", "v1", "pods", "pod", "Pod", {"po"}, {"all"}});
  all.back().has_status = true;
  all.back().has_generation = true;
  all.back().columns = {
      {"Ready", "string", "@podReady"},
      {"Status", "string", "@podStatus"},
      {"Restarts", "string", "@podRestarts"},
      kAge,
      {"IP", "string", ".status.podIP", 1},
      {"Node", "string", ".spec.nodeName", 1},
      {"Nominated Node", "string", ".status.nominatedNodeName", 1}};

  all.push_back({"",
                 "v1",
                 "resourcequotas",
                 "resourcequota",
                 "ResourceQuota",
                 {"quota"},
                 {}});
  all.back().has_status = true;
  all.back().columns = {kAge};
}

void AddLeases(std::vector<Resource>& all) {
  all.push_back({"coordination.k8s.io", "v1", "leases", "lease", "Lease"});
  all.back().needs_version = true;
  all.back().columns = {{"Holder", "string", ".spec.holderIdentity"}, kAge};
}

Resource& AddCustom(std::vector<Resource>& all, Resource resource) {
  resource.is_custom = true;
  resource.has_generation = true;
  resource.needs_version = true;
  if (resource.columns.empty()) resource.columns = {kAge};
  all.push_back(std::move(resource));
  return all.back();
}

void AddCozystack(std::vector<Resource>& all) {
  Resource& classes =
      AddCustom(all, {"cozystack.io", "v1alpha1", "schedulingclasses",
                      "schedulingclass", "SchedulingClass"});
  classes.namespaced = false;
  // Workloads have no status subresource: the CRD says `subresources: {}`.
  Resource& workloads = AddCustom(
      all, {"cozystack.io", "v1alpha1", "workloads", "workload", "Workload"});
  workloads.columns = {{"Kind", "string", ".status.kind"},
                       {"Type", "string", ".status.type"},
                       {"Operational", "boolean", ".status.operational"},
                       kAge};
}

void AddOurs(std::vector<Resource>& all) {
  for (Resource& resource : ResourcesOfOurCrds()) {
    all.push_back(std::move(resource));
  }
}

void AddKubeVirt(std::vector<Resource>& all) {
  // The real VMI has no status subresource, and its generation moves with
  // every change of status.
  Resource& instances = AddCustom(all, {"kubevirt.io",
                                        "v1",
                                        "virtualmachineinstances",
                                        "virtualmachineinstance",
                                        "VirtualMachineInstance",
                                        {"vmi", "vmis"},
                                        {"all"}});
  instances.columns = {
      kAge,
      {"Phase", "string", ".status.phase"},
      {"NodeName", "string", ".status.nodeName"},
      {"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"}};

  Resource& machines = AddCustom(all, {"kubevirt.io",
                                       "v1",
                                       "virtualmachines",
                                       "virtualmachine",
                                       "VirtualMachine",
                                       {"vm", "vms"},
                                       {"all"}});
  machines.has_status = true;
  machines.columns = {
      kAge,
      {"Status", "string", ".status.printableStatus"},
      {"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"}};
}

std::vector<Resource> MakeResources() {
  std::vector<Resource> all;
  AddCore(all);
  AddPodsAndVolumes(all);
  AddLeases(all);
  AddCozystack(all);
  AddOurs(all);
  AddKubeVirt(all);
  return all;
}

}  // namespace

std::string Resource::GroupVersion() const {
  return group.empty() ? version : absl::StrCat(group, "/", version);
}

std::string Resource::QualifiedPlural() const {
  return group.empty() ? plural : absl::StrCat(plural, ".", group);
}

std::string Resource::QualifiedKind() const {
  return group.empty() ? kind : absl::StrCat(kind, ".", group);
}

const std::vector<Resource>& AllResources() {
  static const auto* const kAll = new std::vector<Resource>(MakeResources());
  return *kAll;
}

const Resource* FindResource(absl::string_view group, absl::string_view version,
                             absl::string_view plural) {
  for (const Resource& one : AllResources()) {
    if (one.group == group && one.version == version && one.plural == plural) {
      return &one;
    }
  }
  return nullptr;
}

const Resource* FindResourceByKind(absl::string_view api_version,
                                   absl::string_view kind) {
  for (const Resource& one : AllResources()) {
    if (one.kind == kind && one.GroupVersion() == api_version) return &one;
  }
  return nullptr;
}

const Resource& ResourceNamed(absl::string_view qualified) {
  for (const Resource& one : AllResources()) {
    if (one.QualifiedPlural() == qualified) return one;
  }
  BINDER_CHECK(!"a resource that is served");
  __builtin_unreachable();
}

}  // namespace gpubinder::embedded
