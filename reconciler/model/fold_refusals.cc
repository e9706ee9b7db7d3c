#include "reconciler/model/fold_refusals.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/pod_request.h"

namespace gpubinder {
namespace {

// Anybody may make pods that name a VMI, and have them refused: of those that
// it has not listed only so many are remembered.
constexpr int kMostUnlisted = 64;

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

bool InFlightFor(const Snapshot& snapshot, const KubeletRefusal& refusal) {
  return std::any_of(snapshot.in_flight.begin(), snapshot.in_flight.end(),
                     [&](const auto& entry) {
                       return entry.second.set_key() ==
                              KeyOfVmSet(refusal.name_space, refusal.vmi_name);
                     });
}

// Whether its VMI is there and nobody has asked for its end: then what brings
// the VM back may still have to be called.
bool StillFails(const Snapshot& snapshot, const KubeletRefusal& refusal) {
  if (snapshot.Serves(Kind::kVirtualMachineInstance) &&
      !snapshot.IsListed(Kind::kVirtualMachineInstance)) {
    return true;
  }
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

// Of a migration's target: the VMI runs where it was, and nothing has failed.
bool IsOfTarget(const KubeletRefusal& refusal, const Snapshot& snapshot) {
  const std::optional<Row> vmi = snapshot.vmis().FindUid(refusal.vmi_uid);
  if (!refusal.migrates || !vmi.has_value()) return false;
  const std::string& node = snapshot.vmis()[*vmi].node_name;
  return !node.empty() && node != refusal.node_name;
}

// Those that wait for this VMI to list them.
auto UnlistedOf(const std::string& vmi_uid, Snapshot& snapshot) {
  auto& unlisted = snapshot.unlisted_refusals;
  return std::pair(unlisted.lower_bound({vmi_uid, ""}),
                   unlisted.lower_bound({vmi_uid + '\0', ""}));
}

// No VMI that is still to be seen may be meant once all were listed.
void AwaitListing(KubeletRefusal refusal, Snapshot& snapshot) {
  if (snapshot.IsListed(Kind::kVirtualMachineInstance) &&
      !snapshot.vmis().FindUid(refusal.vmi_uid).has_value()) {
    return;
  }
  const auto [first, last] = UnlistedOf(refusal.vmi_uid, snapshot);
  if (std::distance(first, last) >= kMostUnlisted) return;
  std::pair key(refusal.vmi_uid, refusal.pod_uid);
  snapshot.unlisted_refusals.emplace(std::move(key), std::move(refusal));
}

}  // namespace

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
                         .migrates = pod.meta.labels.contains(kMigrationLabel),
                         .at = at};
  for (const auto& [resource, units] : ExtendedRequests(pod).units) {
    refusal.resources.push_back(resource);
  }
  auto listed = snapshot.listed_by.find(pod.meta.uid);
  // Kept from the first record that shows it.
  if (listed != snapshot.listed_by.end() && listed->second == owner->uid) {
    snapshot.kubelet_refusals.emplace(pod.meta.uid, std::move(refusal));
  } else {
    AwaitListing(std::move(refusal), snapshot);
  }
}

void NoteListed(const VirtualMachineInstance& vmi, Snapshot& snapshot) {
  for (const auto& [pod_uid, node] : vmi.active_pods) {
    snapshot.listed_by[pod_uid] = vmi.meta.uid;
    auto waits = snapshot.unlisted_refusals.find({vmi.meta.uid, pod_uid});
    if (waits == snapshot.unlisted_refusals.end()) continue;
    snapshot.kubelet_refusals.emplace(pod_uid, std::move(waits->second));
    snapshot.unlisted_refusals.erase(waits);
  }
}

void ForgetPod(const Pod& pod, Snapshot& snapshot) {
  snapshot.listed_by.erase(pod.meta.uid);
  const OwnerReference* owner = OwningVmi(pod);
  // Where no VMIs are served nothing would ever take it away.
  if (owner == nullptr || snapshot.Serves(Kind::kVirtualMachineInstance)) {
    return;
  }
  snapshot.unlisted_refusals.erase({owner->uid, pod.meta.uid});
}

void ForgetVmi(const VirtualMachineInstance& vmi, Snapshot& snapshot) {
  for (const auto& [pod_uid, node] : vmi.active_pods) {
    if (!snapshot.pods().FindUid(pod_uid).has_value()) {
      snapshot.listed_by.erase(pod_uid);
    }
  }
  const auto [first, last] = UnlistedOf(vmi.meta.uid, snapshot);
  snapshot.unlisted_refusals.erase(first, last);
}

void ForgetForgedRefusals(Snapshot& snapshot) {
  for (auto it = snapshot.unlisted_refusals.begin();
       it != snapshot.unlisted_refusals.end();) {
    const bool known = snapshot.vmis().FindUid(it->first.first).has_value();
    it = known ? std::next(it) : snapshot.unlisted_refusals.erase(it);
  }
}

void ForgetSettledRefusals(Snapshot& snapshot) {
  auto& refusals = snapshot.kubelet_refusals;
  for (auto it = refusals.begin(); it != refusals.end();) {
    KubeletRefusal& refusal = it->second;
    refusal.recorded = refusal.recorded || IsRecorded(snapshot, refusal);
    const bool settled = IsOfTarget(refusal, snapshot) ||
                         (refusal.recorded && !StillFails(snapshot, refusal) &&
                          !InFlightFor(snapshot, refusal));
    it = settled ? refusals.erase(it) : std::next(it);
  }
}

}  // namespace gpubinder
