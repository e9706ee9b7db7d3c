#include <string>
#include <utility>

#include "k8s/object_decoders.h"

namespace gpubinder {

namespace {

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kBindCompleted[] = "pv.kubernetes.io/bind-completed";

void ReadContainers(const FieldReader& spec, absl::string_view name,
                    std::vector<Container>* out) {
  spec.ReadEach(name, out, [&](const FieldReader& item, Container& container) {
    item.Read("name", &container.name);
    const FieldReader resources = item.Object("resources");
    // The API server sets a request that is missing beside its limit; a pod
    // that people wrote for `plan` has not been there.
    resources.ReadQuantities("limits", &container.requests);
    resources.ReadQuantities("requests", &container.requests);
    std::string restart_policy;
    item.Read("restartPolicy", &restart_policy);
    container.restart_always = restart_policy == "Always";
  });
}

void ReadAffinity(const FieldReader& spec, Pod* pod) {
  const FieldReader affinity = spec.Object("affinity");
  const FieldReader node_affinity = affinity.Object("nodeAffinity");
  pod->has_affinity = affinity.present();
  pod->has_node_affinity = node_affinity.present();
  ReadNodeSelector(node_affinity.Object(kRequired), &pod->required);
}

}  // namespace

void ReadFields(const FieldReader& root, Node* node) {
  const FieldReader spec = root.Object("spec");
  spec.Read("unschedulable", &node->unschedulable);
  spec.ReadEach("taints", &node->taints,
                [&](const FieldReader& item, Taint& taint) {
                  item.Read("key", &taint.key);
                  item.Read("value", &taint.value);
                  item.Read("effect", &taint.effect);
                });
  const FieldReader status = root.Object("status");
  status.ReadQuantities("allocatable", &node->allocatable);
  ReadConditions(status, &node->conditions);
}

void ReadFields(const FieldReader& root, Pod* pod) {
  const FieldReader spec = root.Object("spec");
  spec.Read("nodeName", &pod->node_name);
  spec.ReadEach("schedulingGates", &pod->gates,
                [&](const FieldReader& item, std::string& gate) {
                  item.Read("name", &gate);
                });
  spec.Read("nodeSelector", &pod->node_selector);
  ReadAffinity(spec, pod);
  ReadTolerations(spec, &pod->tolerations);
  ReadContainers(spec, "containers", &pod->containers);
  ReadContainers(spec, "initContainers", &pod->init_containers);
  spec.ReadQuantities("overhead", &pod->overhead);
  const FieldReader resources = spec.Object("resources");
  resources.ReadQuantities("requests", &pod->pod_requests);
  spec.ForEach("volumes", [&](const FieldReader& item) {
    const FieldReader source = item.Object("persistentVolumeClaim");
    std::string claim;
    source.Read("claimName", &claim);
    if (!claim.empty()) pod->volume_claims.push_back(std::move(claim));
  });
  const FieldReader status = root.Object("status");
  status.Read("phase", &pod->phase);
  status.Read("reason", &pod->reason);
  status.Read("nominatedNodeName", &pod->nominated_node);
  ReadConditions(status, &pod->conditions);
}

void ReadFields(const FieldReader& root, Namespace* name_space) {
  const FieldReader status = root.Object("status");
  std::string phase;
  status.Read("phase", &phase);
  name_space->terminating =
      phase == "Terminating" || name_space->meta.deleting.has_value();
}

void ReadFields(const FieldReader& root, ResourceQuota* quota) {
  const FieldReader spec = root.Object("spec");
  spec.ReadQuantities("hard", &quota->hard);
}

void ReadFields(const FieldReader& root, PersistentVolumeClaim* claim) {
  const FieldReader spec = root.Object("spec");
  spec.Read("volumeName", &claim->volume_name);
  claim->bind_completed = claim->meta.annotations.contains(kBindCompleted);
}

void ReadFields(const FieldReader& root, PersistentVolume* volume) {
  const FieldReader spec = root.Object("spec");
  const FieldReader affinity = spec.Object("nodeAffinity");
  ReadNodeSelector(affinity.Object("required"), &volume->required);
  const FieldReader claim = spec.Object("claimRef");
  claim.Read("namespace", &volume->claim_namespace);
  claim.Read("name", &volume->claim_name);
  claim.Read("uid", &volume->claim_uid);
}

void ReadFields(const FieldReader& root, SchedulingClass* scheduling_class) {
  const FieldReader spec = root.Object("spec");
  spec.Read("nodeSelector", &scheduling_class->node_selector);
  const FieldReader affinity = spec.Object("nodeAffinity");
  ReadNodeSelector(affinity.Object(kRequired), &scheduling_class->required);
}

void ReadFields(const FieldReader& root, Workload* record) {
  const FieldReader status = root.Object("status");
  status.Read("kind", &record->kind);
  status.Read("type", &record->type);
  status.ReadQuantities("resources", &record->resources);
  status.Read("operational", &record->operational);
}

void ReadFields(const FieldReader& root, ConfigMap* map) {
  root.Read("data", &map->data);
}

}  // namespace gpubinder
