// Nodes judged by hand, for tests of what is told of them.

#ifndef RECONCILER_MODEL_TESTING_JUDGE_AS_H_
#define RECONCILER_MODEL_TESTING_JUDGE_AS_H_

#include <string>
#include <vector>

#include "reconciler/model/judged_nodes.h"

namespace gpubinder {

struct NodesAlike {
  Reasons reasons;
  std::vector<std::string> nodes;  // at least one
};

// In groups of this order.
JudgedNodes JudgeAs(const std::vector<NodesAlike>& groups);

// The other way: each group with the names of its nodes, sorted.
std::vector<NodesAlike> NodesOf(const JudgedNodes& judged);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_JUDGE_AS_H_
