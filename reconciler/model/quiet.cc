#include "reconciler/model/quiet.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "proto/check.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/taint.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

// Held by the set's VMI, or by none when the set has none: no attachment is to
// be written, and none is awaited.
bool IsAttachedRightly(Row row, const ClaimSet& set, const Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  if (TemplateOwner(claim) != nullptr) return true;
  if (!claim.attached_to.has_value()) return !set.vmi.has_value();
  return !claim.attached_to->uid.empty() &&
         HoldingVmi(claim, plan.snapshot()).has_value();
}

// Without a VMI, or with one that runs where the set stands and was not asked
// to end.
bool RunsOrRests(const ClaimSet& set, NameId node, const Plan& plan) {
  if (!set.vmi.has_value()) return true;
  const Snapshot& snapshot = plan.snapshot();
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  return set.launcher.state == LauncherState::kPinned &&
         !snapshot.pods()[*set.launcher.pod].node_name.empty() &&
         set.launcher.node == snapshot.names.Text(node) &&
         !vmi.meta.deleting.has_value() && !WasAskedToEnd(set, plan);
}

bool IsQuiet(size_t index, NameId node, const Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const SetState& state = plan.state(index);
  if (!plan.config().enabled || state.frozen || state.acted || state.restless ||
      state.verdict.has_value()) {
    return false;
  }
  return set.leaving.empty() && set.missing.empty() && set.problems.empty() &&
         set.start_problems.empty() && set.order_problems.empty() &&
         RunsOrRests(set, node, plan) &&
         std::all_of(set.members.begin(), set.members.end(), [&](Row row) {
           return IsAttachedRightly(row, set, plan);
         });
}

// For a launcher that is on the node taints that keep others away do not count,
// nor does the class's selector (N6).
enum class Launched { kNo, kYes };

bool IsKept(NameId class_name, NameId name, Launched launched,
            const Snapshot& snapshot) {
  const Node* node = snapshot.nodes().Find("", snapshot.names.Text(name));
  const GpuClass* found =
      snapshot.classes().Find("", snapshot.names.Text(class_name));
  BINDER_CHECK(found != nullptr);  // else a problem of the set, no longer quiet
  if (node == nullptr || node->meta.deleting.has_value() || !IsReady(*node) ||
      !IsKubeVirtReady(*node, snapshot) || IsCordoned(*node)) {
    return false;
  }
  const bool runs = launched == Launched::kYes;
  return FirstUntolerated(node->taints, found->tolerations,
                          runs ? TaintScope::kRunning
                               : TaintScope::kScheduling) == nullptr &&
         (runs || MatchesLabels(found->node_selector, node->meta.labels));
}

bool Keeps(Row claim, const IndexedSet& entry, Snapshot& snapshot) {
  const NameId class_name = snapshot.claim_columns.class_name[claim];
  Keeper& keeper = snapshot.index.keepers[class_name];
  const Launched launched =
      entry.set.vmi.has_value() ? Launched::kYes : Launched::kNo;
  std::vector<Kept>& answers =
      launched == Launched::kYes ? keeper.running : keeper.resting;
  if (answers.size() <= entry.node) {
    answers.resize(snapshot.names.size(), Kept::kUnknown);
  }
  Kept& answer = answers[entry.node];
  if (answer == Kept::kUnknown) {
    answer = IsKept(class_name, entry.node, launched, snapshot) ? Kept::kYes
                                                                : Kept::kLook;
  }
  return answer == Kept::kYes;
}

bool IsShort(NameId node, const Snapshot& snapshot) {
  if (snapshot.shortages.empty()) return false;
  const std::string& name = snapshot.names.Text(node);
  auto shortage = snapshot.shortages.lower_bound({name, ""});
  return shortage != snapshot.shortages.end() && shortage->first.first == name;
}

}  // namespace

void NoteQuiet(size_t index, Said said, const Plan& plan, Snapshot& snapshot) {
  IndexedSet& entry = snapshot.index.sets[plan.slot(index)];
  const std::optional<NameId> node = StandsWhole(entry.set, plan);
  entry.quiet = said == Said::kNothingNew && node.has_value() &&
                IsQuiet(index, *node, plan);
  if (entry.quiet) entry.node = *node;
}

bool HasSettled(const IndexedSet& entry, Snapshot& snapshot) {
  if (!entry.quiet || IsShort(entry.node, snapshot)) return false;
  // Its members are Bound there: a claim that changes makes another entry.
  return std::all_of(entry.set.members.begin(), entry.set.members.end(),
                     [&](Row row) { return Keeps(row, entry, snapshot); });
}

}  // namespace gpubinder
