#include "reconciler/pass_board.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "reconciler/model/capacity.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/effect.h"

namespace gpubinder {
namespace {

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kBound:
      return "Bound";
    case Phase::kLost:
      return "Lost";
    case Phase::kPending:
      break;
  }
  return "Pending";
}

v1::Member MemberOf(Row claim, const Snapshot& snapshot) {
  const ClaimColumns& columns = snapshot.claim_columns;
  v1::Member member;
  member.set_name(snapshot.claims()[claim].meta.name);
  const absl::string_view phase = PhaseName(columns.phase[claim]);
  member.set_phase(phase.data(), phase.size());
  member.set_class_name(snapshot.names.Text(columns.class_name[claim]));
  member.set_units(columns.units[claim]);
  member.set_node(snapshot.names.Text(columns.node[claim]));
  return member;
}

std::vector<v1::Member> MembersOf(const ClaimSet& set,
                                  const Snapshot& snapshot) {
  std::vector<v1::Member> members;
  for (const std::vector<Row>* rows : {&set.members, &set.leaving}) {
    for (const Row row : *rows) members.push_back(MemberOf(row, snapshot));
  }
  for (const MissingTemplate& missing : set.missing) {
    v1::Member& member = members.emplace_back();
    member.set_name(missing.name);
    member.set_class_name(missing.class_name);
    member.set_units(missing.units);
  }
  return members;
}

// A node that refused the VM stands in the VM's memory and in its claims;
// it is shown once, with the later end.
std::vector<v1::RejectionEntry> RejectionsOf(const ClaimSet& set,
                                             const Snapshot& snapshot) {
  absl::btree_map<std::string, const RejectedNode*> by_node;
  const auto add = [&](const std::vector<RejectedNode>& entries) {
    for (const RejectedNode& entry : entries) {
      const RejectedNode*& known = by_node[entry.node_name];
      if (known == nullptr || known->until < entry.until) known = &entry;
    }
  };
  if (set.of_vm) {
    const GpuClaimSet* memory =
        snapshot.claim_sets().Find(set.name_space, set.name);
    if (memory != nullptr) add(memory->rejected_nodes);
  }
  for (const Row row : set.members) add(snapshot.claims()[row].rejected_nodes);
  std::vector<v1::RejectionEntry> rejections;
  for (const auto& [node, entry] : by_node) {
    rejections.push_back(RejectionProto(*entry));
  }
  return rejections;
}

// The pass gives an explanation only where it differs from the one before.
v1::Explanation ExplanationOf(
    const ClaimSet& set,
    const absl::btree_map<std::string, const v1::Explanation*>& news,
    const Snapshot& snapshot) {
  const std::string key = set.key();
  if (auto found = news.find(key); found != news.end()) return *found->second;
  auto last = snapshot.explanations.find(key);
  if (last != snapshot.explanations.end()) return last->second;
  v1::Explanation explanation;
  explanation.set_key(key);
  explanation.set_namespace_(set.name_space);
  explanation.set_name(set.name);
  return explanation;
}

std::vector<PublishedSet> SetsOf(
    const NamespaceIndex& index,
    const absl::btree_map<std::string, const v1::Explanation*>& news,
    const Snapshot& snapshot) {
  std::vector<PublishedSet> sets;
  for (const Slot slot : index.sets) {
    const IndexedSet& entry = snapshot.index.sets[slot];
    sets.push_back({.age_unix_nanos = absl::ToUnixNanos(entry.set.age),
                    .explanation = ExplanationOf(entry.set, news, snapshot),
                    .judged = entry.verdict.judged,
                    .members = MembersOf(entry.set, snapshot),
                    .rejections = RejectionsOf(entry.set, snapshot)});
  }
  return sets;
}

std::vector<v1::NodeUnits> UnitsOf(const Node& node, NameId id,
                                   const Books& books,
                                   const Snapshot& snapshot) {
  std::vector<v1::NodeUnits> units;
  for (const auto& [resource, use] : books.UsesOf(id)) {
    v1::NodeUnits& line = units.emplace_back();
    line.set_node(node.meta.name);
    line.set_resource(snapshot.names.Text(resource));
    line.set_allocatable(use.allocatable);
    line.set_booked(use.booked);
    line.set_raw(use.raw);
    line.set_free(use.free());
  }
  std::sort(units.begin(), units.end(),
            [](const v1::NodeUnits& a, const v1::NodeUnits& b) {
              return a.resource() < b.resource();
            });
  return units;
}

void PublishNamespaces(const PassResult& result, const Snapshot& snapshot,
                       const PublishedPass* previous, PublishedPass& pass) {
  absl::btree_map<std::string, const v1::Explanation*> news;
  for (const v1::Explanation& explanation : result.explanations) {
    news[explanation.key()] = &explanation;
  }
  const auto& spaces = snapshot.index.namespaces;
  auto publish = [&](const std::string& name, const NamespaceIndex& index) {
    if (index.sets.empty()) {
      pass.namespaces.erase(name);
      return;
    }
    pass.namespaces[name] = std::make_shared<const PublishedNamespace>(
        NamespaceOf(SetsOf(index, news, snapshot)));
  };
  if (previous == nullptr) {
    for (const auto& [name, index] : spaces) publish(name, index);
    return;
  }
  pass.namespaces = previous->namespaces;
  for (const std::string& name : result.touched_namespaces) {
    auto found = spaces.find(name);
    publish(name, found == spaces.end() ? NamespaceIndex() : found->second);
  }
}

void PublishHeldWrites(const Snapshot& snapshot, PublishedPass& pass) {
  for (const auto& [key, rate] : snapshot.write_rates) {
    v1::HeldWrite& held = pass.held_writes[key];
    held.set_write(rate.write);
    held.set_answer(rate.answer);
    held.set_tries(rate.refusals);
    held.set_next_try_unix_seconds(absl::ToUnixSeconds(
        rate.until + absl::Seconds(1) - absl::Nanoseconds(1)));
  }
}

// Puts the node where it belongs by name, or takes it away when it has gone.
void PublishNode(NameId id, const Books& books, const Snapshot& snapshot,
                 PublishedPass& pass) {
  const std::string& name = snapshot.names.Text(id);
  auto place = std::lower_bound(pass.nodes.begin(), pass.nodes.end(), name,
                                [](const auto& node, const std::string& text) {
                                  return node->name < text;
                                });
  const bool there = place != pass.nodes.end() && (*place)->name == name;
  const Node* node = snapshot.nodes().Find("", name);
  if (node == nullptr) {
    if (there) pass.nodes.erase(place);
    return;
  }
  auto made = std::make_shared<const PublishedNode>(PublishedNode{
      .name = name, .units = UnitsOf(*node, id, books, snapshot)});
  if (there) {
    *place = std::move(made);
  } else {
    pass.nodes.insert(place, std::move(made));
  }
}

void PublishNodes(const PassResult& result, const Snapshot& snapshot,
                  const PublishedPass* previous, PublishedPass& pass) {
  const Books books(snapshot);
  pass.assumed = books.ChangedNodes();
  if (previous == nullptr) {
    for (const auto& [key, row] : snapshot.nodes().by_name()) {
      PublishNode(snapshot.node_columns.name[row], books, snapshot, pass);
    }
    return;
  }
  pass.nodes = previous->nodes;
  absl::btree_set<NameId> changed = result.touched_nodes;
  changed.insert(previous->assumed.begin(), previous->assumed.end());
  changed.insert(pass.assumed.begin(), pass.assumed.end());
  for (const NameId id : changed) PublishNode(id, books, snapshot, pass);
}

}  // namespace

PublishedNamespace NamespaceOf(std::vector<PublishedSet> sets) {
  PublishedNamespace made{.sets = std::move(sets)};
  std::sort(made.sets.begin(), made.sets.end(),
            [](const PublishedSet& a, const PublishedSet& b) {
              return std::tie(a.age_unix_nanos, a.explanation.key()) <
                     std::tie(b.age_unix_nanos, b.explanation.key());
            });
  for (size_t i = 0; i < made.sets.size(); ++i) {
    const PublishedSet& set = made.sets[i];
    const v1::Explanation& explanation = set.explanation;
    if (set.waiting()) ++made.waiting;
    if (explanation.key() ==
        KeyOfVmSet(explanation.namespace_(), explanation.name())) {
      made.by_vm[explanation.name()] = i;
    }
    for (const v1::Member& member : set.members) {
      made.by_claim[member.name()] = i;
    }
  }
  return made;
}

const PublishedSet* PublishedPass::Find(absl::string_view name_space,
                                        absl::string_view name) const {
  auto space = namespaces.find(name_space);
  if (space == namespaces.end()) return nullptr;
  for (const auto* index : {&space->second->by_vm, &space->second->by_claim}) {
    if (auto found = index->find(name); found != index->end()) {
      return &space->second->sets[found->second];
    }
  }
  return nullptr;
}

std::shared_ptr<const PublishedPass> PublishPass(
    const PassResult& result, const Snapshot& snapshot,
    const v1::Source& source, const PublishedPass* previous) {
  auto pass = std::make_shared<PublishedPass>();
  pass->source = source;
  PublishNamespaces(result, snapshot, previous, *pass);
  PublishNodes(result, snapshot, previous, *pass);
  PublishHeldWrites(snapshot, *pass);
  return pass;
}

void PassBoard::Publish(std::shared_ptr<const PublishedPass> pass) {
  {
    absl::MutexLock lock(&mu_);
    pass_.swap(pass);
  }
  // The old one goes here, outside the lock, or with its last reader.
}

std::shared_ptr<const PublishedPass> PassBoard::Latest() const {
  absl::MutexLock lock(&mu_);
  return pass_;
}

}  // namespace gpubinder
