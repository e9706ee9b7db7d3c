// What is shared between sets and nodes must not be seen in any answer: for
// random clusters, sets and bookings in between, the judge says what JudgeNode
// says of each node.
//   GPUBINDER_TEST_SEED=N   the clusters

#include "reconciler/model/judge.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "reconciler/model/choice.h"
#include "reconciler/model/config.h"
#include "reconciler/model/filter.h"
#include "reconciler/model/fingerprint.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/plan.h"

namespace gpubinder {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

uint64_t Seed() {
  const char* given = std::getenv("GPUBINDER_TEST_SEED");
  uint64_t seed = 0;
  if (given == nullptr || !absl::SimpleAtoi(given, &seed)) {
    seed = std::random_device()();
  }
  std::cout << "seed " << seed << " (GPUBINDER_TEST_SEED)\n";
  return seed;
}

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed) : random_(seed) {
    nodes_ = 1 + Below(12);
    alike_ = Below(2) == 0;
    for (const Kind kind :
         {Kind::kVirtualMachineInstance, Kind::kSchedulingClass}) {
      snapshot_.kinds[static_cast<size_t>(kind)].served = Below(4) > 0;
    }
    for (int i = 0; i < 3; ++i) AddClass(i);
    for (int i = 0; i < nodes_; ++i) AddNode(i);
    for (int i = 0; i < 3; ++i) AddVolume(i);
    for (int i = 0; i < 2; ++i) AddSchedulingClass(i);
    for (int i = 0; i < 10; ++i) AddVm(i);
  }

  Snapshot& snapshot() { return snapshot_; }
  int nodes() const { return nodes_; }
  // Something that judging may depend on becomes another.
  void Change() {
    switch (Below(12)) {
      case 0:
        return Remove(Below(nodes_));
      case 1:
        return AddVolume(Below(3));
      case 2:
        return AddSchedulingClass(Below(2));
      case 3:
        return Odd(3) ? AddClass(Below(3)) : AddVm(Below(10));
      default:  // it may be one that was removed
        return AddNode(Below(nodes_));
    }
  }
  int Below(int n) {
    return std::uniform_int_distribution<>(0, n - 1)(random_);
  }

 private:
  void Add(const Object& object) {
    v1::Record record;
    record.mutable_object()->set_type(v1::ObjectEvent::ADDED);
    record.mutable_object()->set_kind(std::string(KindName(KindOf(object))));
    Fold(record, object, snapshot_);
  }
  void Remove(int i) {
    v1::Record record;
    v1::ObjectEvent& event = *record.mutable_object();
    event.set_type(v1::ObjectEvent::DELETED);
    event.set_kind(std::string(KindName(Kind::kNode)));
    event.set_name(absl::StrCat("n", i));
    const Node* node = snapshot_.nodes().Find("", event.name());
    if (node == nullptr) return;
    event.set_uid(node->meta.uid);
    Fold(record, std::nullopt, snapshot_);
  }
  // One time in n, and seldom where most is alike.
  bool Odd(int n) { return Below(alike_ ? 5 * n : n) == 0; }
  std::string Resource() { return Odd(2) ? "r/1" : "r/0"; }
  std::string Value() { return absl::StrCat(Below(alike_ ? 2 : 3)); }
  std::string NodeName() { return absl::StrCat("n", Below(nodes_ + 1)); }

  StringMap Selector() {
    StringMap selector;
    if (Odd(3)) selector["zone"] = Value();
    if (Odd(6)) selector["host"] = NodeName();
    return selector;
  }
  NodeSelector Terms() {
    NodeSelector selector;
    for (int i = Below(3); i >= 0; --i) {
      SelectorTerm& term = selector.terms.emplace_back();
      for (int j = Below(3); j > 0; --j) term.expressions.push_back(Wish());
      if (Below(3) == 0) {
        term.fields.push_back({.key = Below(4) > 0 ? "metadata.name" : "other",
                               .op = Below(2) > 0 ? "In" : "NotIn",
                               .values = {NodeName()}});
      }
    }
    return selector;
  }
  Requirement Wish() {
    switch (Below(7)) {
      case 0:
        return {.key = "zone", .op = "In", .values = {Value(), Value()}};
      case 1:
        return {.key = "zone", .op = "NotIn", .values = {Value()}};
      case 2:
        return {.key = "disk", .op = "Exists"};
      case 3:
        return {.key = "disk", .op = "DoesNotExist"};
      case 4:
        return {.key = "zone", .op = "Gt", .values = {Value()}};
      case 5:
        return {.key = "host", .op = "In", .values = {NodeName()}};
      default:  // does not parse
        return {.key = "zone", .op = "Lt", .values = {"many"}};
    }
  }

  void AddClass(int i) {
    GpuClass found{.resource_name = Resource(), .node_selector = Selector()};
    found.meta = {.name = absl::StrCat("c", i), .uid = absl::StrCat("c", i)};
    if (Below(2) == 0) found.tolerations = {{.key = "k", .op = "Exists"}};
    Add(found);
  }
  void AddNode(int i) {
    Node node;
    node.meta.name = absl::StrCat("n", i);
    const Node* there = snapshot_.nodes().Find("", node.meta.name);
    node.meta.uid = there != nullptr
                        ? there->meta.uid
                        : absl::StrCat(node.meta.name, "-", made_++);
    node.meta.labels["host"] = node.meta.name;
    if (!Odd(4)) node.meta.labels["zone"] = Value();
    if (Odd(2)) node.meta.labels["disk"] = "";
    if (!Odd(6)) node.meta.labels[kKubeVirtSchedulable] = "true";
    if (Odd(9)) node.meta.deleting = kNow;
    if (Odd(9))
      node.meta.problems = {{"spec", absl::StrCat("is bad ", Value())}};
    node.unschedulable = Odd(6);
    for (int j = Odd(2) ? 2 : 0; j > 0; --j) {
      node.taints.push_back(
          {.key = Below(2) > 0 ? "k" : "l",
           .value = Value(),
           .effect = Below(3) > 0 ? "NoSchedule" : "PreferNoSchedule"});
    }
    for (const char* resource : {"r/0", "r/1"}) {
      if (Odd(4)) continue;
      node.allocatable[resource] =
          Odd(9) ? "much" : absl::StrCat(alike_ ? 9 : Below(8));
    }
    node.conditions = {{.type = "Ready", .status = Odd(7) ? "False" : "True"}};
    Add(node);
  }
  // A PVC and, it may be, what it is bound to.
  void AddVolume(int i) {
    PersistentVolume volume{.claim_namespace = "t",
                            .claim_name = absl::StrCat("pvc", i)};
    volume.meta = {.name = absl::StrCat("pv", i), .uid = absl::StrCat("pv", i)};
    if (Below(3) > 0) volume.required = Terms();
    PersistentVolumeClaim claim{.volume_name = volume.meta.name,
                                .bind_completed = Below(4) > 0};
    claim.meta = {
        .name_space = "t", .name = volume.claim_name, .uid = volume.claim_name};
    if (Below(5) > 0) Add(volume);
    if (Below(5) > 0) Add(claim);
  }
  void AddSchedulingClass(int i) {
    SchedulingClass found{.node_selector = Selector()};
    if (Below(2) > 0) found.required = Terms();
    found.meta = {.name = absl::StrCat("s", i), .uid = absl::StrCat("s", i)};
    Add(found);
  }

  RejectedNode Rejection() {
    RejectedNode entry{.node_name = NodeName(), .until = kNow};
    entry.until += absl::Minutes(Below(5));
    const Node* node = snapshot_.nodes().Find("", entry.node_name);
    if (node != nullptr && Below(2) > 0) {
      entry.fingerprint = NodeFingerprint(*node, entry.resources);
    } else if (Below(2) > 0) {
      entry.fingerprint = "of another time";
    }
    return entry;
  }
  void AddClaim(const std::string& name, const std::string& vmi) {
    GpuClaim claim{.class_name = Odd(2) ? "c1" : "c0",
                   .units = 1 + (Odd(1) ? Below(3) : 0)};
    claim.meta = {.name_space = "t", .name = name, .uid = name};
    if (Below(3) == 0) {
      claim.phase = "Bound";
      claim.node_name = NodeName();
    }
    if (Below(8) == 0) claim.meta.deleting = kNow;
    if (Below(4) == 0) claim.rejected_nodes = {Rejection(), Rejection()};
    claim.attached_to = Attachment{.name = vmi, .uid = vmi};
    Add(claim);
  }
  // A VMI with a launcher and claims; it may run elsewhere too.
  void AddVm(int i) {
    const std::string name = absl::StrCat("vm", i);
    VirtualMachineInstance vmi;
    vmi.meta = {.name_space = "t", .name = name, .uid = name};
    vmi.claims.present = true;
    for (int j = Below(3); j >= 0; --j) {
      const std::string claim = absl::StrCat(name, "-", j);
      AddClaim(claim, name);
      vmi.claims.entries.push_back({.claim_name = claim});
    }
    if (Below(3) == 0) vmi.volume_claims = {"pvc0"};
    for (const char* suffix : {"-gated", "-runs"}) {
      if (Below(3) == 0) continue;
      Pod pod{.containers = {{.name = "c"}}};
      pod.meta = {.name_space = "t",
                  .name = absl::StrCat(name, suffix),
                  .uid = absl::StrCat(name, suffix)};
      pod.meta.owners = {{.kind = "VirtualMachineInstance",
                          .name = name,
                          .uid = name,
                          .controller = true}};
      pod.containers[0].requests[Resource()] =
          absl::StrCat(1 + (Odd(1) ? Below(3) : 0));
      if (std::string(suffix) == "-gated") {
        pod.gates = {kGate};
      } else {
        pod.node_name = NodeName();
        pod.phase = "Running";
      }
      Rule(pod);
      vmi.active_pods[pod.meta.uid] = pod.node_name;
      Add(pod);
    }
    Add(vmi);
  }
  void Rule(Pod& pod) {
    pod.node_selector = Selector();
    if (Below(3) == 0) pod.required = Terms();
    if (Below(3) == 0) {
      pod.meta.annotations[kSchedulingClassAnnotation] =
          absl::StrCat("s", Below(3));
    }
    for (int i = Below(3); i > 0; --i) {
      pod.volume_claims.push_back(absl::StrCat("pvc", Below(4)));
    }
  }

  std::mt19937_64 random_;
  int nodes_ = 0, made_ = 0;
  bool alike_ = false;  // most nodes, and most of what sets ask
  Snapshot snapshot_;
};

std::string Text(const Reasons& reasons) {
  std::string text;
  for (const v1::ReasonDetail& detail : reasons) {
    absl::StrAppend(&text, detail.ShortDebugString(), "; ");
  }
  return text;
}

using Rows = std::map<std::string, std::string>;

Rows RowsOf(const JudgedNodes& judged) {
  Rows rows;
  judged.ForEachNode([&](const std::string& node, size_t group) {
    rows[node] = Text(*judged.groups()[group].reasons);
  });
  return rows;
}

// One node after the other, as the rules are written.
struct Plainly {
  Rows rows;
  std::map<std::string, std::vector<std::string>> groups;  // by bytes
  std::string best;
};

Plainly JudgePlainly(const ClaimSet& set, const Demand& demand,
                     const Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  Plainly plainly;
  std::optional<std::tuple<int, int64_t, std::string>> best;
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const std::string& name = snapshot.nodes()[row].meta.name;
    const Reasons reasons = JudgeNode(row, demand, snapshot, plan.books());
    plainly.rows[name] = Text(reasons);
    std::string bytes;
    for (const v1::ReasonDetail& detail : reasons) {
      absl::StrAppend(&bytes, detail.SerializeAsString(), "\n");
    }
    plainly.groups[bytes].push_back(name);
    if (!reasons.empty()) continue;
    int moves = 0;
    for (const Row member : set.members) {
      moves += plan.phase(member) == Phase::kBound &&
               plan.node(member) != snapshot.node_columns.name[row];
    }
    const std::tuple<int, int64_t, std::string> candidate(
        moves, FreeAfter(row, demand, snapshot, plan.books()), name);
    if (!best.has_value() || candidate < *best) best = candidate;
  }
  if (best.has_value()) plainly.best = std::get<2>(*best);
  return plainly;
}

void ExpectSame(const Choice& choice, const Plainly& plainly,
                const Snapshot& snapshot) {
  EXPECT_EQ(RowsOf(choice.judged), plainly.rows);
  EXPECT_EQ(choice.node.has_value() ? snapshot.names.Text(*choice.node) : "",
            plainly.best);
  const std::vector<NodeGroup>& groups = choice.judged.groups();
  ASSERT_EQ(groups.size(), plainly.groups.size());
  size_t i = 0;
  for (const auto& [bytes, nodes] : plainly.groups) {
    EXPECT_EQ(groups[i].nodes, nodes.size());
    EXPECT_EQ(groups[i].example, nodes.front());
    EXPECT_EQ(Text(*groups[i].reasons), plainly.rows.at(nodes.front()));
    ++i;
  }
  for (const auto& [node, text] : plainly.rows) {
    const NodeGroup* group = choice.judged.Find(node);
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(Text(*group->reasons), text);
  }
  EXPECT_EQ(choice.judged.Find("nobody"), nullptr);
}

// What was said of nodes, and what it was then.
using Told = std::vector<std::pair<JudgedNodes, Rows>>;

// Asks for random sets of the snapshot and books some in between, as a pass.
void AskAtRandom(int questions, RandomCluster& cluster, Snapshot& snapshot,
                 Told& told) {
  RefreshIndex(snapshot);
  LookAtAll(snapshot.index);
  {
    Plan plan(snapshot, TakeRestless(snapshot), kNow);
    ASSERT_GT(plan.size(), 0u);
    for (int step = 0; step < questions; ++step) {
      const size_t index = cluster.Below(static_cast<int>(plan.size()));
      const ClaimSet& set = plan.set(index);
      const Demand demand = MakeDemand(set, snapshot, kNow);
      const Plainly plainly = JudgePlainly(set, demand, plan);
      const Choice choice = ChooseNode(set, demand, plan);
      ExpectSame(choice, plainly, snapshot);
      KeptJudge nothing;
      const JudgedNodes anew =
          NodeJudge(snapshot, plan.books(), nothing).Judge(demand, {}).nodes;
      EXPECT_EQ(RowsOf(anew), plainly.rows);
      if (testing::Test::HasFailure()) return;
      told.emplace_back(choice.judged, plainly.rows);
      // It may be one that has gone.
      const std::optional<NameId> node = snapshot.names.Find(
          absl::StrCat("n", cluster.Below(cluster.nodes() + 1)));
      if (!node.has_value() || cluster.Below(2) == 0) continue;
      plan.PlaceMembers(index, set.members, *node);
    }
  }
  EndPass(snapshot.index.judge);
}

TEST(JudgeTest, SaysOfEachNodeWhatJudgeNodeSays) {
  const uint64_t seed = Seed();
  for (uint64_t round = 0; round < 200; ++round) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round));
    RandomCluster cluster(seed + round);
    Told told;
    AskAtRandom(25, cluster, cluster.snapshot(), told);
    if (testing::Test::HasFailure()) return;
    // What was told is not changed by what came after.
    for (const auto& [judged, rows] : told) EXPECT_EQ(RowsOf(judged), rows);
  }
}

// From pass to pass nodes change, come and go, and so does what sets ask for.
TEST(JudgeTest, WhatIsKeptFromPassToPassIsSeenInNoAnswer) {
  const uint64_t seed = Seed();
  size_t kept = 0;
  for (uint64_t round = 0; round < 100; ++round) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round));
    RandomCluster cluster(seed + round);
    Told told;
    for (int pass = 0; pass < 12; ++pass) {
      SCOPED_TRACE(absl::StrCat("pass ", pass));
      const bool copied = cluster.Below(4) == 0;
      Snapshot other;
      if (copied) other = cluster.snapshot();
      AskAtRandom(cluster.Below(10), cluster, cluster.snapshot(), told);
      if (copied) AskAtRandom(cluster.Below(10), cluster, other, told);
      if (testing::Test::HasFailure()) return;
      kept += cluster.snapshot().index.judge.shapes.size();
      for (int i = cluster.Below(4); i > 0; --i) cluster.Change();
    }
    for (const auto& [judged, rows] : told) EXPECT_EQ(RowsOf(judged), rows);
  }
  EXPECT_GT(kept, 100u);
}

TEST(JudgeTest, ShapesThatAreNotAskedForAnyMoreAreForgotten) {
  RandomCluster cluster(1);
  Told told;
  AskAtRandom(10, cluster, cluster.snapshot(), told);
  KeptJudge& kept = cluster.snapshot().index.judge;
  EXPECT_FALSE(kept.shapes.empty());
  for (int pass = 0; pass < 20; ++pass) EndPass(kept);
  EXPECT_TRUE(kept.shapes.empty());
  EXPECT_TRUE(kept.cells.empty());
  EXPECT_FALSE(kept.facts.has_value());
}

// More selectors than a word has bits.
TEST(JudgeTest, TellsEachOfManyVolumesThatANodeDoesNotReach) {
  Snapshot snapshot;
  auto add = [&](const Object& object) {
    v1::Record record;
    record.mutable_object()->set_type(v1::ObjectEvent::ADDED);
    record.mutable_object()->set_kind(std::string(KindName(KindOf(object))));
    Fold(record, object, snapshot);
  };
  for (const char* name : {"a", "b", "c"}) {
    Node node;
    node.meta = {.name = name, .uid = name, .labels = {{"host", name}}};
    node.conditions = {{.type = "Ready", .status = "True"}};
    add(node);
  }
  Demand demand{.name_space = "t"};
  for (int i = 0; i < 150; ++i) {
    const std::string name = absl::StrCat("v", i);
    PersistentVolume volume{.claim_namespace = "t", .claim_name = name};
    volume.meta = {.name = name, .uid = name};
    const bool outermost = i == 0 || i == 149;  // on b, the others on a
    volume.required = NodeSelector{
        .terms = {{.expressions = {{.key = "host",
                                    .op = "In",
                                    .values = {outermost ? "b" : "a"}}}}}};
    add(volume);
    PersistentVolumeClaim claim{.volume_name = name, .bind_completed = true};
    claim.meta = {.name_space = "t", .name = name, .uid = name};
    add(claim);
    demand.volume_claims.push_back(name);
  }
  RefreshIndex(snapshot);
  const Books books(snapshot);
  KeptJudge kept;
  const JudgedNodes judged =
      NodeJudge(snapshot, books, kept).Judge(demand, {}).nodes;
  ASSERT_EQ(judged.groups().size(), 3u);
  EXPECT_EQ(judged.Find("a")->reasons->size(), 2u);
  EXPECT_EQ(judged.Find("b")->reasons->size(), 148u);
  EXPECT_EQ(judged.Find("c")->reasons->size(), 150u);
  EXPECT_EQ((*judged.Find("a")->reasons)[1].claim(), "v149");
}

TEST(JudgeTest, NoNodesAreNoGroups) {
  Snapshot snapshot;
  RefreshIndex(snapshot);
  const Books books(snapshot);
  KeptJudge kept;
  EXPECT_TRUE(
      NodeJudge(snapshot, books, kept).Judge(Demand(), {}).nodes.empty());
}

}  // namespace
}  // namespace gpubinder
