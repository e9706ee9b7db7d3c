#include "reconciler/model/quiet.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  if (!plan.config().enabled || state.frozen || state.acted || state.creating ||
      state.restless || state.verdict.has_value()) {
    return false;
  }
  return set.leaving.empty() && set.missing.empty() && set.problems.empty() &&
         set.start_problems.empty() && set.order_problems.empty() &&
         RunsOrRests(set, node, plan) &&
         std::all_of(set.members.begin(), set.members.end(), [&](Row row) {
           return IsAttachedRightly(row, set, plan);
         });
}

uint32_t KeeperOf(const IndexedSet& entry, Snapshot& snapshot) {
  std::vector<NameId> classes;
  for (const Row row : entry.set.members) {
    classes.push_back(snapshot.claim_columns.class_name[row]);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const bool on_node = entry.set.vmi.has_value();
  PassIndex& index = snapshot.index;
  const auto next = static_cast<uint32_t>(index.keepers.size());
  auto [id, is_new] = index.keeper_ids.try_emplace({classes, on_node}, next);
  if (is_new) {
    index.keepers.push_back(
        {.classes = std::move(classes), .on_node = on_node, .answers = {}});
  }
  return id->second;
}

bool Keeps(const Keeper& keeper, NameId name, const Snapshot& snapshot) {
  const Node* node = snapshot.nodes().Find("", snapshot.names.Text(name));
  if (node == nullptr || node->meta.deleting.has_value() || !IsReady(*node) ||
      !IsKubeVirtReady(*node, snapshot) || IsCordoned(*node)) {
    return false;
  }
  const TaintScope scope =
      keeper.on_node ? TaintScope::kRunning : TaintScope::kScheduling;
  return std::all_of(
      keeper.classes.begin(), keeper.classes.end(), [&](NameId id) {
        const GpuClass* found =
            snapshot.classes().Find("", snapshot.names.Text(id));
        return found != nullptr &&
               FirstUntolerated(node->taints, found->tolerations, scope) ==
                   nullptr &&
               (keeper.on_node ||
                MatchesLabels(found->node_selector, node->meta.labels));
      });
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
  if (!entry.quiet) return;
  entry.node = *node;
  entry.keeper = KeeperOf(entry, snapshot);
}

bool HasSettled(const IndexedSet& entry, Snapshot& snapshot) {
  if (!entry.quiet || IsShort(entry.node, snapshot)) return false;
  const ClaimColumns& columns = snapshot.claim_columns;
  for (const Row row : entry.set.members) {
    if (columns.phase[row] != Phase::kBound ||
        columns.node[row] != entry.node) {
      return false;
    }
  }
  Keeper& keeper = snapshot.index.keepers[entry.keeper];
  if (keeper.answers.size() <= entry.node) {
    keeper.answers.resize(snapshot.names.size(), Keeper::kUnknown);
  }
  Keeper::Answer& answer = keeper.answers[entry.node];
  if (answer == Keeper::kUnknown) {
    answer =
        Keeps(keeper, entry.node, snapshot) ? Keeper::kKeeps : Keeper::kLook;
  }
  return answer == Keeper::kKeeps;
}

}  // namespace gpubinder
