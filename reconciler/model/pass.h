// One binder pass: a pure function of what was folded and the time.
//
//   const PassResult result = RunPass(snapshot, now);
//   record.mutable_decision() = ToRecord(result, pass_sequence);

#ifndef RECONCILER_MODEL_PASS_H_
#define RECONCILER_MODEL_PASS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// A set as the pass leaves it.
struct SetView {
  ClaimSet set;
  Verdict verdict;      // REASON_UNSPECIFIED: the next pass says more
  bool frozen = false;  // not looked at: a write of it is without outcome
};

struct PassResult {
  std::vector<v1::Effect> effects;
  // Of sets whose verdict differs from the last one in the snapshot.
  std::vector<v1::Explanation> explanations;
  std::vector<std::string> gone_sets;
  // InfiniteFuture: nothing waits for the clock.
  absl::Time next_timer = absl::InfiniteFuture();
  // For who checks a pass: ViewsOf. RunPass leaves it empty.
  std::vector<SetView> sets;
  // Where since the pass before something may have changed in what ViewsOf
  // tells, or on the books: by the objects, or by this pass.
  absl::btree_set<std::string> touched_namespaces;
  absl::btree_set<NameId> touched_nodes;
  // Those that do not keep a set for another reason than a cordon, or did not
  // lately and are not back.
  UnkeptNodes unkept_nodes;
  bool mass_loss = false;  // nothing was ended or lost for that reason
  UndoneRecords undone;
};

// `now` is the time that the pass's record carries. The same objects and time
// give the same bytes, whatever passes have run before: of the snapshot only
// the index is changed. O(objects of namespaces that have changed + sets that
// want something x what the judge of judge.h costs); the first pass, and one
// after a change that concerns all sets, O(objects + ...).
PassResult RunPass(Snapshot& snapshot, absl::Time now);

// Every set as the last pass that looked at it left it, by age, then namespace,
// then name. Between a pass and the next change. O(sets x log).
std::vector<SetView> ViewsOf(const Snapshot& snapshot);

// The record of the pass that began with record `pass`.
v1::Decision ToRecord(const PassResult& result, uint64_t pass);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_PASS_H_
