#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/effect.h"
#include "reconciler/model/memory.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

const Condition* Find(const GpuClaim& claim, const char* type) {
  for (const Condition& condition : claim.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

// Writes a condition when what it means differs from what is there, never for
// mere counts.
void Set(size_t index, Row row, const char* type, const char* status,
         v1::Reason reason, const std::string& message, Plan& plan) {
  const GpuClaim& claim = plan.claim(row);
  const Condition* there = Find(claim, type);
  if (there != nullptr && there->status == status &&
      there->reason == ReasonName(reason) &&
      MeaningOf(there->message) == MeaningOf(message)) {
    return;
  }
  v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
  v1::SetCondition& condition = *effect.mutable_set_condition();
  condition.set_type(type);
  condition.set_status(status);
  condition.set_reason(reason);
  condition.set_message(message);
  const bool turned = there == nullptr || there->status != status;
  condition.set_transition_unix_seconds(
      absl::ToUnixSeconds(turned ? plan.now() : there->last_transition));
  plan.Add(index, std::move(effect));
}

bool IsSuccess(v1::Reason reason) {
  return reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE;
}

void ReportClaims(size_t index, const Verdict& verdict, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const std::string message = MessageOf(verdict);
  const bool waits = set.waits_at_gate() && !IsSuccess(verdict.reason);
  for (const Row row : set.members) {
    const GpuClaim& claim = plan.claim(row);
    if (waits) {
      Set(index, row, "Gathered", "False", verdict.reason, message, plan);
    } else if (IsSuccess(verdict.reason) &&
               Find(claim, "Gathered") != nullptr) {
      Set(index, row, "Gathered", "True", v1::PLACED, "Placed", plan);
    }
    switch (plan.phase(row)) {
      case Phase::kBound: {
        const Verdict own = BoundVerdict(row, plan);
        Set(index, row, "Bound", "True", own.reason, MessageOf(own), plan);
        break;
      }
      case Phase::kPending:
        Set(index, row, "Bound", "False", verdict.reason, message, plan);
        break;
      case Phase::kLost:
        break;  // keeps the reason of its loss
    }
  }
}

}  // namespace

void ReportVerdicts(Plan& plan) {
  for (size_t i = 0; i < plan.sets().size(); ++i) {
    if (plan.state(i).frozen) continue;
    const std::optional<Verdict> verdict = FinalVerdict(i, plan);
    if (!verdict.has_value()) continue;
    // What a placing write carries is not written twice; the next pass, which
    // has seen it, adds what it did not carry.
    if (!plan.state(i).acted) ReportClaims(i, *verdict, plan);
    RememberVerdict(i, *verdict, plan);
  }
}

}  // namespace gpubinder
