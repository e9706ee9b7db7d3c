// Runs passes over objects that were read, with no cluster, until a pass has
// nothing to do: what `gpubinder plan` prints.
//
// Each pass goes the way of a live one: records are folded, the decision is a
// record, its effects become requests, and the answers are folded. Only the
// API server is a stand-in (planned_cluster.h). The result depends on the
// input and the options alone, not on the order of the input.

#ifndef TOOLS_PLAN_RUN_H_
#define TOOLS_PLAN_RUN_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"
#include "tools/input.h"

namespace gpubinder {

// How far RunPlanPasses has come.
struct PlanProgress {
  int pass = 0;             // 0: before the first
  size_t sent = 0, of = 0;  // of the changes that the pass decided
};

struct PlanOptions {
  absl::Time now;
  Config config;
  int most_passes = 100;
  // Told at the beginning, with each pass and now and then within one.
  std::function<void(const PlanProgress&)> on_progress;
  // Called after each pass, before its effects are applied. The result has all
  // sets, also those that have settled. May be empty.
  std::function<void(int pass, const Snapshot& snapshot,
                     const PassResult& result)>
      on_pass;
};

struct PlannedEffect {
  int pass = 1;
  v1::Effect effect;
};

struct PlannedVerdict {
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  std::string message;
};

struct PlanRun {
  Snapshot snapshot;  // with all effects applied
  int passes = 0;     // the last one, without effects, included
  bool settled = false;
  std::vector<PlannedEffect> effects;
  // By the key of the set: the verdict of the last pass that had one, and the
  // nodes as they were judged in the last pass that looked at them.
  std::map<std::string, PlannedVerdict> verdicts;
  std::map<std::string, JudgedNodes> judged;
  // Requests that the stand-in for the API server did not take.
  std::vector<std::string> refusals;
};

// kInvalidArgument: two objects share a uid. O(objects + passes x pass).
absl::StatusOr<PlanRun> RunPlanPasses(const Input& input,
                                      const PlanOptions& options);

}  // namespace gpubinder

#endif  // TOOLS_PLAN_RUN_H_
