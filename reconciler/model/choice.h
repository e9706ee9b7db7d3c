// Where a set goes (rules G3 and G4).

#ifndef RECONCILER_MODEL_CHOICE_H_
#define RECONCILER_MODEL_CHOICE_H_

#include <optional>

#include "reconciler/model/demand.h"
#include "reconciler/model/judged_nodes.h"
#include "reconciler/model/plan.h"

namespace gpubinder {

struct Choice {
  std::optional<NameId> node;
  JudgedNodes judged;  // every node, for the whole set
};

// Among the nodes that accept the set whole: fewest members to move, then the
// fullest (fewest free units of the set's resources after placing, summed),
// then by name. The cost is that of NodeJudge::Judge.
// Without a node the plan wakes when the first rejection lapses.
Choice ChooseNode(const ClaimSet& set, const Demand& demand, Plan& plan);

// The set without the members that `keep` says no to: the parts of it a rule
// speaks of.
template <typename Keep>
ClaimSet Restricted(const ClaimSet& set, Keep keep) {
  ClaimSet part = set;
  part.members.clear();
  part.missing.clear();
  for (const Row row : set.members) {
    if (keep(row)) part.members.push_back(row);
  }
  return part;
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_CHOICE_H_
