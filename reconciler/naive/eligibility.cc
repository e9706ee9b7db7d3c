#include <algorithm>

#include "reconciler/naive/rules.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

// N1 of the node alone, and of one class; without units.
void NodeObstacles(const World& world, const Node& node,
                   std::vector<Why>& why) {
  if (!node.meta.problems.empty()) {
    why.push_back({v1::MALFORMED_OBJECT, "Node " + node.meta.name + " " +
                                             node.meta.problems[0].field});
  }
  if (node.meta.deleting) why.push_back({v1::NODE_BEING_DELETED, ""});
  if (ReadyStatus(node) != "True") why.push_back({v1::NODE_NOT_READY, ""});
  if (world.snapshot->Serves(Kind::kVirtualMachineInstance) &&
      !HasLabels(node.meta.labels, {{"kubevirt.io/schedulable", "true"}})) {
    why.push_back({v1::KUBEVIRT_NOT_READY, ""});
  }
  if (IsCordoned(node)) why.push_back({v1::NODE_CORDONED, ""});
}

void ClassObstacles(const GpuClass& of, const Node& node,
                    std::vector<Why>& why) {
  for (const Taint& taint : node.taints) {
    const bool hard =
        taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (!hard || IsConditionTaint(taint)) continue;
    if (Tolerated(taint, of.tolerations)) continue;
    why.push_back(
        {v1::UNTOLERATED_TAINT, TaintText(taint) + " class " + of.meta.name});
  }
  if (!HasLabels(node.meta.labels, of.node_selector)) {
    why.push_back({v1::CLASS_SELECTOR_MISMATCH, of.meta.name});
  }
}

// N3.
void PodObstacles(const World& world, const Pod& pod, const Node& node,
                  std::vector<Why>& why) {
  if (!HasLabels(node.meta.labels, pod.node_selector)) {
    why.push_back({v1::POD_SELECTOR_MISMATCH, ""});
  }
  if (pod.required.has_value() &&
      !Selects(*pod.required, node.meta.labels, node.meta.name)) {
    why.push_back({v1::POD_AFFINITY_MISMATCH, ""});
  }
  auto named = pod.meta.annotations.find(kSchedulingClassAnnotation);
  if (named == pod.meta.annotations.end()) return;
  if (!world.snapshot->Serves(Kind::kSchedulingClass)) return;
  const SchedulingClass* found =
      world.snapshot->Of<SchedulingClass>().Find("", named->second);
  if (found == nullptr || !HasLabels(node.meta.labels, found->node_selector) ||
      (found->required.has_value() &&
       !Selects(*found->required, node.meta.labels, node.meta.name))) {
    why.push_back({v1::SCHEDULING_CLASS_MISMATCH, ""});
  }
}

// N4: the names of the PVCs that count.
std::set<std::string> VolumeClaims(const SetState& set, const Pod* pod) {
  std::set<std::string> names;
  auto add = [&](const std::vector<std::string>& more) {
    names.insert(more.begin(), more.end());
  };
  if (pod != nullptr) {
    add(pod->volume_claims);
    if (set.vmi != nullptr) add(set.vmi->hotplug_claims);
  } else if (set.vmi != nullptr) {
    add(set.vmi->volume_claims);
    add(set.vmi->hotplug_claims);
  } else if (set.vm != nullptr) {
    add(set.vm->volume_claims);
  }
  return names;
}

void VolumeObstacles(const World& world, const Ask& ask, const Node& node,
                     std::vector<Why>& why) {
  const SetState& set = world.sets[ask.set];
  for (const std::string& name : VolumeClaims(set, ask.pod_rules)) {
    const PersistentVolumeClaim* claim =
        world.snapshot->Of<PersistentVolumeClaim>().Find(set.name_space, name);
    if (claim == nullptr) {
      why.push_back({v1::VOLUME_NOT_REACHABLE, name + " "});
      continue;
    }
    if (claim->volume_name.empty() || !claim->bind_completed) continue;
    const PersistentVolume* volume =
        world.snapshot->Of<PersistentVolume>().Find("", claim->volume_name);
    if (volume == nullptr ||
        (volume->required.has_value() &&
         !Selects(*volume->required, node.meta.labels, ""))) {
      why.push_back(
          {v1::VOLUME_NOT_REACHABLE, name + " " + claim->volume_name});
    }
  }
}

// N5.
void Rejections(const World& world, const Ask& ask, const Node& node,
                std::vector<Why>& why) {
  const SetState& set = world.sets[ask.set];
  std::vector<RejectedNode> entries;
  auto add = [&](const std::vector<RejectedNode>& more) {
    entries.insert(entries.end(), more.begin(), more.end());
  };
  const GpuClaimSet* memory = MemoryOf(world, set);
  if (memory != nullptr) add(memory->rejected_nodes);
  for (const int member : set.members) {
    add(world.claims[member].claim->rejected_nodes);
  }
  auto fresh = world.new_rejections.find(set.key);
  if (fresh != world.new_rejections.end()) add(fresh->second);
  absl::Time until = absl::InfinitePast();
  for (const RejectedNode& entry : entries) {
    if (entry.node_name != node.meta.name || !IsLive(world, entry, &node)) {
      continue;
    }
    until = std::max(until, entry.until);
  }
  if (until == absl::InfinitePast()) return;
  why.push_back(
      {v1::REJECTED_BY_NODE, std::to_string(absl::ToUnixSeconds(until))});
}

void Count(const World& world, const Ask& ask, const std::string& node,
           std::map<std::string, int64_t>& sum) {
  for (const int index : ask.claims) {
    const ClaimState& claim = world.claims[index];
    const GpuClass* of = FindClass(world, claim.claim->class_name);
    const bool there = claim.phase == "Bound" && claim.node == node;
    const std::string resource =
        there || of == nullptr ? claim.resource : of->resource_name;
    if (resource.empty()) continue;  // its class has gone
    sum[resource] = Plus(sum[resource], claim.units);
  }
  if (!ask.templates) return;
  for (const Wanted& wanted : world.sets[ask.set].missing) {
    const GpuClass* of = FindClass(world, wanted.class_name);
    if (of == nullptr) continue;
    sum[of->resource_name] = Plus(sum[of->resource_name], wanted.units);
  }
}

}  // namespace

std::string FingerprintOf(const Node& node, const RejectedNode& entry) {
  std::vector<std::string> resources, taints;
  for (const std::string& resource : entry.resources) {
    resources.push_back(
        resource + "=" +
        std::to_string(AllocatableOf(node, resource).allocatable) + "\n");
  }
  for (const Taint& taint : node.taints) {
    if (!IsConditionTaint(taint)) taints.push_back(TaintText(taint) + "\n");
  }
  std::sort(resources.begin(), resources.end());
  std::sort(taints.begin(), taints.end());
  std::string text;
  for (const std::string& line : resources) text += line;
  for (const std::string& line : taints) text += line;
  return ShortDigest(text + "Ready=" + ReadyStatus(node) + "\n");
}

bool IsLive(const World& world, const RejectedNode& entry, const Node* node) {
  if (node == nullptr || entry.until <= world.now) return false;
  // One of a node that had gone names no object.
  if (!entry.node_uid.empty() && entry.node_uid != node->meta.uid) return false;
  return entry.fingerprint.empty() ||
         entry.fingerprint == FingerprintOf(*node, entry);
}

bool ServesClass(const World& world, const GpuClass& of, const Node& node) {
  std::vector<Why> why;
  NodeObstacles(world, node, why);
  ClassObstacles(of, node, why);
  return why.empty() && AllocatableOf(node, of.resource_name).allocatable > 0;
}

std::set<std::string> ClassesOf(const World& world, const Ask& ask) {
  std::set<std::string> names;
  for (const int claim : ask.claims) {
    names.insert(world.claims[claim].claim->class_name);
  }
  if (!ask.templates) return names;
  for (const Wanted& wanted : world.sets[ask.set].missing) {
    names.insert(wanted.class_name);
  }
  return names;
}

std::map<std::string, int64_t> DemandOn(const World& world, const Ask& ask,
                                        const std::string& node) {
  std::map<std::string, int64_t> demand;
  Count(world, ask, node, demand);
  if (ask.pod == nullptr) return demand;
  std::set<std::string> names(
      world.snapshot->config.extra_resource_names.begin(),
      world.snapshot->config.extra_resource_names.end());
  for (const GpuClass* of : world.classes) names.insert(of->resource_name);
  for (const std::string& resource : names) {
    int64_t asked = RequestOf(*ask.pod, resource);
    for (const int leaving : world.sets[ask.set].leaving) {
      const ClaimState& claim = world.claims[leaving];
      if (claim.resource == resource && claim.counts_on.contains(node)) {
        asked -= claim.units;
      }
    }
    if (asked > 0) demand[resource] = std::max(demand[resource], asked);
  }
  return demand;
}

std::vector<Why> LackOfUnits(const World& world, const Ask& ask,
                             const Node& node) {
  std::vector<Why> why;
  for (const auto& [resource, wanted] : DemandOn(world, ask, node.meta.name)) {
    const Units units = AllocatableOf(node, resource);
    if (units.malformed) {
      why.push_back({v1::MALFORMED_QUANTITY, resource});
      continue;
    }
    if (units.allocatable == 0) {
      why.push_back({v1::RESOURCE_NOT_SERVED, resource});
      continue;
    }
    const int64_t booked = Booked(world, node.meta.name, resource, ask.set);
    const int64_t raw = Raw(world, node.meta.name, resource, ask.set);
    const __int128 left =
        static_cast<__int128>(units.allocatable) - booked - raw;
    const int64_t free = left < 0 ? 0 : static_cast<int64_t>(left);
    if (free >= wanted) continue;
    why.push_back({v1::INSUFFICIENT_UNITS, resource, wanted, free,
                   units.allocatable, booked, raw});
  }
  return why;
}

std::vector<Why> Obstacles(const World& world, const Ask& ask,
                           const Node& node) {
  std::vector<Why> why;
  NodeObstacles(world, node, why);
  for (const std::string& name : ClassesOf(world, ask)) {
    const GpuClass* of = FindClass(world, name);
    if (of != nullptr) ClassObstacles(*of, node, why);
  }
  for (Why& lack : LackOfUnits(world, ask, node)) why.push_back(lack);
  if (ask.pod_rules != nullptr) PodObstacles(world, *ask.pod_rules, node, why);
  VolumeObstacles(world, ask, node, why);
  if (ask.rejections) Rejections(world, ask, node, why);
  std::sort(why.begin(), why.end());
  return why;
}

}  // namespace gpubinder::naive
