// What a pass asks of the snapshot beyond single objects: the sets, the units
// in use, the budgets, and which sets have settled.
//
// All of it follows from the objects. It is kept from pass to pass so that a
// pass costs what has changed and what waits: the fold notes changes, and
// RefreshIndex brings the namespaces and nodes concerned up to date. A snapshot
// with a new index decides the same, byte for byte.

#ifndef RECONCILER_MODEL_INDEX_H_
#define RECONCILER_MODEL_INDEX_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/numeric/int128.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/kept_judge.h"
#include "reconciler/model/name_table.h"
#include "reconciler/model/node_use.h"
#include "reconciler/model/table.h"

namespace gpubinder {

// What the fold has changed since the index was last brought up to date.
struct IndexChanges {
  // Something that all sets depend on: a class, settings, who leads.
  bool everything = true;
  bool quotas = true;
  absl::btree_set<std::string> namespaces;
  absl::btree_set<NameId> nodes;  // the objects
  absl::btree_set<NameId> units;  // nodes on which other units are booked
};

struct ResourceUse {
  NameId resource = kNoName;
  NodeUse use;
};

struct VmiPlace {
  Row vmi = 0;
  NameId node = kNoName, resource = kNoName;
  auto operator<=>(const VmiPlace&) const = default;
};

// A set's place in PassIndex::sets. A number is reused after its set has gone.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = 0xffffffff;

struct IndexedSet {
  ClaimSet set;
  // As the last pass that looked at it left it.
  Verdict verdict;
  bool frozen = false;
  std::vector<NameId> nodes;  // on which it has Bound members
};

struct BudgetKey {
  std::string tenant, key;
  auto operator<=>(const BudgetKey&) const = default;
};

// A budget, see budget.h.
struct Pool {
  int64_t limit = 0, carved_out = 0;
  absl::int128 used = 0;
};

// A quota's entry that cannot be read and counts as 0.
struct BudgetProblem {
  std::string name_space, name;  // of the ResourceQuota
  FieldProblem problem;
};

// What the objects of one namespace add.
struct NamespaceIndex {
  std::vector<Slot> sets;
  std::vector<Row> loose;
  // Units that pods on nodes ask for: of no VMI, and of a VMI beyond what its
  // claims there cover.
  absl::btree_map<NodeAndResource, int64_t> raw;
  absl::btree_map<VmiPlace, int64_t> raw_of_vmi;
  // Units by the key of a budget; nothing while there are no budgets.
  absl::btree_map<std::string, int64_t> budget_use;
  // Raw units of a VMI that no claim of it covers, on whatever node.
  absl::btree_map<std::pair<Row, std::string>, int64_t> uncovered;
};

// Whether the set's launcher is on its node. Taints that keep others away do
// not count then, nor does the class's selector (N6).
enum class Launched : uint8_t { kNo, kYes };

// Whether nodes keep members of a class and give no cause to look at them: by
// the node's object alone.
enum class Kept : uint8_t { kUnknown, kYes, kLook };
struct Keeper {
  NameId class_name = kNoName;
  Launched launched = Launched::kNo;
  std::vector<Kept> answers;  // by name id of the node
};

// What is asked of each set in each pass, apart from the rest of it: asking
// all of them costs little more than reading these.
struct Footing {
  // A set of members of several classes is quiet too, but its answer is that of
  // several keepers.
  static constexpr uint32_t kNotQuiet = 0xffffffff, kSeveral = 0xfffffffe;

  // The place in PassIndex::keepers of who keeps the set. Where it is not
  // kNotQuiet nothing is to be done for the set by its own objects, and nothing
  // is said of it that was not recorded, as long as `node` keeps it.
  uint32_t keeper = kNotQuiet;
  NameId node = kNoName;
  bool restless = false;  // listed in PassIndex::restless
};

struct PassIndex {
  std::vector<IndexedSet> sets;   // by slot
  std::vector<Footing> footings;  // by slot
  std::vector<Slot> free_slots;
  std::vector<Slot> set_of_claim;  // by claim row
  absl::btree_map<std::string, NamespaceIndex> namespaces;
  absl::btree_set<Row> loose;  // claims of no set
  // Sets with Bound members there.
  absl::btree_map<NameId, absl::btree_set<Slot>> standing;

  // Sets that the next pass looks at, those of them that have `restless`.
  std::vector<Slot> restless;
  std::vector<Keeper> keepers;  // two of each class that was asked for
  // Namespaces that were brought up to date since the last pass.
  absl::btree_set<std::string> renewed;
  // Nodes whose units were counted since then.
  absl::btree_set<NameId> recounted;
  // The last pass had nothing to say of any class, and no class and no node
  // has changed since.
  bool classes_settled = false;

  absl::btree_map<NodeAndResource, absl::int128> raw;
  absl::btree_map<VmiPlace, int64_t> raw_of_vmi;
  std::vector<std::vector<ResourceUse>> uses;  // by name id; by resource id

  absl::btree_map<BudgetKey, Pool> pools;
  absl::btree_map<std::pair<Row, std::string>, int64_t> uncovered;
  std::vector<BudgetProblem> quota_problems;  // by namespace and name

  // How nodes were judged for sets that wait.
  KeptJudge judge;
  // By the key of a set: a judgement that gives the groups of its recorded
  // explanation. The fold takes it out with that.
  absl::btree_map<std::string, JudgedNodes> told;

  // The set of a claim; null: it is in none.
  const ClaimSet* SetOf(Row claim) const {
    const Slot slot = SlotOf(claim);
    return slot == kNoSlot ? nullptr : &sets[slot].set;
  }
  Slot SlotOf(Row claim) const {
    return claim < set_of_claim.size() ? set_of_claim[claim] : kNoSlot;
  }
};

// The slots of all sets, in the order of the steps. O(sets x log).
std::vector<Slot> SlotsInOrder(const PassIndex& index);

// Brings the index up to the records folded so far. O(objects of the
// namespaces that have changed x log + resources of the nodes that have).
void RefreshIndex(Snapshot& snapshot);

// Makes the next pass look at the set. O(1).
void LookAt(Slot slot, PassIndex& index);

// Makes the next pass look at every set again, for benchmarks and tests.
// O(sets).
void LookAtAll(PassIndex& index);

// The sets that a pass has to look at, in order; they are no longer listed as
// restless. Those that have settled are left out.
std::vector<Slot> TakeRestless(Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_INDEX_H_
