#include "reconciler/model/verdict.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proto/utf8.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

constexpr size_t kMostQuotedBytes = 200;

bool Any(const ClaimSet& set, Phase phase, const Plan& plan) {
  return std::any_of(set.members.begin(), set.members.end(),
                     [&](Row row) { return plan.phase(row) == phase; });
}

// The reason that a Lost member's condition keeps.
v1::Reason LossReason(const ClaimSet& set, const Plan& plan) {
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kLost) continue;
    const Condition* bound = plan.FindCondition(row, "Bound");
    if (SaysLoss(bound)) return *ReasonByName(bound->reason);
  }
  return v1::NO_NODE_FITS;
}

// What KubeVirt says of a VMI whose pod the API server did not let it make.
const std::string* RefusedPod(const ClaimSet& set, const Snapshot& snapshot) {
  if (!set.vmi.has_value() || set.launcher.state != LauncherState::kNone) {
    return nullptr;
  }
  const VirtualMachineInstance& vmi = snapshot.vmis()[*set.vmi];
  if (vmi.meta.deleting.has_value()) return nullptr;
  for (const Condition& condition : vmi.conditions) {
    if (condition.type == "Synchronized" && condition.status == "False" &&
        condition.reason == "FailedCreate") {
      return &condition.message;
    }
  }
  return nullptr;
}

Verdict Disabled() {
  v1::ReasonDetail detail;
  detail.set_reason(v1::FEATURE_DISABLED);
  return Verdict{.reason = v1::FEATURE_DISABLED, .details = {detail}};
}

}  // namespace

bool SaysLoss(const Condition* bound) {
  return bound != nullptr && bound->status == "False" &&
         ReasonByName(bound->reason).has_value();
}

std::optional<NameId> StandsWhole(const ClaimSet& set, const Plan& plan) {
  std::optional<NameId> node;
  for (const Row row : set.members) {
    if (plan.phase(row) != Phase::kBound) return std::nullopt;
    if (node.has_value() && *node != plan.node(row)) return std::nullopt;
    node = plan.node(row);
  }
  return node;
}

bool WaitsOutCordon(const ClaimSet& set, const Plan& plan) {
  const GpuClaimSet* memory = plan.Memory(set);
  if (memory == nullptr || !set.launcher.pod.has_value() ||
      memory->reason != ReasonName(v1::PLACED_ON_CORDONED_NODE) ||
      !plan.snapshot().pods()[*set.launcher.pod].node_name.empty()) {
    return false;
  }
  const Node* node = plan.snapshot().nodes().Find("", set.launcher.node);
  return node != nullptr && IsCordoned(*node);
}

Verdict Misconfigured(std::vector<v1::ReasonDetail> problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const v1::ReasonDetail& a, const v1::ReasonDetail& b) {
                     return a.reason() < b.reason();
                   });
  const v1::Reason reason = FirstReason(problems);
  return Verdict{.reason = reason, .details = std::move(problems)};
}

Verdict BoundVerdict(Row row, const Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  Verdict verdict{.reason = v1::PLACED, .node = claim.node_name};
  if (!claim.meta.problems.empty()) {
    verdict.details = {MalformedDetail(Kind::kGpuClaim, claim.meta)};
  } else if (plan.snapshot().classes().Find("", claim.class_name) == nullptr) {
    verdict.details.emplace_back().set_reason(v1::CLASS_NOT_FOUND);
    verdict.details.back().set_class_name(claim.class_name);
  } else {
    return verdict;
  }
  verdict.reason = verdict.details[0].reason();
  return verdict;
}

namespace {

std::optional<Verdict> VerdictOfSteps(size_t index, const Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const SetState& state = plan.state(index);
  if (state.creating) return std::nullopt;
  const bool lost = Any(set, Phase::kLost, plan);
  const bool pending = Any(set, Phase::kPending, plan);
  const bool wants = lost || pending || set.waits_at_gate();
  if (wants && !plan.config().enabled) return Disabled();
  std::vector<v1::ReasonDetail> problems = set.problems;
  problems.insert(problems.end(), set.start_problems.begin(),
                  set.start_problems.end());
  if (state.verdict.has_value()) {
    Verdict verdict = *state.verdict;
    // NoNodeFits is the last of several reasons.
    if (verdict.reason == v1::NO_NODE_FITS && !problems.empty()) {
      return Misconfigured(std::move(problems));
    }
    // A Lost set that nothing gates keeps the reason of its loss.
    if (verdict.reason == v1::NO_NODE_FITS && lost && !state.acted &&
        !set.waits_at_gate()) {
      verdict.reason = LossReason(set, plan);
    }
    return verdict;
  }
  if (!problems.empty()) return Misconfigured(std::move(problems));
  if (lost) return Verdict{.reason = LossReason(set, plan)};
  // A part of it was placed, or no step may place it: its VMI is being deleted
  // or was asked to end, or somebody else ungated its pod.
  if (pending) return std::nullopt;
  const std::optional<NameId> node = StandsWhole(set, plan);
  if (!node.has_value()) return std::nullopt;  // split, or no members
  Verdict verdict{.reason = v1::PLACED,
                  .node = plan.snapshot().names.Text(*node)};
  // Made whole by the repair; whether it starts the next pass says.
  if (set.waits_at_gate() && state.acted) return std::nullopt;
  if (WaitsOutCordon(set, plan)) {
    verdict.reason = v1::PLACED_ON_CORDONED_NODE;
  }
  return verdict;
}

}  // namespace

std::optional<Verdict> FinalVerdict(size_t index, const Plan& plan) {
  std::optional<Verdict> verdict = VerdictOfSteps(index, plan);
  const std::string* refusal = RefusedPod(plan.set(index), plan.snapshot());
  if (refusal == nullptr || !plan.config().enabled) return verdict;
  if (!verdict.has_value()) verdict.emplace();
  v1::ReasonDetail detail;
  detail.set_reason(v1::START_REFUSED_BY_API);
  detail.set_text(Utf8Within(*refusal, kMostQuotedBytes));
  std::vector<v1::ReasonDetail> details = std::move(verdict->details);
  details.push_back(std::move(detail));
  Verdict all = Misconfigured(std::move(details));
  verdict->reason = all.reason;
  verdict->details = std::move(all.details);
  return verdict;
}

}  // namespace gpubinder
