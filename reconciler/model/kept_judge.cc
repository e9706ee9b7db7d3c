#include "reconciler/model/kept_judge.h"

#include <algorithm>

#include "reconciler/model/capacity.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

// Shapes of VMs that start one after the other stay between them.
constexpr uint64_t kPassesKept = 8;

bool ReadChanges(const Snapshot& snapshot, const Books& books,
                 KeptJudge& kept) {
  if (!kept.facts.has_value() || kept.facts->IsWorn()) return false;
  for (const NameId node : kept.changed_nodes) {
    if (!kept.facts->Read(node, snapshot)) return false;
  }
  for (const auto* nodes : {&kept.changed_units, &kept.assumed}) {
    for (const NameId node : *nodes) kept.facts->ReadUses(node, books);
  }
  return true;
}

}  // namespace

void NoteChanges(const absl::btree_set<NameId>& nodes,
                 const absl::btree_set<NameId>& units, KeptJudge& kept) {
  if (!kept.facts.has_value()) return;
  kept.changed_nodes.insert(nodes.begin(), nodes.end());
  kept.changed_units.insert(units.begin(), units.end());
}

void CatchUp(const Snapshot& snapshot, const Books& books, KeptJudge& kept) {
  if (!ReadChanges(snapshot, books, kept)) {
    kept = {};
    kept.facts.emplace(snapshot);
  }
  kept.changed_nodes.clear();
  kept.changed_units.clear();
  kept.assumed.clear();
  for (const NameId node : books.ChangedNodes()) {
    kept.facts->ReadUses(node, books);
    kept.assumed.insert(node);
  }
}

void EndPass(KeptJudge& kept) {
  if (!kept.facts.has_value()) return;
  absl::btree_set<uint32_t> used;
  for (auto it = kept.shapes.begin(); it != kept.shapes.end();) {
    const Shape& shape = it->second;
    const uint32_t cells = shape.cells_number();
    if (shape.asked_in() + kPassesKept < kept.facts->pass() ||
        shape.IsWorn(*kept.facts) || kept.cells.at(cells).IsWorn()) {
      it = kept.shapes.erase(it);
    } else {
      used.insert(cells);
      ++it;
    }
  }
  for (auto it = kept.cells_of.begin(); it != kept.cells_of.end();) {
    if (used.contains(it->second)) {
      ++it;
      continue;
    }
    kept.cells.erase(it->second);
    it = kept.cells_of.erase(it);
  }
  if (kept.shapes.empty()) {
    kept = {};
  } else {
    kept.facts->EndPass();
  }
}

}  // namespace gpubinder
