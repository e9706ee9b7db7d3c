// The questions that the naive model answers about a World, each by a loop
// over all objects: what is free, which nodes take a set, which keep it, what
// is over budget.

#ifndef RECONCILER_NAIVE_RULES_H_
#define RECONCILER_NAIVE_RULES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/naive/naive.h"

namespace gpubinder::naive {

// capacity.cc: C1 to C5.

// By the VMI's list, never by what the pod says; of several the first by name.
const VirtualMachineInstance* ListerOf(const World& world, const Pod& pod);
struct Units {
  bool malformed = false;
  int64_t allocatable = 0;
};
Units AllocatableOf(const Node& node, const std::string& resource);
// `set` is left out of the sum; -1 for all. Its members that are being
// deleted are not.
int64_t Booked(const World& world, const std::string& node,
               const std::string& resource, int set);
int64_t Raw(const World& world, const std::string& node,
            const std::string& resource, int set);
// The effective request of the pod.
int64_t RequestOf(const Pod& pod, const std::string& resource);

// eligibility.cc: N1 to N5 and C8.
struct Ask {
  int set = -1;
  std::vector<int> claims;         // those to be placed together
  bool templates = false;          // and the missing ones
  const Pod* pod = nullptr;        // whose units count (C8)
  const Pod* pod_rules = nullptr;  // whose selectors count (N3)
  bool rejections = true;
};
// By resource, what the set or its pod needs on that node.
std::map<std::string, int64_t> DemandOn(const World& world, const Ask& ask,
                                        const std::string& node);
std::vector<Why> Obstacles(const World& world, const Ask& ask,
                           const Node& node);
// N1, of one class alone.
bool ServesClass(const World& world, const GpuClass& of, const Node& node);
// N5.
std::string FingerprintOf(const Node& node, const RejectedNode& entry);
// `node` is the one of that name, or null.
bool IsLive(const World& world, const RejectedNode& entry, const Node* node);
// Only those of C8.
std::vector<Why> LackOfUnits(const World& world, const Ask& ask,
                             const Node& node);
std::set<std::string> ClassesOf(const World& world, const Ask& ask);

// budget.cc: C4 and C7. Each key under which the order, its claims and with
// `templates` the missing ones, is more than its pool has left.
std::vector<Why> OverBudget(const World& world, const Ask& order);

// choice.cc: G4.
struct Choice {
  const Node* node = nullptr;
  std::map<std::string, std::vector<Why>> nodes;  // every node, by name
};
Choice Choose(const World& world, const Ask& ask);
// Free units of the set's resources after it was placed there, summed.
int64_t FreeAfter(const World& world, const Ask& ask, const Node& node);

// keeps.cc: N6, N7.

// All that speaks against keeping the claims on the node.
struct Grounds {
  std::set<v1::Reason> reasons;
  bool cordon = false;      // its cordon too, and they may leave for that
  bool class_gone = false;  // then nothing but taints and labels is asked
  bool unsure = false;      // the rules do not say
};
Grounds GroundsAgainst(const World& world, const SetState& set,
                       const std::vector<int>& claims, const std::string& node);
// The reasons with which what a node does not keep may go Lost: the first, or
// the want of units where it is not said who leaves for it.
std::set<v1::Reason> WhyLost(const Grounds& grounds);
Keeps KeepsSet(const World& world, const SetState& set,
               const std::vector<int>& claims, const std::string& node);
// Who leaves the nodes that are short, as things are now.
void ChooseVictims(World& world);
// A taint that only says what readiness and cordon say (N8).
bool IsConditionTaint(const Taint& taint);

// judge_start.cc: why no start is tried for a gated set, whatever its nodes
// say; empty: it is.
std::set<Why> StartStops(const World& world, int set);

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_RULES_H_
