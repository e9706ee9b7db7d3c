#include "reconciler/model/filter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/rejection.h"
#include "reconciler/model/saturating.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/taint.h"
#include "reconciler/model/volume.h"

namespace gpubinder {
namespace {

void Say(v1::Reason reason, std::vector<v1::ReasonDetail>& reasons) {
  reasons.emplace_back().set_reason(reason);
}

// The node's own state (N1).
void JudgeState(const Node& node, const Snapshot& snapshot,
                std::vector<v1::ReasonDetail>& reasons) {
  if (!node.meta.problems.empty()) {
    reasons.push_back(MalformedDetail(Kind::kNode, node.meta));
  }
  if (!IsReady(node)) Say(v1::NODE_NOT_READY, reasons);
  if (!IsKubeVirtReady(node, snapshot)) Say(v1::KUBEVIRT_NOT_READY, reasons);
  if (IsCordoned(node)) Say(v1::NODE_CORDONED, reasons);
  if (node.meta.deleting.has_value()) Say(v1::NODE_BEING_DELETED, reasons);
}

// What the set's units there come to without the set's own: by these the room
// for it is judged.
NodeUse UseByOthers(NameId node, NameId resource, const Demand& demand,
                    const Books& books) {
  NodeUse use = books.Use(node, resource);
  auto own = demand.own.find({node, resource});
  if (own != demand.own.end()) {
    use.booked = SaturatingSub(use.booked, own->second);
  }
  if (demand.vmi.has_value()) {
    use.raw =
        SaturatingSub(use.raw, books.RawOfVmi(*demand.vmi, node, resource));
  }
  return use;
}

// Below 0 where the node is overbooked: there nothing more fits.
int64_t Left(const NodeUse& use) {
  return SaturatingSub(SaturatingSub(use.allocatable, use.booked), use.raw);
}

void JudgeUnits(NameId node, const Demand& demand, const Snapshot& snapshot,
                const Books& books, std::vector<v1::ReasonDetail>& reasons) {
  for (const Demand::Need& need : demand.needs) {
    const NodeUse use = UseByOthers(node, need.resource, demand, books);
    const int64_t wanted = WantedUnits(node, need, demand);
    if (HasUnits(use, wanted)) continue;
    v1::ReasonDetail detail;
    detail.set_resource(snapshot.names.Text(need.resource));
    detail.set_wanted(wanted);
    if (use.malformed) {
      detail.set_reason(v1::MALFORMED_QUANTITY);
    } else if (!use.served) {
      detail.set_reason(v1::RESOURCE_NOT_SERVED);
    } else {
      detail.set_reason(v1::INSUFFICIENT_UNITS);
      detail.set_free(use.free());
      detail.set_allocatable(use.allocatable);
      detail.set_booked(use.booked);
      detail.set_raw(use.raw);
    }
    reasons.push_back(std::move(detail));
  }
}

// What the pod itself asks (N3).
void JudgePod(const Node& node, const Demand& demand,
              std::vector<v1::ReasonDetail>& reasons) {
  const Pod& pod = *demand.pod;
  if (!MatchesLabels(pod.node_selector, node.meta.labels)) {
    Say(v1::POD_SELECTOR_MISMATCH, reasons);
  }
  if (pod.required.has_value() &&
      !MatchesNodeSelector(*pod.required, node.meta.labels, node.meta.name)) {
    Say(v1::POD_AFFINITY_MISMATCH, reasons);
  }
  const SchedulingClass* found = demand.scheduling_class;
  const bool misfit = found != nullptr &&
                      (!MatchesLabels(found->node_selector, node.meta.labels) ||
                       (found->required.has_value() &&
                        !MatchesNodeSelector(*found->required, node.meta.labels,
                                             node.meta.name)));
  if (misfit || !demand.missing_scheduling_class.empty()) {
    Say(v1::SCHEDULING_CLASS_MISMATCH, reasons);
    reasons.back().set_text(misfit ? found->meta.name
                                   : demand.missing_scheduling_class);
  }
}

void JudgeRejections(const Node& node, const Demand& demand,
                     std::vector<v1::ReasonDetail>& reasons) {
  for (const RejectedNode& entry : demand.rejections) {
    if (!StillRejects(entry, node)) continue;
    Say(v1::REJECTED_BY_NODE, reasons);
    reasons.back().set_until_unix_seconds(absl::ToUnixSeconds(entry.until));
    return;
  }
}

}  // namespace

bool HasUnits(const NodeUse& use, int64_t wanted) {
  return use.served && Left(use) >= wanted;  // malformed serves none
}

bool IsReady(const Node& node) {
  for (const Condition& condition : node.conditions) {
    if (condition.type == "Ready") return condition.status == "True";
  }
  return false;
}

bool IsCordoned(const Node& node) {
  return node.unschedulable ||
         std::any_of(node.taints.begin(), node.taints.end(),
                     [](const Taint& taint) {
                       return taint.key == kTaintUnschedulable;
                     });
}

bool IsKubeVirtReady(const Node& node, const Snapshot& snapshot) {
  if (!snapshot.Serves(Kind::kVirtualMachineInstance)) return true;
  auto label = node.meta.labels.find(kKubeVirtSchedulable);
  return label != node.meta.labels.end() && label->second == "true";
}

bool MatchesPod(const Node& node, const Demand& demand) {
  Node ready = node;
  ready.meta.labels[kKubeVirtSchedulable] = "true";
  std::vector<v1::ReasonDetail> reasons;
  JudgePod(ready, demand, reasons);
  return reasons.empty();
}

void JudgeClass(const Node& node, const GpuClass& found,
                std::vector<v1::ReasonDetail>& reasons) {
  for (const Taint* taint : AllUntolerated(node.taints, found.tolerations,
                                           TaintScope::kScheduling)) {
    Say(v1::UNTOLERATED_TAINT, reasons);
    reasons.back().set_taint(TaintText(*taint));
    reasons.back().set_class_name(found.meta.name);
  }
  if (!MatchesLabels(found.node_selector, node.meta.labels)) {
    Say(v1::CLASS_SELECTOR_MISMATCH, reasons);
    reasons.back().set_class_name(found.meta.name);
  }
}

bool ServesClass(Row row, const GpuClass& found, const Snapshot& snapshot,
                 const Books& books) {
  const NameId resource = *snapshot.names.Find(found.resource_name);
  // Most nodes have no such resource: asked first.
  if (!books.Use(snapshot.node_columns.name[row], resource).served) {
    return false;
  }
  const Node& node = snapshot.nodes()[row];
  std::vector<v1::ReasonDetail> reasons;
  JudgeState(node, snapshot, reasons);
  JudgeClass(node, found, reasons);
  return reasons.empty();
}

int64_t WantedUnits(NameId node, const Demand::Need& need,
                    const Demand& demand) {
  auto leaving = demand.leaving.find({node, need.resource});
  const int64_t covered = leaving == demand.leaving.end() ? 0 : leaving->second;
  return std::max(need.units, SaturatingSub(need.pod_units, covered));
}

std::vector<v1::ReasonDetail> JudgeNode(Row row, const Demand& demand,
                                        const Snapshot& snapshot,
                                        const Books& books) {
  const Node& node = snapshot.nodes()[row];
  std::vector<v1::ReasonDetail> reasons;
  JudgeState(node, snapshot, reasons);
  for (const GpuClass* found : demand.classes) {
    JudgeClass(node, *found, reasons);
  }
  JudgeUnits(snapshot.node_columns.name[row], demand, snapshot, books, reasons);
  if (demand.pod != nullptr) JudgePod(node, demand, reasons);
  JudgeVolumes(node, demand, snapshot, reasons);
  JudgeRejections(node, demand, reasons);
  // The order of the closed list; a reason keeps the order of its things.
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const v1::ReasonDetail& a, const v1::ReasonDetail& b) {
                     return a.reason() < b.reason();
                   });
  return reasons;
}

bool HasRoom(NameId node, const Demand& demand, const Books& books) {
  return std::all_of(
      demand.needs.begin(), demand.needs.end(), [&](const auto& need) {
        const NodeUse use = UseByOthers(node, need.resource, demand, books);
        return use.served && Left(use) >= WantedUnits(node, need, demand);
      });
}

int64_t FreeAfter(Row row, const Demand& demand, const Snapshot& snapshot,
                  const Books& books) {
  int64_t sum = 0;
  for (const Demand::Need& need : demand.needs) {
    if (need.units == 0) continue;  // its pod's alone: no resource of the set
    const NodeUse use = UseByOthers(snapshot.node_columns.name[row],
                                    need.resource, demand, books);
    const int64_t wanted =
        WantedUnits(snapshot.node_columns.name[row], need, demand);
    sum = SaturatingAdd(
        sum, std::max<int64_t>(0, SaturatingSub(use.free(), wanted)));
  }
  return sum;
}

}  // namespace gpubinder
