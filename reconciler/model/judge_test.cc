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
#include "reconciler/model/filter.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/random_cluster.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

const absl::Time kNow = RandomCluster::now();

uint64_t Seed() {
  const char* given = std::getenv("GPUBINDER_TEST_SEED");
  uint64_t seed = 0;
  if (given == nullptr || !absl::SimpleAtoi(given, &seed)) {
    seed = std::random_device()();
  }
  std::cout << "seed " << seed << " (GPUBINDER_TEST_SEED)\n";
  return seed;
}

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
    *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
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

// A node that is other than ever before, pass after pass: what is kept of the
// states that have gone is let go, and no answer shows it. Facts wear out first
// where shapes are asked for in turn, else shapes or their cells do.
enum class Asked { kInEachPass, kInTurn };

class WornJudgeTest : public testing::TestWithParam<Asked> {
 protected:
  WornJudgeTest() {
    node_.meta = {.name = "a", .uid = "a"};
    node_.conditions = {{.type = "Ready", .status = "True"}};
    picky_.node_selector = {{"zone", "z7"}};
    for (Demand& demand : demands_) {
      demand.name_space = "t";
      demand.needs = {
          {.resource = snapshot_.names.Intern("nvidia.com/H100"), .units = 2}};
    }
    demands_[0].classes = {&picky_};
    // The same labels and resources, unless they differ in the class.
    demands_[1].needs[0].units = 5;
    if (GetParam() == Asked::kInEachPass) demands_[1].classes = {&picky_};
  }
  // Each answer is that of a judge that knows no other pass.
  void ExpectJudgedAsAnew() {
    v1::Record record;
    *record.mutable_object() = EventOf(v1::ObjectEvent::MODIFIED, node_);
    Fold(record, node_, snapshot_);
    RefreshIndex(snapshot_);
    ++passes_;
    Ask(demands_[GetParam() == Asked::kInTurn ? passes_ % 2 : 0]);
    // Often enough that it is kept in between.
    if (passes_ % 5 == 0) Ask(demands_[1]);
    KeptJudge& kept = snapshot_.index.judge;
    EndPass(kept);
    const uint64_t pass = kept.facts.has_value() ? kept.facts->pass() : 0;
    if (pass <= std::exchange(pass_, pass)) ++let_go_;
  }
  void ExpectLetGoNowAndThen() const {
    EXPECT_GT(let_go_, 0);
    EXPECT_LT(let_go_, 10);
  }

  // Of one node up to some 1,000 states are kept.
  static constexpr int kPasses = 3'000;
  Node node_;

 private:
  void Ask(const Demand& demand) {
    const Books books(snapshot_);
    KeptJudge nothing;
    ASSERT_EQ(
        RowsOf(NodeJudge(snapshot_, books, snapshot_.index.judge)
                   .Judge(demand, {})
                   .nodes),
        RowsOf(NodeJudge(snapshot_, books, nothing).Judge(demand, {}).nodes));
  }

  Snapshot snapshot_;
  GpuClass picky_{.resource_name = "nvidia.com/H100"};
  Demand demands_[2];
  int passes_ = 0, let_go_ = 0;
  uint64_t pass_ = 0;  // by what is kept
};

TEST_P(WornJudgeTest, OfTaintsThatWereNeverSeenBefore) {
  for (int i = 0; i < kPasses && !HasFailure(); ++i) {
    node_.taints = {{absl::StrCat("k", i), "", "NoSchedule"}};
    ExpectJudgedAsAnew();
  }
  ExpectLetGoNowAndThen();
}

TEST_P(WornJudgeTest, OfLabelsThatWereNeverSeenBefore) {
  for (int i = 0; i < kPasses && !HasFailure(); ++i) {
    node_.meta.labels = {{"zone", absl::StrCat("z", i)}};
    ExpectJudgedAsAnew();
  }
  ExpectLetGoNowAndThen();
}

TEST_P(WornJudgeTest, OfUnitsThatWereNeverSeenBefore) {
  for (int i = 0; i < kPasses && !HasFailure(); ++i) {
    node_.allocatable = {{"nvidia.com/H100", absl::StrCat(i)}};
    ExpectJudgedAsAnew();
  }
  ExpectLetGoNowAndThen();
}

INSTANTIATE_TEST_SUITE_P(Asked, WornJudgeTest,
                         testing::Values(Asked::kInEachPass, Asked::kInTurn));

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
