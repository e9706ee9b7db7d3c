// The naive model: a second, slow and short implementation of the rules of
// the binder pass, written from the specification alone. Its one reader is
// judge.h. It shares the plain structs of objects with reconciler/model and
// nothing else: every question is answered by a loop over all objects.
//
// A World is the cluster of one snapshot in plain vectors, with what the pass
// under judgement has decided so far. Pointers in it point into itself or the
// snapshot, which must outlive it.

#ifndef RECONCILER_NAIVE_NAIVE_H_
#define RECONCILER_NAIVE_NAIVE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder::naive {

// Why not: the reason, what it is about, and its numbers.
struct Why {
  v1::Reason reason = v1::REASON_UNSPECIFIED;
  std::string about;
  int64_t wanted = 0, free = 0, allocatable = 0, booked = 0, raw = 0;
  std::string Text() const;
  bool operator<(const Why& other) const { return Text() < other.Text(); }
};

struct ClaimState {
  const GpuClaim* claim = nullptr;
  std::string phase, node;  // as decided so far
  std::string class_name;
  std::string resource;  // what its units are booked as
  int64_t units = 0;
  // Nodes where its units count in this pass: where it was seen, where a
  // write without answer may have put it, where the pass has put it.
  std::set<std::string> counts_on;
  int set = -1;
};

struct Wanted {
  std::string name, class_name;  // a template claim that does not exist
  int64_t units = 1;
};

struct SetState {
  std::string key, name_space, name;
  bool of_vm = false;
  const VirtualMachine* vm = nullptr;
  const VirtualMachineInstance* vmi = nullptr;  // a live one
  const Pod *gated = nullptr, *pinned = nullptr, *loose = nullptr;
  std::string pinned_node;
  std::vector<int> members, leaving;  // claims
  std::vector<Wanted> missing;
  std::set<Why> problems;        // stop starts and orders
  std::set<Why> start_problems;  // stop starts alone
  std::set<Why> order_problems;  // stop orders and new template claims
  absl::Time age = absl::InfiniteFuture();
  // A stopped VM names claims that are no members: whether that stops the
  // order of the others is not said.
  bool names_others = false;
  // A member that has or had a place, its class, or the VMI or its pod cannot
  // be read: it stays as it is.
  bool stuck = false;
  bool frozen = false;
};

// What a pod that the pass pins asks for beyond its claims.
struct Beyond {
  int set = -1;
  std::string node, resource;
  int64_t units = 0;
};

// A set on a node.
using Place = std::pair<int, std::string>;
enum class Keeps { kYes, kNo, kCordonOnly, kUnsure };

struct World {
  const Snapshot* snapshot = nullptr;
  absl::Time now;
  std::vector<const Node*> nodes;
  std::vector<const GpuClass*> classes;
  std::vector<const GpuClaimSet*> memories;
  std::vector<const VirtualMachine*> vms;
  std::vector<const VirtualMachineInstance*> vmis;
  std::vector<const Pod*> pods;
  std::vector<const Namespace*> namespaces;
  std::vector<const ResourceQuota*> quotas;
  std::vector<ClaimState> claims;
  std::vector<SetState> sets;  // oldest first
  // Rejections that the pass itself writes, by set key.
  std::map<std::string, std::vector<RejectedNode>> new_rejections;
  // Who holds a claim that nobody held before, by claim; of attachments that
  // the pass is to make.
  std::map<int, const VirtualMachineInstance*> attached;
  // N7, once they are chosen: kNo, or kUnsure.
  std::map<Place, Keeps> victims;
  std::vector<Beyond> beyond;
  // Stands for a template claim that this pass makes.
  GpuClaim not_yet;
};

// world.cc
World WorldOf(const Snapshot& snapshot, absl::Time now);
const Node* FindNode(const World& world, const std::string& name);
const GpuClass* FindClass(const World& world, const std::string& name);
const VirtualMachineInstance* VmiByUid(const World& world,
                                       const std::string& uid);
const VirtualMachineInstance* VmiByName(const World& world,
                                        const std::string& name_space,
                                        const std::string& name);
const VirtualMachine* VmByName(const World& world,
                               const std::string& name_space,
                               const std::string& name);
const Pod* PodByUid(const World& world, const std::string& uid);
bool Ended(const VirtualMachineInstance& vmi);
bool Ended(const Pod& pod);
// C5. Of a VMI that has a node: before it runs it migrates nowhere.
bool IsTargetPod(const Pod& pod, const VirtualMachineInstance& vmi);
bool IsCordoned(const Node& node);
std::string ReadyStatus(const Node& node);
// Nothing can be made there any more.
bool IsTerminating(const World& world, const std::string& name_space);
// The set's memory, where it is this VM's: what another owner has left in it
// says nothing.
const GpuClaimSet* MemoryOf(const World& world, const SetState& set);
// M4: the set's own memory says that its VMI was asked to end.
bool WasAskedToEnd(const World& world, const SetState& set);

// sets.cc: S1, the launcher (C5, G1), what is wrong with a set.
void FindSets(World& world);
// The node that our pin names, or nothing.
std::string PinOf(const Pod& pod);
// The uid of the VMI that a template claim was made for, or nothing.
std::string MadeFor(const GpuClaim& claim);
// The VMI that holds the claim by attachment, a live one.
const VirtualMachineInstance* HolderOf(const World& world,
                                       const GpuClaim& claim);
bool ClaimIsMalformed(const GpuClaim& claim);

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_NAIVE_H_
