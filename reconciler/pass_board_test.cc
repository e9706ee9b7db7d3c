#include "reconciler/pass_board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1767225600);

// Two nodes of 8 and 2, a class, and orders for them.
class PassBoardTest : public testing::Test {
 protected:
  PassBoardTest() {
    Add(Node{.meta = {.name = "a"},
             .allocatable = {{"nvidia.com/H100", "8"}, {"nvidia.com/A30", "1"}},
             .conditions = {{.type = "Ready", .status = "True"}}});
    Add(Node{.meta = {.name = "b"},
             .allocatable = {{"nvidia.com/H100", "2"}},
             .conditions = {{.type = "Ready", .status = "True"}}});
    Add(GpuClass{.meta = {.name = "h100"},
                 .resource_name = "nvidia.com/H100",
                 .max_count = 16});
  }

  template <typename T>
  void Add(T object) {
    object.meta.uid = absl::StrCat("uid-", object.meta.name);
    object.meta.resource_version = absl::StrCat(++sequence_);
    v1::Record record;
    record.set_sequence(sequence_);
    v1::ObjectEvent& event = *record.mutable_object();
    event.set_type(v1::ObjectEvent::ADDED);
    const absl::string_view kind = KindName(KindOf(Object(object)));
    event.set_kind(kind.data(), kind.size());
    event.set_namespace_(object.meta.name_space);
    event.set_name(object.meta.name);
    event.set_uid(object.meta.uid);
    event.set_resource_version(object.meta.resource_version);
    Fold(record, Object(std::move(object)), snapshot_);
  }
  void AddClaim(std::string name, int64_t units, int age_seconds) {
    Add(GpuClaim{.meta = {.name_space = "t",
                          .name = std::move(name),
                          .created = kNow - absl::Seconds(age_seconds)},
                 .class_name = "h100",
                 .units = units});
  }
  std::shared_ptr<const PublishedPass> Publish() {
    const PassResult result = RunPass(snapshot_, kNow);
    v1::Record record;
    record.set_sequence(++sequence_);
    record.set_role(v1::LEADER);
    *record.mutable_decision() = ToRecord(result, sequence_ - 1);
    Fold(record, std::nullopt, snapshot_);
    v1::Source source;
    source.set_sequence(sequence_);
    previous_ = PublishPass(result, snapshot_, source, previous_.get());
    ExpectSame(*previous_, *PublishPass(result, snapshot_, source, nullptr));
    return previous_;
  }

  // What is shared with the pass before is as if it were made anew.
  static void ExpectSame(const PublishedPass& one, const PublishedPass& other) {
    EXPECT_EQ(TextOf(one), TextOf(other));
  }
  static std::string TextOf(const PublishedPass& pass) {
    std::string text;
    for (const auto& [name, space] : pass.namespaces) {
      absl::StrAppend(&text, name, " ", space->waiting, "\n");
      for (const PublishedSet& set : space->sets) {
        absl::StrAppend(&text, set.age_unix_nanos, " ",
                        set.explanation.ShortDebugString(), "\n");
        for (const v1::Member& member : set.members) {
          absl::StrAppend(&text, member.ShortDebugString(), "\n");
        }
      }
    }
    for (const auto& node : pass.nodes) {
      absl::StrAppend(&text, node->name, "\n");
      for (const v1::NodeUnits& units : node->units) {
        absl::StrAppend(&text, units.ShortDebugString(), "\n");
      }
    }
    return text;
  }

  Snapshot snapshot_;
  uint64_t sequence_ = 0;
  std::shared_ptr<const PublishedPass> previous_;
};

TEST_F(PassBoardTest, WaitingClaimHasEachNodesVerdict) {
  AddClaim("big", 12, 10);
  const auto pass = Publish();
  const PublishedSet* set = pass->Find("t", "big");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->explanation.reason(), v1::NO_NODE_FITS);
  EXPECT_TRUE(set->waiting());
  std::vector<std::string> nodes;
  set->judged.ForEachNode([&](const std::string& node, size_t group) {
    const v1::ReasonDetail& first = (*set->judged.groups()[group].reasons)[0];
    nodes.push_back(
        absl::StrCat(node, " ", first.free(), " of ", first.wanted()));
  });
  EXPECT_EQ(nodes, (std::vector<std::string>{"a 8 of 12", "b 2 of 12"}));
  ASSERT_EQ(set->members.size(), 1u);
  EXPECT_EQ(set->members[0].name(), "big");
  EXPECT_EQ(set->members[0].phase(), "Pending");
  EXPECT_EQ(set->members[0].class_name(), "h100");
  EXPECT_EQ(set->members[0].units(), 12);
}

TEST_F(PassBoardTest, SetsAreInTheOrderOfTheQueue) {
  AddClaim("young", 12, 10);
  AddClaim("old", 12, 30);
  AddClaim("middle", 12, 20);
  const auto pass = Publish();
  const std::vector<PublishedSet>& sets = pass->namespaces.at("t")->sets;
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].explanation.name(), "old");
  EXPECT_EQ(sets[1].explanation.name(), "middle");
  EXPECT_EQ(sets[2].explanation.name(), "young");
}

TEST_F(PassBoardTest, UnitsShowWhatThePassHasDecided) {
  AddClaim("fits", 3, 10);
  const auto pass = Publish();
  ASSERT_NE(pass->Find("t", "fits"), nullptr);
  EXPECT_EQ(pass->Find("t", "fits")->explanation.reason(), v1::PLACED);
  EXPECT_FALSE(pass->Find("t", "fits")->waiting());
  std::vector<std::string> lines;
  for (const auto& node : pass->nodes) {
    for (const v1::NodeUnits& units : node->units) {
      lines.push_back(absl::StrCat(units.node(), " ", units.resource(), " ",
                                   units.allocatable(), " ", units.booked(),
                                   " ", units.raw(), " ", units.free()));
    }
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"a nvidia.com/A30 1 0 0 1",
                                             "a nvidia.com/H100 8 3 0 5",
                                             "b nvidia.com/H100 2 0 0 2"}));
}

TEST_F(PassBoardTest, AVerdictThatIsNoNewsIsPublishedAgain) {
  AddClaim("big", 12, 10);
  Publish();
  const auto pass = Publish();
  EXPECT_EQ(pass->Find("t", "big")->explanation.reason(), v1::NO_NODE_FITS);
  EXPECT_EQ(pass->source.sequence(), sequence_);
}

TEST_F(PassBoardTest, PassesShareTheNamespacesAndNodesThatNothingTouched) {
  Add(GpuClass{.meta = {.name = "a30", .finalizers = {kClassFinalizer}},
               .resource_name = "nvidia.com/A30",
               .max_count = 16});
  Add(GpuClaim{.meta = {.name_space = "u",
                        .name = "settled",
                        .finalizers = {kClaimFinalizer}},
               .class_name = "a30",
               .units = 1,
               .phase = "Bound",
               .node_name = "a",
               .resource_name = "nvidia.com/A30",
               .conditions = {{.type = "Bound",
                               .status = "True",
                               .reason = "Placed",
                               .message = "Placed on a"}}});
  AddClaim("big", 12, 10);
  for (int pass = 0; pass < 3; ++pass) Publish();
  const auto before = Publish();
  AddClaim("more", 12, 5);
  const auto more = Publish();
  EXPECT_EQ(more->namespaces.at("u"), before->namespaces.at("u"));
  EXPECT_EQ(more->nodes, before->nodes);
  EXPECT_EQ(more->namespaces.at("t")->sets.size(), 2u);
  EXPECT_EQ(before->namespaces.at("t")->sets.size(), 1u);
  Add(Node{.meta = {.name = "b"},
           .allocatable = {{"nvidia.com/H100", "4"}},
           .conditions = {{.type = "Ready", .status = "True"}}});
  const auto larger = Publish();
  EXPECT_EQ(larger->namespaces.at("u"), before->namespaces.at("u"));
  EXPECT_EQ(larger->nodes[0], before->nodes[0]);
  EXPECT_EQ(larger->nodes[1]->units[0].allocatable(), 4);
  EXPECT_EQ(before->nodes[1]->units[0].allocatable(), 2);
}

TEST_F(PassBoardTest, VmIsFoundByItsNameAndByItsClaims) {
  VirtualMachine vm{.meta = {.name_space = "t", .name = "web"}};
  vm.claims.present = true;
  vm.claims.entries = {{.claim_name = "x"}, {.claim_name = "y"}};
  vm.run_strategy = "Always";
  Add(vm);
  AddClaim("x", 8, 20);
  AddClaim("y", 8, 10);
  AddClaim("web", 1, 5);  // a claim of the VM's name is another set
  Add(GpuClaimSet{.meta = {.name_space = "t", .name = "web"},
                  .rejected_nodes = {{.node_name = "b",
                                      .reason = "UnexpectedAdmissionError",
                                      .until = kNow + absl::Minutes(10)}}});
  const auto pass = Publish();
  const PublishedSet* set = pass->Find("t", "web");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->explanation.key(), "t/web");
  EXPECT_EQ(set->members.size(), 2u);
  EXPECT_EQ(pass->Find("t", "x"), set);
  EXPECT_EQ(pass->Find("t", "y"), set);
  ASSERT_EQ(set->rejections.size(), 1u);
  EXPECT_EQ(set->rejections[0].node_name(), "b");
  EXPECT_EQ(set->rejections[0].until_unix_seconds(), 1767226200);
  EXPECT_EQ(pass->Find("t", "z"), nullptr);
  EXPECT_EQ(pass->Find("u", "web"), nullptr);
}

TEST_F(PassBoardTest, AWriteThatIsRefusedIsShownUntilOneIsTaken) {
  AddClaim("x", 2, 20);
  const std::string key = Publish()->Find("t", "x")->explanation.key();
  EXPECT_TRUE(previous_->held_writes.empty());
  const auto& sent = snapshot_.in_flight;
  const auto bind = std::find_if(sent.begin(), sent.end(), [](const auto& one) {
    return one.second.has_bind_claim();
  });
  ASSERT_NE(bind, sent.end());
  v1::Record record;
  record.set_sequence(++sequence_);
  record.set_time_unix_nanos(absl::ToUnixNanos(kNow));
  v1::Outcome& outcome = *record.mutable_outcome();
  outcome.set_decision(bind->first.first);
  outcome.set_effect(bind->first.second);
  outcome.set_kind(v1::Outcome::REFUSED);
  outcome.set_code(403);
  outcome.set_message("no such right");
  Fold(record, std::nullopt, snapshot_);
  const v1::HeldWrite held = Publish()->held_writes.at(key);
  EXPECT_EQ(held.write(), "BindClaim of GPUClaim t/x");
  EXPECT_EQ(held.answer(), "403 no such right");
  EXPECT_EQ(held.tries(), 1);
  EXPECT_EQ(held.next_try_unix_seconds(), absl::ToUnixSeconds(kNow) + 1);
}

TEST(PassBoard, ReadersKeepThePassTheyGot) {
  PassBoard board;
  EXPECT_EQ(board.Latest(), nullptr);
  auto first = std::make_shared<PublishedPass>();
  first->source.set_sequence(1);
  board.Publish(std::move(first));
  const std::shared_ptr<const PublishedPass> kept = board.Latest();
  board.Publish(std::make_shared<PublishedPass>());
  EXPECT_EQ(kept->source.sequence(), 1u);
  EXPECT_EQ(board.Latest()->source.sequence(), 0u);
}

}  // namespace
}  // namespace gpubinder
