#include <optional>
#include <string>

#include "reconciler/model/memory.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

// Writes a condition when what it means differs from what is there, never for
// mere counts.
void Set(size_t index, Row row, const char* type, const char* status,
         v1::Reason reason, const std::string& message, Plan& plan) {
  const Condition* there = plan.FindCondition(row, type);
  if (there != nullptr && there->status == status &&
      there->reason == ReasonName(reason) &&
      MeanTheSame(there->message, message)) {
    return;
  }
  plan.SetClaimCondition(index, row,
                         {.type = type,
                          .status = status,
                          .reason = std::string(ReasonName(reason)),
                          .message = message});
}

bool IsSuccess(v1::Reason reason) {
  return reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE;
}

void ReportClaims(size_t index, const Saying& saying, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const auto& [verdict, message] = saying;
  const bool waits = set.waits_at_gate() && !IsSuccess(verdict.reason);
  for (const Row row : set.members) {
    if (waits) {
      Set(index, row, "Gathered", "False", verdict.reason, message, plan);
    } else if (IsSuccess(verdict.reason) &&
               plan.FindCondition(row, "Gathered") != nullptr) {
      Set(index, row, "Gathered", "True", v1::PLACED, message, plan);
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
        // It keeps the reason of its loss, if there is one.
        if (!SaysLoss(plan.FindCondition(row, "Bound"))) {
          Set(index, row, "Bound", "False", v1::NO_NODE_FITS, "NoNodeFits",
              plan);
        }
        break;
    }
  }
}

}  // namespace

void ReportVerdicts(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan.state(i).frozen) continue;
    std::optional<Verdict> verdict = FinalVerdict(i, plan);
    if (!verdict.has_value()) continue;
    std::string message = MessageOf(*verdict);
    plan.state(i).saying =
        Saying{.verdict = *std::move(verdict), .message = std::move(message)};
    const Saying& saying = *plan.state(i).saying;
    // What a placing write carries is not written twice; the next pass, which
    // has seen it, adds what it did not carry.
    if (!plan.state(i).acted) ReportClaims(i, saying, plan);
    RememberVerdict(i, saying.verdict, plan);
  }
}

}  // namespace gpubinder
