// One binder pass: a pure function of the snapshot and the time.
//
//   const PassResult result = RunPass(snapshot, now);
//   record.mutable_decision() = ToRecord(result, pass_sequence);

#ifndef RECONCILER_MODEL_PASS_H_
#define RECONCILER_MODEL_PASS_H_

#include <cstdint>
#include <string>
#include <vector>

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
  std::vector<SetView> sets;  // by age
  // Those that do not keep a set for another reason than a cordon, by name.
  std::vector<std::string> unkept_nodes;
  bool mass_loss = false;  // nothing was ended or lost for that reason
  UndoneRecords undone;
};

// `now` is the time that the pass's record carries. The same snapshot and
// time give the same bytes. O(objects + sets that want something x nodes).
PassResult RunPass(const Snapshot& snapshot, absl::Time now);

// The record of the pass that began with record `pass`.
v1::Decision ToRecord(const PassResult& result, uint64_t pass);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_PASS_H_
