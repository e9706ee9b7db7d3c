#include "reconciler/pass_board.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

std::vector<v1::NodeUnits> UnitsOf(const Snapshot& snapshot) {
  const Books books(snapshot);
  std::vector<v1::NodeUnits> units;
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const size_t first = units.size();
    for (const auto& [resource, use] :
         books.UsesOf(snapshot.node_columns.name[row])) {
      v1::NodeUnits& line = units.emplace_back();
      line.set_node(snapshot.nodes()[row].meta.name);
      line.set_resource(snapshot.names.Text(resource));
      line.set_allocatable(use.allocatable);
      line.set_booked(use.booked);
      line.set_raw(use.raw);
      line.set_free(use.free());
    }
    std::sort(units.begin() + static_cast<std::ptrdiff_t>(first), units.end(),
              [](const v1::NodeUnits& a, const v1::NodeUnits& b) {
                return a.resource() < b.resource();
              });
  }
  return units;
}

void Index(PublishedPass& pass) {
  for (size_t i = 0; i < pass.sets.size(); ++i) {
    const v1::Explanation& explanation = pass.sets[i].explanation;
    const std::string& name_space = explanation.namespace_();
    if (explanation.key() == KeyOfVmSet(name_space, explanation.name())) {
      pass.by_vm[NameKey(name_space, explanation.name())] = i;
    }
    for (const v1::Member& member : pass.sets[i].members) {
      pass.by_claim[NameKey(name_space, member.name())] = i;
    }
  }
}

}  // namespace

const PublishedSet* PublishedPass::Find(absl::string_view name_space,
                                        absl::string_view name) const {
  const std::string key = NameKey(name_space, name);
  for (const auto* index : {&by_vm, &by_claim}) {
    if (auto found = index->find(key); found != index->end()) {
      return &sets[found->second];
    }
  }
  return nullptr;
}

std::shared_ptr<const PublishedPass> PublishPass(const PassResult& result,
                                                 const Snapshot& snapshot,
                                                 const v1::Source& source) {
  absl::btree_map<std::string, const v1::Explanation*> news;
  for (const v1::Explanation& explanation : result.explanations) {
    news[explanation.key()] = &explanation;
  }
  auto pass = std::make_shared<PublishedPass>();
  pass->source = source;
  for (const SetView& view : ViewsOf(snapshot)) {
    pass->sets.push_back(
        {.age_unix_nanos = absl::ToUnixNanos(view.set.age),
         .explanation = ExplanationOf(view.set, news, snapshot),
         .judged = view.verdict.judged,
         .members = MembersOf(view.set, snapshot),
         .rejections = RejectionsOf(view.set, snapshot)});
  }
  std::sort(pass->sets.begin(), pass->sets.end(),
            [](const PublishedSet& a, const PublishedSet& b) {
              return std::tie(a.age_unix_nanos, a.explanation.key()) <
                     std::tie(b.age_unix_nanos, b.explanation.key());
            });
  Index(*pass);
  pass->units = UnitsOf(snapshot);
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
