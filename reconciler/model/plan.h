// The working state of one pass: the snapshot, what has been decided so far
// with its use of units, the effects and the verdicts.
//
// Steps see earlier steps only through the plan. Nothing here decides.

#ifndef RECONCILER_MODEL_PLAN_H_
#define RECONCILER_MODEL_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/budget.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// How far a pass has come with one set.
struct SetState {
  // An effect of it is without outcome: no step touches it (C10).
  bool frozen = false;
  // A step has placed it, lost it or started it: later steps leave it.
  bool acted = false;
  // Its template claims are being made; the rest follows when they are seen.
  bool creating = false;
  // A step looked for a place or found it misconfigured.
  std::optional<Verdict> verdict;
};

enum class MassLoss { kNo, kYes };

// Usage records that somebody else undoes.
struct UndoneRecords {
  int64_t records = 0;
  std::string example;  // namespace/name, the first
};

class Plan {
 public:
  // The arguments outlive the plan. O(objects).
  Plan(const Snapshot& snapshot, absl::Time now);

  const Snapshot& snapshot() const { return snapshot_; }
  const Config& config() const { return snapshot_.config; }
  absl::Time now() const { return now_; }
  const Books& books() const { return books_; }
  const Budgets& budgets() const { return budgets_; }
  // By age, then namespace, then name.
  const std::vector<ClaimSet>& sets() const { return sets_.sets; }
  const ClaimSet& set(size_t index) const { return sets_.sets[index]; }
  SetState& state(size_t index) { return states_[index]; }
  const SetState& state(size_t index) const { return states_[index]; }
  // Whether a step may still change the set in this pass.
  bool IsOpen(size_t index) const {
    return !states_[index].frozen && !states_[index].acted;
  }
  // Whether a write to the object of this uid is without outcome.
  bool IsWritten(const std::string& uid) const {
    return written_.contains(uid);
  }
  // The set of a claim, or nothing.
  std::optional<size_t> SetOf(Row claim) const;

  // Where a claim stands with what the pass has decided.
  Phase phase(Row claim) const { return phase_[claim]; }
  NameId node(Row claim) const { return node_[claim]; }
  const GpuClaim& claim(Row row) const { return snapshot_.claims()[row]; }
  // The memory of the set's VM; null when there is none yet.
  const GpuClaimSet* Memory(const ClaimSet& set) const;

  // The claim's condition of the type as the pass leaves it; null: none.
  const Condition* FindCondition(Row claim, absl::string_view type) const;

  // Binds the members that are not there yet to the node, and uses their
  // units up.
  void Place(size_t index, NameId node);
  // The same for some of the set's members.
  void PlaceMembers(size_t index, const std::vector<Row>& members, NameId node);
  // Uses up the units of a set whose template claims are only being made.
  void Reserve(const ClaimSet& set, NameId node);
  // Sends the members to Lost, except those that are so already. Nothing
  // happens in a mass loss.
  void Lose(size_t index, v1::Reason reason, const std::string& message);
  // The same for some of the set's members.
  void LoseMembers(size_t index, const std::vector<Row>& members,
                   v1::Reason reason, const std::string& message);
  // Writes a condition of a member.
  void SetClaimCondition(size_t index, Row claim, Condition condition);
  // An effect of the set: sent after its earlier ones.
  void Add(size_t index, v1::Effect effect);
  // An effect that belongs to no set.
  void AddAlone(v1::Effect effect);
  // So many nodes stopped keeping their sets at once that something else must
  // be wrong: nothing is ended, and nothing goes Lost.
  bool mass_loss() const { return mass_loss_; }
  const std::vector<std::string>& unkept_nodes() const { return unkept_; }
  void SetUnkeptNodes(std::vector<std::string> nodes, MassLoss judged);
  // The usage record was written a moment ago and is not as it should be.
  void NoteUndone(absl::string_view name_space, absl::string_view name);
  const UndoneRecords& undone() const { return undone_; }
  // The pass wants to run again at this time at the latest.
  void WakeAt(absl::Time time);

  std::vector<v1::Effect>& effects() { return effects_; }
  absl::Time next_timer() const { return next_timer_; }

 private:
  const Snapshot& snapshot_;
  const absl::Time now_;
  const ClaimSets sets_;
  Books books_;
  Budgets budgets_;
  std::vector<SetState> states_;
  absl::btree_set<std::string> written_;
  std::vector<Phase> phase_;
  std::vector<NameId> node_;
  // Of the claims whose conditions the pass has changed: the whole list.
  absl::btree_map<Row, std::vector<Condition>> conditions_;
  bool mass_loss_ = false;
  std::vector<std::string> unkept_;
  UndoneRecords undone_;
  std::vector<v1::Effect> effects_;
  absl::Time next_timer_ = absl::InfiniteFuture();

  void Freeze();
  absl::btree_set<std::string> UnprotectedClasses() const;
  // Of units that were Pending until now.
  void UseBudget(const ClaimSet& set, const std::string& class_name,
                 int64_t units);
  const std::vector<Condition>& Conditions(Row claim) const;
  // Puts the condition in the place of the one of its type.
  void Change(Row claim, Condition condition);
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_PLAN_H_
