#include "reconciler/model/random_cluster.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {

RandomCluster::RandomCluster(uint64_t seed) : random_(seed) {
  nodes_ = 1 + Below(12);
  alike_ = Below(2) == 0;
  for (const Kind kind :
       {Kind::kVirtualMachineInstance, Kind::kSchedulingClass}) {
    snapshot_.kinds[static_cast<size_t>(kind)].served = Below(4) > 0;
  }
  for (int i = 0; i < 3; ++i) AddClass(i);
  for (int i = 0; i < nodes_; ++i) AddNode(i);
  for (int i = 0; i < 3; ++i) AddVolume(i);
  for (int i = 0; i < 2; ++i) AddSchedulingClass(i);
  for (int i = 0; i < 10; ++i) AddVm(i);
}

void RandomCluster::Change() {
  switch (Below(12)) {
    case 0:
      return Remove(Below(nodes_));
    case 1:
      return AddVolume(Below(3));
    case 2:
      return AddSchedulingClass(Below(2));
    case 3:
      return Odd(3) ? AddClass(Below(3)) : AddVm(Below(10));
    default:  // it may be one that was removed
      return AddNode(Below(nodes_));
  }
}

int RandomCluster::Below(int n) {
  return std::uniform_int_distribution<>(0, n - 1)(random_);
}

void RandomCluster::Add(const Object& object) {
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
  Fold(record, object, snapshot_);
}

void RandomCluster::Remove(int i) {
  v1::Record record;
  v1::ObjectEvent& event = *record.mutable_object();
  event.set_type(v1::ObjectEvent::DELETED);
  event.set_kind(std::string(KindName(Kind::kNode)));
  event.set_name(absl::StrCat("n", i));
  const Node* node = snapshot_.nodes().Find("", event.name());
  if (node == nullptr) return;
  event.set_uid(node->meta.uid);
  Fold(record, std::nullopt, snapshot_);
}

StringMap RandomCluster::Selector() {
  StringMap selector;
  if (Odd(3)) selector["zone"] = Value();
  if (Odd(6)) selector["host"] = NodeName();
  return selector;
}

NodeSelector RandomCluster::Terms() {
  NodeSelector selector;
  for (int i = Below(3); i >= 0; --i) {
    SelectorTerm& term = selector.terms.emplace_back();
    for (int j = Below(3); j > 0; --j) term.expressions.push_back(Wish());
    if (Below(3) == 0) {
      term.fields.push_back({.key = Below(4) > 0 ? "metadata.name" : "other",
                             .op = Below(2) > 0 ? "In" : "NotIn",
                             .values = {NodeName()}});
    }
  }
  return selector;
}

Requirement RandomCluster::Wish() {
  switch (Below(7)) {
    case 0:
      return {.key = "zone", .op = "In", .values = {Value(), Value()}};
    case 1:
      return {.key = "zone", .op = "NotIn", .values = {Value()}};
    case 2:
      return {.key = "disk", .op = "Exists"};
    case 3:
      return {.key = "disk", .op = "DoesNotExist"};
    case 4:
      return {.key = "zone", .op = "Gt", .values = {Value()}};
    case 5:
      return {.key = "host", .op = "In", .values = {NodeName()}};
    default:  // does not parse
      return {.key = "zone", .op = "Lt", .values = {"many"}};
  }
}

void RandomCluster::AddClass(int i) {
  GpuClass found{.resource_name = Resource(), .node_selector = Selector()};
  found.meta = {.name = absl::StrCat("c", i), .uid = absl::StrCat("c", i)};
  if (Below(2) == 0) found.tolerations = {{.key = "k", .op = "Exists"}};
  Add(found);
}

void RandomCluster::AddNode(int i) {
  Node node;
  node.meta.name = absl::StrCat("n", i);
  const Node* there = snapshot_.nodes().Find("", node.meta.name);
  node.meta.uid = there != nullptr ? there->meta.uid
                                   : absl::StrCat(node.meta.name, "-", made_++);
  node.meta.labels["host"] = node.meta.name;
  if (!Odd(4)) node.meta.labels["zone"] = Value();
  if (Odd(2)) node.meta.labels["disk"] = "";
  if (!Odd(6)) node.meta.labels[kKubeVirtSchedulable] = "true";
  if (Odd(9)) node.meta.deleting = now();
  if (Odd(9)) node.meta.problems = {{"spec", absl::StrCat("is bad ", Value())}};
  node.unschedulable = Odd(6);
  for (int j = Odd(2) ? 2 : 0; j > 0; --j) {
    node.taints.push_back(
        {.key = Below(2) > 0 ? "k" : "l",
         .value = Value(),
         .effect = Below(3) > 0 ? "NoSchedule" : "PreferNoSchedule"});
  }
  for (const char* resource : {"r/0", "r/1"}) {
    if (Odd(4)) continue;
    node.allocatable[resource] =
        Odd(9) ? "much" : absl::StrCat(alike_ ? 9 : Below(8));
  }
  node.conditions = {{.type = "Ready", .status = Odd(7) ? "False" : "True"}};
  Add(node);
}

void RandomCluster::AddVolume(int i) {
  PersistentVolume volume{.claim_namespace = "t",
                          .claim_name = absl::StrCat("pvc", i)};
  volume.meta = {.name = absl::StrCat("pv", i), .uid = absl::StrCat("pv", i)};
  if (Below(3) > 0) volume.required = Terms();
  PersistentVolumeClaim claim{.volume_name = volume.meta.name,
                              .bind_completed = Below(4) > 0};
  claim.meta = {
      .name_space = "t", .name = volume.claim_name, .uid = volume.claim_name};
  if (Below(5) > 0) Add(volume);
  if (Below(5) > 0) Add(claim);
}

void RandomCluster::AddSchedulingClass(int i) {
  SchedulingClass found{.node_selector = Selector()};
  if (Below(2) > 0) found.required = Terms();
  found.meta = {.name = absl::StrCat("s", i), .uid = absl::StrCat("s", i)};
  Add(found);
}

RejectedNode RandomCluster::Rejection() {
  RejectedNode entry{.node_name = NodeName(), .until = now()};
  entry.until += absl::Minutes(Below(5));
  const Node* node = snapshot_.nodes().Find("", entry.node_name);
  if (node != nullptr && Below(2) > 0) {
    entry.fingerprint = NodeFingerprint(*node, entry.resources);
  } else if (Below(2) > 0) {
    entry.fingerprint = "of another time";
  }
  return entry;
}

void RandomCluster::AddClaim(const std::string& name, const std::string& vmi) {
  GpuClaim claim{.class_name = Odd(2) ? "c1" : "c0",
                 .units = 1 + (Odd(1) ? Below(3) : 0)};
  claim.meta = {.name_space = "t", .name = name, .uid = name};
  if (Below(3) == 0) {
    claim.phase = "Bound";
    claim.node_name = NodeName();
  }
  if (Below(8) == 0) claim.meta.deleting = now();
  if (Below(4) == 0) claim.rejected_nodes = {Rejection(), Rejection()};
  claim.attached_to = Attachment{.name = vmi, .uid = vmi};
  Add(claim);
}

void RandomCluster::AddVm(int i) {
  const std::string name = absl::StrCat("vm", i);
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = name, .uid = name};
  vmi.claims.present = true;
  for (int j = Below(3); j >= 0; --j) {
    const std::string claim = absl::StrCat(name, "-", j);
    AddClaim(claim, name);
    vmi.claims.entries.push_back({.claim_name = claim});
  }
  if (Below(3) == 0) vmi.volume_claims = {"pvc0"};
  for (const char* suffix : {"-gated", "-runs"}) {
    if (Below(3) == 0) continue;
    Pod pod{.containers = {{.name = "c"}}};
    pod.meta = {.name_space = "t",
                .name = absl::StrCat(name, suffix),
                .uid = absl::StrCat(name, suffix)};
    pod.meta.owners = {{.kind = "VirtualMachineInstance",
                        .name = name,
                        .uid = name,
                        .controller = true}};
    pod.containers[0].requests[Resource()] =
        absl::StrCat(1 + (Odd(1) ? Below(3) : 0));
    if (std::string(suffix) == "-gated") {
      pod.gates = {kGate};
    } else {
      pod.node_name = NodeName();
      pod.phase = "Running";
    }
    Rule(pod);
    vmi.active_pods[pod.meta.uid] = pod.node_name;
    Add(pod);
  }
  Add(vmi);
}

void RandomCluster::Rule(Pod& pod) {
  pod.node_selector = Selector();
  if (Below(3) == 0) pod.required = Terms();
  if (Below(3) == 0) {
    pod.meta.annotations[kSchedulingClassAnnotation] =
        absl::StrCat("s", Below(3));
  }
  for (int i = Below(3); i > 0; --i) {
    pod.volume_claims.push_back(absl::StrCat("pvc", Below(4)));
  }
}

}  // namespace gpubinder
