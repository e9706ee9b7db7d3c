// All orders of a few events in one small cluster. Histories that come to the
// same state are followed once from there, and a pass over a state that was
// judged before is not judged again; nothing else is left out.

#ifndef RECONCILER_NAIVE_EXPLORER_H_
#define RECONCILER_NAIVE_EXPLORER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "reconciler/naive/scope_tally.h"
#include "reconciler/naive/small_scope.h"

namespace gpubinder::naive {

struct ExplorerCounts {
  // Orders of events, also those that were not run again.
  int64_t histories = 0;
  int64_t passes = 0;  // run
  int64_t judged = 0;  // distinct states before a pass
  int64_t states = 0;  // distinct ones after an event
};

class Explorer {
 public:
  // `tally` and `counts` outlive it.
  Explorer(Tally& tally, ExplorerCounts& counts)
      : tally_(tally), counts_(counts) {}

  // Every order of at most `depth` events, and that each end settles.
  void Explore(const SmallScope& start, int64_t depth);

 private:
  // Follows what may happen to the state.
  void Visit(const SmallScope& scope, const StateDigest& state, int64_t left);
  // Goes one step. Nothing: the state it leads to is followed already.
  std::optional<StateDigest> Take(SmallScope& scope, const StateDigest& from,
                                  const Step& step, int64_t left);
  // False: there was a mistake.
  bool Pass(SmallScope& scope, const StateDigest& before,
            const std::string& apply);
  void Settle(SmallScope& scope);
  // The orders of `left` events from the state on.
  int64_t Orders(const StateDigest& state, int64_t left);

  Tally& tally_;
  ExplorerCounts& counts_;
  template <typename Value>
  using ByState = absl::flat_hash_map<StateDigest, Value>;

  ByState<int> judged_;         // before a pass: its effects
  ByState<StateDigest> after_;  // a pass and what became of it
  ByState<int64_t> left_;       // events that were followed from here
  absl::flat_hash_set<StateDigest> settling_;  // before a pass, then settled
  ByState<std::vector<StateDigest>> next_;     // by each event
  std::map<std::pair<StateDigest, int64_t>, int64_t> orders_;
};

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_EXPLORER_H_
