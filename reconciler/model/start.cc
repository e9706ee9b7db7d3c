#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/keep.h"
#include "reconciler/model/memory.h"
#include "reconciler/model/names.h"
#include "reconciler/model/over_budget.h"
#include "reconciler/model/repair.h"
#include "reconciler/model/start_problems.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/verdict.h"

namespace gpubinder {
namespace {

v1::ReasonDetail Detail(v1::Reason reason, std::string text) {
  v1::ReasonDetail detail;
  detail.set_reason(reason);
  detail.set_text(std::move(text));
  return detail;
}

void CreateMissing(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const ObjectMeta& vmi = plan.snapshot().vmis()[*set.vmi].meta;
  for (const MissingTemplate& missing : set.missing) {
    v1::Effect effect =
        EffectCreating(KindName(Kind::kGpuClaim), set.name_space, missing.name);
    v1::CreateTemplateClaim& create = *effect.mutable_create_template_claim();
    create.set_class_name(missing.class_name);
    create.set_count(static_cast<int32_t>(missing.units));
    create.set_vmi_name(TemplateClaimLabelValue(vmi.name));
    create.mutable_owner()->set_api_version("kubevirt.io/v1");
    create.mutable_owner()->set_kind("VirtualMachineInstance");
    create.mutable_owner()->set_name(vmi.name);
    create.mutable_owner()->set_uid(vmi.uid);
    plan.Add(index, std::move(effect));
  }
}

// A set held whole on a cordoned node against which nothing else speaks is
// pinned where it is, when no other node has room or a class says Stay (G5).
std::optional<NameId> CordonedStand(const ClaimSet& set, const Demand& demand,
                                    const Choice& choice, const Plan& plan) {
  if (!set.missing.empty()) return std::nullopt;
  const std::optional<NameId> stand = StandsWhole(set, plan);
  if (!stand.has_value()) return std::nullopt;
  const bool stays = std::any_of(
      demand.classes.begin(), demand.classes.end(),
      [](const GpuClass* found) { return found->on_cordon == "Stay"; });
  if (choice.node.has_value() && !stays) return std::nullopt;
  const std::string& name = plan.snapshot().names.Text(*stand);
  const NodeGroup* group = choice.judged.Find(name);
  const bool only_cordon = group != nullptr && group->reasons->size() == 1 &&
                           (*group->reasons)[0].reason() == v1::NODE_CORDONED;
  return only_cordon ? stand : std::nullopt;
}

// What the pod asks for beyond its claims is used up with them (C8, C9).
void UseRest(const Demand& demand, NameId node, Plan& plan) {
  for (const Demand::Need& need : demand.needs) {
    const int64_t rest = WantedUnits(node, need, demand) - need.units;
    if (rest > 0) plan.UseRaw(node, need.resource, rest);
  }
}

void Start(size_t index, const Demand& demand, NameId node, v1::Reason reason,
           JudgedNodes judged, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const std::string& name = plan.snapshot().names.Text(node);
  plan.state(index).verdict =
      Verdict{.reason = reason, .judged = std::move(judged), .node = name};
  UseRest(demand, node, plan);
  if (!set.missing.empty()) {
    // Binding and pin follow in the pass that has seen the new claims.
    plan.Reserve(set, node);
    plan.state(index).creating = true;
    plan.state(index).acted = true;
    return;
  }
  plan.Place(index, node);
  v1::Effect effect = EffectOn(Kind::kPod, demand.pod->meta);
  *effect.mutable_pin_pod() = PinTo(name, *demand.pod, demand.classes);
  plan.Add(index, std::move(effect));
}

// Some members Lost and some Bound, though the set stood whole before: a
// write that was to lose all of it was cut short.
bool IsHalfLost(const ClaimSet& set, const Plan& plan) {
  bool lost = false, bound = false;
  for (const Row row : set.members) {
    lost = lost || plan.phase(row) == Phase::kLost;
    bound = bound || plan.phase(row) == Phase::kBound;
  }
  return lost && bound && StoodWhole(set, plan);
}

// No place: the pod stays gated. If its own node cannot keep the set either,
// it goes Lost.
void Wait(size_t index, Choice choice, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  Verdict verdict{.reason = v1::NO_NODE_FITS,
                  .judged = std::move(choice.judged)};
  const std::optional<NameId> stand = BoundStand(set, plan);
  if (IsHalfLost(set, plan)) {
    plan.Lose(index, v1::NO_NODE_FITS, MessageOf(verdict));
  } else if (stand.has_value()) {
    const std::optional<v1::Reason> why =
        WhyNotKept(BoundPart(set, plan), *stand, plan);
    if (why.has_value() && *why != v1::NODE_CORDONED) {
      plan.Lose(index, *why, MessageOf(verdict));
    }
  }
  plan.state(index).verdict = std::move(verdict);
}

void StartSet(size_t index, Plan& plan) {
  const ClaimSet& set = plan.set(index);
  const Demand demand = MakeDemand(set, plan.snapshot(), plan.now());
  std::vector<v1::ReasonDetail> problems = StartProblems(set, demand, plan);
  std::vector<v1::ReasonDetail> waiting = OverBudget(set, plan);
  if (!problems.empty()) {
    problems.insert(problems.end(), waiting.begin(), waiting.end());
    if (const std::string* gate = ForeignGate(*demand.pod)) {
      problems.push_back(Detail(v1::FOREIGN_GATE, *gate));
    }
    plan.state(index).verdict = Misconfigured(std::move(problems));
    return;
  }
  CreateMissing(index, plan);
  Choice choice = ChooseNode(set, demand, plan);
  if (const std::string* gate = ForeignGate(*demand.pod)) {
    waiting.push_back(Detail(v1::FOREIGN_GATE, *gate));
  }
  if (!waiting.empty()) {
    // An older set may have used up what the repair saw left.
    RepairSet(index, plan);
    Verdict verdict = Misconfigured(std::move(waiting));
    verdict.judged = std::move(choice.judged);
    plan.state(index).verdict = std::move(verdict);
    return;
  }
  const std::optional<NameId> cordoned =
      CordonedStand(set, demand, choice, plan);
  if (cordoned.has_value()) {
    Start(index, demand, *cordoned, v1::PLACED_ON_CORDONED_NODE,
          std::move(choice.judged), plan);
  } else if (choice.node.has_value()) {
    Start(index, demand, *choice.node, v1::PLACED, std::move(choice.judged),
          plan);
  } else {
    Wait(index, std::move(choice), plan);
  }
}

}  // namespace

void StartGatedPods(Plan& plan) {
  for (size_t i = 0; i < plan.size(); ++i) {
    const ClaimSet& set = plan.set(i);
    if (!plan.IsOpen(i) || !set.waits_at_gate()) continue;
    const VirtualMachineInstance& vmi = plan.snapshot().vmis()[*set.vmi];
    if (!vmi.claims.present || vmi.meta.deleting.has_value()) continue;
    StartSet(i, plan);
  }
}

}  // namespace gpubinder
