// The working state of one pass: the snapshot, what has been decided so far
// with its use of units, the effects and the verdicts.
//
// Steps see earlier steps only through the plan. Nothing here decides.

#ifndef RECONCILER_MODEL_PLAN_H_
#define RECONCILER_MODEL_PLAN_H_

#include <memory>
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

class NodeJudge;

// What is said of a set in the end.
struct Saying {
  Verdict verdict;
  std::string message;  // its MessageOf
};

// How far a pass has come with one set.
struct SetState {
  // An effect of it is without outcome: no step touches it (C10).
  bool frozen = false;
  // A step has placed it, lost it or started it: later steps leave it.
  bool acted = false;
  // Its template claims are being made; the rest follows when they are seen.
  bool creating = false;
  // Something of it was written or is awaited: the next pass looks at it again.
  bool restless = false;
  // A step looked for a place or found it misconfigured.
  std::optional<Verdict> verdict;
  // Once all steps are done, unless the next pass says more.
  std::optional<Saying> saying;
};

enum class MassLoss { kNo, kYes };

// Usage records that somebody else undoes.
struct UndoneRecords {
  int64_t records = 0;
  std::string example;  // namespace/name, the first
};

class Plan {
 public:
  // A plan for the sets in these slots of the snapshot's index, in order.
  // The snapshot outlives it; of it only what the judge keeps in the index is
  // changed. O(those sets + effects in flight).
  Plan(Snapshot& snapshot, std::vector<Slot> slots, absl::Time now);
  ~Plan();

  const Snapshot& snapshot() const { return snapshot_; }
  const Config& config() const { return snapshot_.config; }
  absl::Time now() const { return now_; }
  const Books& books() const { return books_; }
  const Budgets& budgets() const { return budgets_; }
  // Of the nodes as they are with what the pass has decided.
  NodeJudge& judge();
  // The sets that have not settled, by age, then namespace, then name.
  size_t size() const { return slots_.size(); }
  const ClaimSet& set(size_t index) const {
    return snapshot_.index.sets[slots_[index]].set;
  }
  Slot slot(size_t index) const { return slots_[index]; }
  // The claims of those sets and those of no set, by namespace and name.
  const std::vector<Row>& claims() const { return claims_; }
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
  // Makes the next pass look at the claim's set again, whatever else holds.
  void KeepLooking(Row claim);
  // The set of one of the plan's claims; nothing for one of no set.
  std::optional<size_t> SetOf(Row claim) const;

  // Where a claim stands with what the pass has decided.
  Phase phase(Row claim) const;
  NameId node(Row claim) const;
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
  // Uses up what a pod that is pinned there asks for beyond its claims.
  void UseRaw(NameId node, NameId resource, int64_t units) {
    books_.AssumeRaw(node, resource, units);
  }
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
  const UnkeptNodes& unkept_nodes() const { return unkept_; }
  void SetUnkeptNodes(UnkeptNodes nodes, MassLoss judged);
  // Whether nothing is to be said of any class until a class or node changes.
  bool classes_settled() const { return classes_settled_; }
  void SetClassesSettled(bool settled) { classes_settled_ = settled; }
  // The usage record was written a moment ago and is not as it should be.
  void NoteUndone(absl::string_view name_space, absl::string_view name);
  const UndoneRecords& undone() const { return undone_; }
  // The pass wants to run again at this time at the latest.
  void WakeAt(absl::Time time);

  std::vector<v1::Effect>& effects() { return effects_; }
  absl::Time next_timer() const { return next_timer_; }

 private:
  struct Standing {
    Phase phase = Phase::kPending;
    NameId node = kNoName;
  };

  const Snapshot& snapshot_;
  const absl::Time now_;
  const std::vector<Slot> slots_;
  std::vector<uint32_t> positions_;  // in slots_, by slot
  std::vector<Row> claims_;
  Books books_;
  Budgets budgets_;
  std::unique_ptr<NodeJudge> judge_;
  std::vector<SetState> states_;
  absl::btree_set<std::string> written_;
  // Of the claims that the pass has placed or lost.
  absl::btree_map<Row, Standing> places_;
  // Of the claims whose conditions the pass has changed: the whole list.
  absl::btree_map<Row, std::vector<Condition>> conditions_;
  bool mass_loss_ = false;
  bool classes_settled_;
  UnkeptNodes unkept_;
  UndoneRecords undone_;
  std::vector<v1::Effect> effects_;
  absl::Time next_timer_ = absl::InfiniteFuture();

  void CollectClaims();
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
