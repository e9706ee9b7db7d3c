#include "reconciler/model/plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "proto/check.h"
#include "reconciler/model/config.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/judge.h"
#include "reconciler/model/own_memory.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {

Plan::Plan(Snapshot& snapshot, std::vector<Slot> slots, absl::Time now)
    : snapshot_(snapshot),
      now_(now),
      slots_(std::move(slots)),
      positions_(snapshot.index.sets.size(), kNoSlot),
      books_(snapshot),
      budgets_(snapshot),
      judge_(
          std::make_unique<NodeJudge>(snapshot, books_, snapshot.index.judge)),
      states_(slots_.size()),
      classes_settled_(snapshot.index.classes_settled) {
  for (uint32_t i = 0; i < slots_.size(); ++i) positions_[slots_[i]] = i;
  CollectClaims();
  Freeze();
}

void Plan::CollectClaims() {
  for (size_t i = 0; i < size(); ++i) {
    for (const std::vector<Row>* rows : {&set(i).members, &set(i).leaving}) {
      claims_.insert(claims_.end(), rows->begin(), rows->end());
    }
  }
  const absl::btree_set<Row>& loose = snapshot_.index.loose;
  claims_.insert(claims_.end(), loose.begin(), loose.end());
  std::sort(claims_.begin(), claims_.end(), [&](Row a, Row b) {
    const ObjectMeta& left = claim(a).meta;
    const ObjectMeta& right = claim(b).meta;
    return std::tie(left.name_space, left.name) <
           std::tie(right.name_space, right.name);
  });
}

Plan::~Plan() = default;

NodeJudge& Plan::judge() { return *judge_; }

// The classes that a write without outcome keeps from their finalizer: it has
// to be on before the first binding (H1).
absl::btree_set<std::string> Plan::UnprotectedClasses() const {
  absl::btree_set<std::string> names;
  if (!config().enabled) return names;
  for (const auto& [key, row] : snapshot_.classes().by_name()) {
    const ObjectMeta& meta = snapshot_.classes()[row].meta;
    if (!IsWritten(meta.uid) || meta.deleting.has_value()) continue;
    if (std::find(meta.finalizers.begin(), meta.finalizers.end(),
                  kClassFinalizer) == meta.finalizers.end()) {
      names.insert(meta.name);
    }
  }
  return names;
}

// A set is frozen while an effect that names it (each write to its pod does),
// or a write to one of its members, or to the class of one to be bound that has
// no finalizer yet, is without outcome; and while its refused writes are not to
// be tried again yet.
void Plan::Freeze() {
  absl::btree_set<std::string> keys;
  for (const auto& [id, effect] : snapshot_.in_flight) {
    keys.insert(effect.set_key());
    written_.insert(WrittenObject(effect.target()));
  }
  for (const auto& [key, rate] : snapshot_.write_rates) {
    if (rate.until <= now_) continue;
    keys.insert(key);
    written_.insert(key);
    WakeAt(rate.until);
  }
  if (keys.empty()) return;
  const absl::btree_set<std::string> unprotected = UnprotectedClasses();
  for (size_t i = 0; i < states_.size(); ++i) {
    const ClaimSet& set = this->set(i);
    auto written = [&](Row row) {
      return IsWritten(claim(row).meta.uid) ||
             (!unprotected.empty() && this->phase(row) != Phase::kBound &&
              unprotected.contains(claim(row).class_name));
    };
    states_[i].frozen =
        keys.contains(set.key()) ||
        std::any_of(set.members.begin(), set.members.end(), written) ||
        std::any_of(set.leaving.begin(), set.leaving.end(), written);
  }
}

std::optional<size_t> Plan::SetOf(Row claim) const {
  const Slot slot = snapshot_.index.SlotOf(claim);
  if (slot == kNoSlot || positions_[slot] == kNoSlot) return std::nullopt;
  return positions_[slot];
}

void Plan::KeepLooking(Row claim) {
  const std::optional<size_t> set = SetOf(claim);
  if (set.has_value()) states_[*set].restless = true;
}

Phase Plan::phase(Row claim) const {
  auto changed = places_.find(claim);
  return changed == places_.end() ? snapshot_.claim_columns.phase[claim]
                                  : changed->second.phase;
}

NameId Plan::node(Row claim) const {
  auto changed = places_.find(claim);
  return changed == places_.end() ? snapshot_.claim_columns.node[claim]
                                  : changed->second.node;
}

const GpuClaimSet* Plan::Memory(const ClaimSet& set) const {
  return OwnMemory(set, snapshot_);
}

void Plan::Place(size_t index, NameId node) {
  PlaceMembers(index, set(index).members, node);
}

void Plan::PlaceMembers(size_t index, const std::vector<Row>& members,
                        NameId node) {
  for (const Row row : members) {
    const Phase before = phase(row);
    if (before == Phase::kBound && this->node(row) == node) continue;
    const GpuClaim& claim = this->claim(row);
    const GpuClass* found = snapshot_.classes().Find("", claim.class_name);
    BINDER_CHECK(found != nullptr);
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    v1::BindClaim& bind = *effect.mutable_bind_claim();
    bind.set_node_name(snapshot_.names.Text(node));
    // It never runs backwards on a claim.
    bind.set_bound_at_unix_seconds(
        absl::ToUnixSeconds(std::max(now_, claim.bound_at.value_or(now_))));
    bind.set_resource_name(found->resource_name);
    bind.set_units(claim.units);
    const std::string where =
        absl::StrCat("Placed on ", snapshot_.names.Text(node));
    Change(row, {.type = "Bound",
                 .status = "True",
                 .reason = "Placed",
                 .message = where});
    // A set that never waited never has it.
    if (FindCondition(row, "Gathered") != nullptr) {
      bind.set_gathered(true);
      Change(row, {.type = "Gathered",
                   .status = "True",
                   .reason = "Placed",
                   .message = where});
    }
    FillConditions(Conditions(row), bind);
    if (before == Phase::kBound) {
      bind.set_leaves_node(snapshot_.names.Text(this->node(row)));
    }
    const NameId resource = *snapshot_.names.Find(found->resource_name);
    if (before == Phase::kBound && Planted(Bug::kFreedAtOnce)) {
      books_.Assume(this->node(row), resource, -claim.units);
    }
    const std::optional<Row> vmi = set(index).vmi;
    if (vmi.has_value()) {
      books_.AssumeFor(*vmi, node, resource, claim.units);
    } else {
      books_.Assume(node, resource, claim.units);
    }
    if (before == Phase::kPending) {
      UseBudget(set(index), claim.class_name, claim.units);
    }
    places_[row] = {.phase = Phase::kBound, .node = node};
    Add(index, std::move(effect));
  }
  states_[index].acted = true;
}

void Plan::UseBudget(const ClaimSet& set, const std::string& class_name,
                     int64_t units) {
  const GpuClass* found = snapshot_.classes().Find("", class_name);
  BINDER_CHECK(found != nullptr);
  budgets_.Assume({.tenant = set.name_space,
                   .class_name = class_name,
                   .resource = found->resource_name,
                   .vmi = set.vmi,
                   .units = units});
}

void Plan::Reserve(const ClaimSet& set, NameId node) {
  auto reserve = [&](const std::string& class_name, int64_t units) {
    const GpuClass* found = snapshot_.classes().Find("", class_name);
    BINDER_CHECK(found != nullptr);
    books_.Assume(node, *snapshot_.names.Find(found->resource_name), units);
  };
  for (const Row row : set.members) {
    if (phase(row) == Phase::kBound && this->node(row) == node) continue;
    reserve(claim(row).class_name, claim(row).units);
    if (phase(row) == Phase::kPending) {
      UseBudget(set, claim(row).class_name, claim(row).units);
    }
  }
  for (const MissingTemplate& missing : set.missing) {
    reserve(missing.class_name, missing.units);
    UseBudget(set, missing.class_name, missing.units);
  }
}

void Plan::Lose(size_t index, v1::Reason reason, const std::string& message) {
  LoseMembers(index, set(index).members, reason, message);
}

void Plan::LoseMembers(size_t index, const std::vector<Row>& members,
                       v1::Reason reason, const std::string& message) {
  if (mass_loss_) return;
  for (const Row row : members) {
    if (phase(row) != Phase::kBound) continue;
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim(row).meta);
    effect.mutable_lose_claim()->set_reason(reason);
    effect.mutable_lose_claim()->set_message(message);
    Change(row, {.type = "Bound",
                 .status = "False",
                 .reason = std::string(ReasonName(reason)),
                 .message = message});
    FillConditions(Conditions(row), *effect.mutable_lose_claim());
    places_[row] = {.phase = Phase::kLost, .node = node(row)};
    Add(index, std::move(effect));
  }
  states_[index].acted = true;
}

void Plan::SetClaimCondition(size_t index, Row row, Condition condition) {
  v1::Effect effect = EffectOn(Kind::kGpuClaim, claim(row).meta);
  v1::SetCondition& write = *effect.mutable_set_condition();
  write.set_type(condition.type);
  write.set_status(condition.status);
  write.set_reason(
      ReasonByName(condition.reason).value_or(v1::REASON_UNSPECIFIED));
  write.set_message(condition.message);
  const std::string type = condition.type;
  Change(row, std::move(condition));
  write.set_transition_unix_seconds(
      absl::ToUnixSeconds(FindCondition(row, type)->last_transition));
  FillConditions(Conditions(row), write);
  Add(index, std::move(effect));
}

const std::vector<Condition>& Plan::Conditions(Row row) const {
  auto changed = conditions_.find(row);
  return changed == conditions_.end() ? claim(row).conditions : changed->second;
}

const Condition* Plan::FindCondition(Row row, absl::string_view type) const {
  for (const Condition& condition : Conditions(row)) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

void Plan::Change(Row row, Condition condition) {
  condition.observed_generation = claim(row).meta.generation;
  condition.last_transition = now_;
  std::vector<Condition> conditions = Conditions(row);
  auto there = std::find_if(
      conditions.begin(), conditions.end(),
      [&](const Condition& old) { return old.type == condition.type; });
  if (there == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    if (there->status == condition.status) {
      condition.last_transition = there->last_transition;
    }
    *there = std::move(condition);
  }
  conditions_[row] = std::move(conditions);
}

void Plan::Add(size_t index, v1::Effect effect) {
  states_[index].restless = true;
  effect.set_set_key(set(index).key());
  effects_.push_back(std::move(effect));
}

void Plan::AddAlone(v1::Effect effect) {
  effects_.push_back(std::move(effect));
}

void Plan::SetUnkeptNodes(UnkeptNodes nodes, MassLoss judged) {
  unkept_ = std::move(nodes);
  mass_loss_ = judged == MassLoss::kYes;
}

void Plan::NoteUndone(absl::string_view name_space, absl::string_view name) {
  if (undone_.records++ == 0) {
    undone_.example = absl::StrCat(name_space, "/", name);
  }
}

void Plan::WakeAt(absl::Time time) {
  BINDER_CHECK(time > now_);  // what is over is decided in this pass
  next_timer_ = std::min(next_timer_, time);
}

}  // namespace gpubinder
