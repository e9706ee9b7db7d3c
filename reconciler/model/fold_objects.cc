#include "reconciler/model/fold_objects.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reconciler/model/filter.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/fold_capacity.h"
#include "reconciler/model/fold_refusals.h"
#include "reconciler/model/names.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {
namespace {

constexpr int64_t kMostUnits = 64;

Phase PhaseOf(const GpuClaim& claim) {
  if (claim.phase == "Bound" && !claim.node_name.empty()) return Phase::kBound;
  return claim.phase == "Lost" ? Phase::kLost : Phase::kPending;
}

void NoteEpoch(const std::optional<DecisionKey>& decision, Snapshot& snapshot) {
  if (!decision.has_value()) return;
  snapshot.highest_epoch = std::max(snapshot.highest_epoch, decision->epoch);
}

// A node that was gone before this replica could see it go: its grace counts
// from the first record that shows it is not there.
void NoteAbsent(const std::string& node, absl::Time at, Snapshot& snapshot) {
  if (snapshot.IsListed(Kind::kNode) &&
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
void AfterStore<GpuClaimSet>(Row row, absl::Time, Snapshot& snapshot) {
  NoteEpoch(snapshot.claim_sets()[row].decision, snapshot);
}

template <>
void BeforeErase<GpuClaimSet>(Row row, absl::Time, Snapshot& snapshot) {
  ForgetWrites(snapshot.claim_sets()[row].meta.uid, snapshot);
}

template <>
void AfterStore<VirtualMachineInstance>(Row row, absl::Time,
                                        Snapshot& snapshot) {
  NoteListed(snapshot.vmis()[row], snapshot);
}

template <>
void BeforeErase<VirtualMachineInstance>(Row row, absl::Time,
                                         Snapshot& snapshot) {
  ForgetVmi(snapshot.vmis()[row], snapshot);
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
  ForgetPod(pod, snapshot);
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
