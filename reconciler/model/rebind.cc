#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "reconciler/model/asked_for.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/ending.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/over_budget.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

bool Has(const ClaimSet& set, Phase phase, const Plan& plan) {
  return std::any_of(set.members.begin(), set.members.end(),
                     [&](Row row) { return plan.phase(row) == phase; });
}

// Its VMI is being deleted, or was asked to end: nothing of it comes back.
bool Leaves(const ClaimSet& set, const Plan& plan) {
  return AwaitsEnd(set, plan) ||
         (set.vmi.has_value() &&
          plan.snapshot().vmis()[*set.vmi].meta.deleting.has_value());
}

// Everything but what waits: it comes back whatever that lacks.
ClaimSet Settled(const ClaimSet& set, const Plan& plan) {
  return Restricted(
      set, [&](Row row) { return plan.phase(row) != Phase::kPending; });
}

// A running VM's claims go back to its own node and nowhere else, when that
// node keeps them and has room, and would not have the VMI ended for them. A
// Lost claim keeps the reason of its loss where the node does not.
bool Return(size_t index, const ClaimSet& part, Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  if (snapshot.nodes().Find("", part.launcher.node) == nullptr) return false;
  const NameId node = *snapshot.names.Find(part.launcher.node);
  const bool kept = !WhyUnkept(part, node, PodRules::kCount, plan).has_value();
  const Demand demand = MakeDemand(part, snapshot, plan.now());
  if (kept && HasRoom(node, demand, plan.books())) {
    plan.PlaceMembers(index, part.members, node);
    return true;
  }
  if (kept || !Has(part, Phase::kLost, plan)) {
    plan.state(index).verdict =
        Verdict{.reason = v1::NO_NODE_FITS,
                .judged = ChooseNode(part, demand, plan).judged};
  }
  return false;
}

// A pinned launcher takes what it asks for. Where its Pending claims are over
// a budget or misconfigured, or its node does not take them, the Lost ones,
// which count in budgets already, come back alone. Of a VMI that leaves the
// budget is told.
void ReturnOrAdopt(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  auto [part, stops] = WhatPodAsksFor(set, plan);
  stops.insert(stops.begin(), set.start_problems.begin(),
               set.start_problems.end());
  std::vector<v1::ReasonDetail> over = OverBudget(part, plan);
  std::optional<Verdict> verdict;
  if (!stops.empty() || !over.empty()) {
    const bool looks = stops.empty();
    stops.insert(stops.end(), over.begin(), over.end());
    verdict = Misconfigured(std::move(stops));
    if (looks) {
      verdict->judged =
          ChooseNode(part, MakeDemand(part, plan.snapshot(), plan.now()), plan)
              .judged;
    }
  }
  if (!set.start_problems.empty() || !over.empty()) {
    part = Settled(set, plan);
  }
  const bool loses = Has(part, Phase::kLost, plan);
  const bool waits = Has(part, Phase::kPending, plan);
  if ((loses || waits) && !Leaves(set, plan) && !Return(index, part, plan) &&
      loses && waits) {
    Return(index, Settled(set, plan), plan);
  }
  if (verdict.has_value()) plan.state(index).verdict = *std::move(verdict);
}

void Rebind(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  // Pending members join as orders.
  if (set.launcher.state == LauncherState::kPinned) {
    ReturnOrAdopt(index, plan);
    return;
  }
  if (Leaves(set, plan)) return;
  const ClaimSet part = Settled(set, plan);
  Choice choice =
      ChooseNode(part, MakeDemand(part, plan.snapshot(), plan.now()), plan);
  if (choice.node.has_value()) {
    plan.PlaceMembers(index, part.members, *choice.node);
  } else {
    plan.state(index).verdict =
        Verdict{.reason = v1::NO_NODE_FITS, .judged = std::move(choice.judged)};
  }
}

}  // namespace

void RebindLostSets(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!plan.IsOpen(i) || set.waits_at_gate() || !set.problems.empty()) {
      continue;
    }
    const bool adopts = set.launcher.state == LauncherState::kPinned &&
                        Has(set, Phase::kPending, plan);
    if (Has(set, Phase::kLost, plan) || adopts) Rebind(i, plan);
  }
}

}  // namespace gpubinder
