#include "reconciler/model/fold_objects.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/fold_capacity.h"
#include "reconciler/model/names.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {
namespace {

constexpr int64_t kMostUnits = 64;

// The part of a scheduler's message that speaks of the nodes: what follows
// the first ". " is about preemption and differs by version.
absl::string_view FirstSentence(absl::string_view message) {
  const size_t end = message.find(". ");
  return end == absl::string_view::npos ? message : message.substr(0, end);
}

// The VMI that made the pod, by the pod's own word.
const OwnerReference* OwningVmi(const Pod& pod) {
  for (const OwnerReference& owner : pod.meta.owners) {
    if (owner.kind == "VirtualMachineInstance" && owner.controller) {
      return &owner;
    }
  }
  return nullptr;
}

Phase PhaseOf(const GpuClaim& claim) {
  if (claim.phase == "Bound" && !claim.node_name.empty()) return Phase::kBound;
  return claim.phase == "Lost" ? Phase::kLost : Phase::kPending;
}

bool InFlightFor(const Snapshot& snapshot, const KubeletRefusal& refusal) {
  return std::any_of(snapshot.in_flight.begin(), snapshot.in_flight.end(),
                     [&](const auto& entry) {
                       return entry.second.set_key() ==
                              KeyOfVmSet(refusal.name_space, refusal.vmi_name);
                     });
}

void NoteEpoch(const std::optional<DecisionKey>& decision, Snapshot& snapshot) {
  if (!decision.has_value()) return;
  snapshot.highest_epoch = std::max(snapshot.highest_epoch, decision->epoch);
}

// Whether its VMI is there and nobody has asked for its end: then what brings
// the VM back may still have to be called.
bool StillFails(const Snapshot& snapshot, const KubeletRefusal& refusal) {
  const KindState& vmis =
      snapshot.kinds[static_cast<size_t>(Kind::kVirtualMachineInstance)];
  if (vmis.served && !vmis.listed) return true;
  const std::optional<Row> row = snapshot.vmis().FindUid(refusal.vmi_uid);
  return row.has_value() && !snapshot.vmis()[*row].meta.deleting.has_value();
}

bool IsRecorded(const Snapshot& snapshot, const KubeletRefusal& refusal) {
  const GpuClaimSet* set =
      snapshot.claim_sets().Find(refusal.name_space, refusal.vmi_name);
  return set != nullptr &&
         std::any_of(set->rejected_nodes.begin(), set->rejected_nodes.end(),
                     [&](const RejectedNode& entry) {
                       return entry.pod_uid == refusal.pod_uid;
                     });
}

// A node that was gone before this replica could see it go: its grace counts
// from the first record that shows it is not there.
void NoteAbsent(const std::string& node, absl::Time at, Snapshot& snapshot) {
  if (snapshot.kinds[static_cast<size_t>(Kind::kNode)].listed &&
      snapshot.nodes().Find("", node) == nullptr) {
    snapshot.gone_since.emplace(node, at);
  }
}

}  // namespace

void NoteAbsentNodes(absl::Time at, Snapshot& snapshot) {
  for (const auto& [key, row] : snapshot.claims().by_name()) {
    const GpuClaim& claim = snapshot.claims()[row];
    if (PhaseOf(claim) == Phase::kBound) {
      NoteAbsent(claim.node_name, at, snapshot);
    }
  }
}

bool ShowsSchedulerRefusal(const Pod& pod) {
  if (!pod.node_name.empty() || !pod.nominated_node.empty()) return false;
  for (const Condition& condition : pod.conditions) {
    if (condition.type != "PodScheduled") continue;
    const absl::string_view said = FirstSentence(condition.message);
    return condition.status == "False" && condition.reason == "Unschedulable" &&
           (condition.observed_generation == 0 ||
            condition.observed_generation == pod.meta.generation) &&
           (absl::StrContains(said, "Insufficient ") ||
            absl::StrContains(said, "Too many pods"));
  }
  return false;
}

bool ShowsKubeletRefusal(const Pod& pod) {
  return pod.phase == "Failed" && (pod.reason == "UnexpectedAdmissionError" ||
                                   absl::StartsWith(pod.reason, "OutOf"));
}

void NotePodRefusal(const Pod& pod, absl::Time at, Snapshot& snapshot) {
  if (!ShowsKubeletRefusal(pod) || pod.node_name.empty()) return;
  const OwnerReference* owner = OwningVmi(pod);
  if (owner == nullptr) return;
  KubeletRefusal refusal{.name_space = pod.meta.name_space,
                         .pod_name = pod.meta.name,
                         .pod_uid = pod.meta.uid,
                         .vmi_name = owner->name,
                         .vmi_uid = owner->uid,
                         .node_name = pod.node_name,
                         .reason = pod.reason,
                         .at = at};
  for (const auto& [resource, units] : ExtendedRequests(pod).units) {
    refusal.resources.push_back(resource);
  }
  auto listed = snapshot.listed_by.find(pod.meta.uid);
  refusal.listed =
      listed != snapshot.listed_by.end() && listed->second == owner->uid;
  // Kept from the first record that shows it.
  snapshot.kubelet_refusals.emplace(pod.meta.uid, std::move(refusal));
}

void ForgetSettledRefusals(Snapshot& snapshot) {
  auto& refusals = snapshot.kubelet_refusals;
  for (auto it = refusals.begin(); it != refusals.end();) {
    it->second.recorded =
        it->second.recorded || IsRecorded(snapshot, it->second);
    // A pod that no VMI has ever listed is nobody's launcher.
    const bool forged =
        !it->second.listed &&
        !snapshot.vmis().FindUid(it->second.vmi_uid).has_value();
    const bool settled =
        forged || (it->second.recorded && !StillFails(snapshot, it->second) &&
                   !InFlightFor(snapshot, it->second));
    it = settled ? refusals.erase(it) : std::next(it);
  }
}

namespace {

// The first record that says so stays, until the node tells another time.
void NoteSilence(const std::string& node, absl::Time told, absl::Time at,
                 absl::btree_map<std::string, Silence>& silences) {
  auto [place, is_new] = silences.try_emplace(node);
  if (is_new || place->second.told != told) {
    place->second = {.told = told, .seen = at};
  }
}

void NoteReadiness(const Node& node, absl::Time at, Snapshot& snapshot) {
  absl::Time told = absl::UnixEpoch();
  for (const Condition& condition : node.conditions) {
    if (condition.type == "Ready") told = condition.last_transition;
  }
  if (IsReady(node)) {
    snapshot.not_ready.erase(node.meta.name);
  } else {
    NoteSilence(node.meta.name, told, at, snapshot.not_ready);
  }
  auto label = node.meta.labels.find(kKubeVirtSchedulable);
  auto heartbeat = node.meta.annotations.find(kKubeVirtHeartbeat);
  const bool silent =
      label == node.meta.labels.end() || label->second != "true";
  std::string error;
  // Without a heartbeat nobody knows since when: never.
  if (silent && heartbeat != node.meta.annotations.end() &&
      absl::ParseTime(absl::RFC3339_full, heartbeat->second, &told, &error)) {
    NoteSilence(node.meta.name, told, at, snapshot.kubevirt_silent);
  } else {
    snapshot.kubevirt_silent.erase(node.meta.name);
  }
}

}  // namespace

template <>
void AfterStore<Node>(Row row, absl::Time at, Snapshot& snapshot) {
  NodeColumns& columns = snapshot.node_columns;
  const Node& node = snapshot.nodes()[row];
  if (columns.name.size() <= row) {
    columns.name.resize(row + 1);
    columns.resources.resize(row + 1);
  }
  const NameId id = snapshot.names.Intern(node.meta.name);
  const bool was_gone = snapshot.gone_since.erase(node.meta.name) > 0;
  const bool is_new = was_gone || columns.name[row] != id;
  columns.name[row] = id;
  std::vector<NodeResource>& resources = columns.resources[row];
  const std::vector<NodeResource> before = std::move(resources);
  resources.clear();
  for (const auto& [name, text] : node.allocatable) {
    if (!IsExtendedResource(name)) continue;
    const Units units = AllocatableUnits(text);
    resources.push_back({.resource = snapshot.names.Intern(name),
                         .allocatable = units.value,
                         .malformed = units.malformed});
  }
  std::sort(resources.begin(), resources.end(),
            [](const NodeResource& a, const NodeResource& b) {
              return a.resource < b.resource;
            });
  CompareNode(row, is_new ? nullptr : &before, at, snapshot);
  NoteReadiness(node, at, snapshot);
}

template <>
void BeforeErase<Node>(Row row, absl::Time at, Snapshot& snapshot) {
  const std::string& name = snapshot.nodes()[row].meta.name;
  snapshot.gone_since[name] = at;
  snapshot.not_ready.erase(name);
  snapshot.kubevirt_silent.erase(name);
  ForgetNode(name, snapshot);
  snapshot.node_columns.resources[row].clear();
}

template <>
void AfterStore<GpuClaim>(Row row, absl::Time at, Snapshot& snapshot) {
  ClaimColumns& columns = snapshot.claim_columns;
  const GpuClaim& claim = snapshot.claims()[row];
  if (columns.phase.size() <= row) {
    columns.phase.resize(row + 1);
    columns.node.resize(row + 1);
    columns.resource.resize(row + 1);
    columns.class_name.resize(row + 1);
    columns.units.resize(row + 1);
  }
  NoteEpoch(claim.decision, snapshot);
  const Phase phase = PhaseOf(claim);
  if (phase == Phase::kBound) NoteAbsent(claim.node_name, at, snapshot);
  NameTable& names = snapshot.names;
  columns.phase[row] = phase;
  columns.node[row] =
      phase == Phase::kBound ? names.Intern(claim.node_name) : kNoName;
  columns.resource[row] = names.Intern(claim.resource_name);
  columns.class_name[row] = names.Intern(claim.class_name);
  // A Bound claim that cannot be read holds the most a claim may hold until
  // it can.
  columns.units[row] = claim.meta.problems.empty() ? claim.units : kMostUnits;
  RecountClaim(row, at, snapshot);
  RecountClassUse(row, columns.class_name[row], snapshot);
  if (claim.attached_to.has_value() && claim.attached_to->uid.empty()) {
    snapshot.attached_since.emplace(claim.meta.uid, at);
  } else {
    snapshot.attached_since.erase(claim.meta.uid);
  }
}

namespace {

// Another claim of that name has a usage record of its own.
void ForgetUsageRecord(const ObjectMeta& claim, Snapshot& snapshot) {
  const std::string name = UsageRecordName(claim.name);
  snapshot.usage_writes.erase(NameKey(claim.name_space, name));
  snapshot.write_rates.erase(
      WrittenObject(KindName(Kind::kWorkload), claim.name_space, name));
}

}  // namespace

template <>
void BeforeErase<GpuClaim>(Row row, absl::Time at, Snapshot& snapshot) {
  ClaimColumns& columns = snapshot.claim_columns;
  columns.phase[row] = Phase::kPending;
  columns.node[row] = kNoName;
  columns.units[row] = 0;
  RecountClaim(row, at, snapshot);
  RecountClassUse(row, kNoName, snapshot);
  const ObjectMeta& meta = snapshot.claims()[row].meta;
  snapshot.attached_since.erase(meta.uid);
  ForgetWrites(meta.uid, snapshot);
  ForgetUsageRecord(meta, snapshot);
}

// The names a pass asks the books for.
template <>
void AfterStore<GpuClass>(Row row, absl::Time at, Snapshot& snapshot) {
  const GpuClass& found = snapshot.classes()[row];
  snapshot.names.Intern(found.resource_name);
  RecountClass(snapshot.names.Intern(found.meta.name), found.resource_name, at,
               snapshot);
}

template <>
void BeforeErase<GpuClass>(Row row, absl::Time at, Snapshot& snapshot) {
  ForgetWrites(snapshot.classes()[row].meta.uid, snapshot);
  RecountClass(snapshot.names.Intern(snapshot.classes()[row].meta.name), "", at,
               snapshot);
}

template <>
void AfterStore<GpuClaimSet>(Row row, absl::Time at, Snapshot& snapshot) {
  const GpuClaimSet& set = snapshot.claim_sets()[row];
  NoteEpoch(set.decision, snapshot);
  if (set.ended_vmi.empty()) return;
  Ending& ending = snapshot.endings[set.meta.uid];
  if (ending.vmi_uid == set.ended_vmi) return;
  const bool listed =
      snapshot.kinds[static_cast<size_t>(Kind::kGpuClaimSet)].listed;
  ending = {.vmi_uid = set.ended_vmi, .at = listed ? at : absl::InfinitePast()};
}

template <>
void BeforeErase<GpuClaimSet>(Row row, absl::Time, Snapshot& snapshot) {
  snapshot.endings.erase(snapshot.claim_sets()[row].meta.uid);
  ForgetWrites(snapshot.claim_sets()[row].meta.uid, snapshot);
}

template <>
void AfterStore<VirtualMachineInstance>(Row row, absl::Time,
                                        Snapshot& snapshot) {
  const VirtualMachineInstance& vmi = snapshot.vmis()[row];
  for (const auto& [pod_uid, node] : vmi.active_pods) {
    snapshot.listed_by[pod_uid] = vmi.meta.uid;
    auto refusal = snapshot.kubelet_refusals.find(pod_uid);
    if (refusal != snapshot.kubelet_refusals.end() &&
        refusal->second.vmi_uid == vmi.meta.uid) {
      refusal->second.listed = true;
    }
  }
}

template <>
void BeforeErase<VirtualMachineInstance>(Row row, absl::Time,
                                         Snapshot& snapshot) {
  for (const auto& [pod_uid, node] : snapshot.vmis()[row].active_pods) {
    if (!snapshot.pods().FindUid(pod_uid).has_value()) {
      snapshot.listed_by.erase(pod_uid);
    }
  }
}

template <>
void AfterStore<Pod>(Row row, absl::Time at, Snapshot& snapshot) {
  const Pod& pod = snapshot.pods()[row];
  if (ShowsSchedulerRefusal(pod)) {
    snapshot.refused_since.emplace(pod.meta.uid, at);
  } else {
    snapshot.refused_since.erase(pod.meta.uid);
  }
  NotePodRefusal(pod, at, snapshot);
}

template <>
void BeforeErase<Pod>(Row row, absl::Time at, Snapshot& snapshot) {
  const Pod& pod = snapshot.pods()[row];
  snapshot.refused_since.erase(pod.meta.uid);
  snapshot.refused_pins.erase(pod.meta.uid);
  NotePodRefusal(pod, at, snapshot);
  snapshot.listed_by.erase(pod.meta.uid);
  ForgetWrites(pod.meta.uid, snapshot);
}

template <>
void BeforeErase<Workload>(Row row, absl::Time, Snapshot& snapshot) {
  snapshot.write_rates.erase(snapshot.usage_records()[row].meta.uid);
}

template <>
void BeforeErase<ConfigMap>(Row row, absl::Time, Snapshot& snapshot) {
  ForgetWrites(snapshot.Of<ConfigMap>()[row].meta.uid, snapshot);
}

}  // namespace gpubinder
