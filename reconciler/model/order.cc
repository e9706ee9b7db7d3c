#include <algorithm>
#include <utility>
#include <vector>

#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/over_budget.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

void PlaceOrder(size_t index, Plan& plan) {
  const ClaimSet& whole = plan.set(index);
  std::vector<v1::ReasonDetail> problems = whole.problems;
  problems.insert(problems.end(), whole.start_problems.begin(),
                  whole.start_problems.end());
  problems.insert(problems.end(), whole.order_problems.begin(),
                  whole.order_problems.end());
  // What a launcher's template claims will add is not an order yet. Lost
  // members that found no place keep the rest waiting: the set is gathered
  // whole.
  const ClaimSet set = Restricted(whole, [](Row) { return true; });
  std::vector<v1::ReasonDetail> over = OverBudget(set, plan);
  if (!problems.empty()) {
    problems.insert(problems.end(), over.begin(), over.end());
    plan.state(index).verdict = Misconfigured(std::move(problems));
    return;
  }
  Choice choice =
      ChooseNode(set, MakeDemand(set, plan.snapshot(), plan.now()), plan);
  if (!over.empty()) {
    Verdict verdict = Misconfigured(std::move(over));
    verdict.judged = std::move(choice.judged);
    plan.state(index).verdict = std::move(verdict);
    return;
  }
  if (!choice.node.has_value()) {
    plan.state(index).verdict =
        Verdict{.reason = v1::NO_NODE_FITS, .judged = std::move(choice.judged)};
    return;
  }
  plan.state(index).verdict =
      Verdict{.reason = v1::PLACED,
              .judged = std::move(choice.judged),
              .node = plan.snapshot().names.Text(*choice.node)};
  plan.PlaceMembers(index, set.members, *choice.node);
}

}  // namespace

// One that does not fit does not hold up the next. Pending members of a set
// whose launcher could not be placed are not orders, nor those of a VMI that
// was asked to end.
void PlaceNewOrders(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    const bool pending = std::any_of(
        set.members.begin(), set.members.end(),
        [&](Row row) { return plan.phase(row) == Phase::kPending; });
    if (pending && plan.IsOpen(i) && !AwaitsEnd(set, plan) &&
        set.launcher.state == LauncherState::kNone) {
      PlaceOrder(i, plan);
    }
  }
}

}  // namespace gpubinder
