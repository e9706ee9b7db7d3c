#include "reconciler/explain_answers.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/testing/judge_as.h"
#include "reconciler/pass_board.h"

namespace gpubinder {
namespace {

v1::ReasonDetail Lacks(int64_t free) {
  v1::ReasonDetail detail;
  detail.set_reason(v1::INSUFFICIENT_UNITS);
  detail.set_free(free);
  return detail;
}

// What a pass is made of, in the order of its sets.
struct Sets {
  std::vector<PublishedSet> sets;

  PublishedPass Pass() const {
    PublishedPass pass;
    pass.source.set_sequence(9);
    absl::btree_map<std::string, std::vector<PublishedSet>> spaces;
    for (const PublishedSet& set : sets) {
      spaces[set.explanation.namespace_()].push_back(set);
    }
    for (auto& [name, of_space] : spaces) {
      pass.namespaces[name] = std::make_shared<const PublishedNamespace>(
          NamespaceOf(std::move(of_space)));
    }
    return pass;
  }
};

// A VM's set, its place in the order given by its age.
void AddSet(Sets& made, std::string name_space, std::string name,
            v1::Reason reason, const std::vector<NodesAlike>& groups = {}) {
  PublishedSet set;
  set.age_unix_nanos = static_cast<int64_t>(made.sets.size() / 2);
  set.explanation.set_namespace_(name_space);
  set.explanation.set_name(name);
  set.explanation.set_key(absl::StrCat(name_space, "/", name));
  set.explanation.set_reason(reason);
  set.judged = JudgeAs(groups);
  made.sets.push_back(std::move(set));
}

v1::ExplainRequest Ask(std::string name_space, std::string name) {
  v1::ExplainRequest request;
  request.set_namespace_(std::move(name_space));
  request.set_name(std::move(name));
  request.set_rows(true);
  return request;
}

TEST(AnswerExplain, RowsAreByNodeAcrossGroups) {
  Sets pass;
  AddSet(pass, "t", "web", v1::NO_NODE_FITS,
         {{.reasons = {Lacks(3)}, .nodes = {"a", "c"}},
          {.reasons = {}, .nodes = {"b"}}});
  const auto answer = AnswerExplain(pass.Pass(), Ask("t", "web"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->rows_size(), 3);
  EXPECT_EQ(answer->rows(0).node(), "a");
  EXPECT_FALSE(answer->rows(0).fits());
  EXPECT_EQ(answer->rows(0).reasons(0).free(), 3);
  EXPECT_EQ(answer->rows(1).node(), "b");
  EXPECT_TRUE(answer->rows(1).fits());
  EXPECT_EQ(answer->rows(2).node(), "c");
  EXPECT_FALSE(answer->truncated());
  EXPECT_EQ(answer->source().sequence(), 9u);
}

TEST(AnswerExplain, AWriteThatIsHeldBackIsOfItsSetOnly) {
  Sets sets;
  AddSet(sets, "t", "web", v1::PLACED);
  AddSet(sets, "t", "other", v1::PLACED);
  PublishedPass pass = sets.Pass();
  pass.held_writes["t/web"].set_write("RecordRejection of GPUClaim t/y");
  EXPECT_EQ(AnswerExplain(pass, Ask("t", "web"))->held_write().write(),
            "RecordRejection of GPUClaim t/y");
  EXPECT_FALSE(AnswerExplain(pass, Ask("t", "other"))->has_held_write());
}

TEST(AnswerExplain, RowsOnlyWhenAskedFor) {
  Sets pass;
  AddSet(pass, "t", "web", v1::NO_NODE_FITS, {{.nodes = {"a"}}});
  v1::ExplainRequest request = Ask("t", "web");
  request.set_rows(false);
  EXPECT_EQ(AnswerExplain(pass.Pass(), request)->rows_size(), 0);
}

TEST(AnswerExplain, TooManyRowsAreCutAndSaidSo) {
  Sets pass;
  NodesAlike group{.reasons = {Lacks(3)}};
  for (int i = 0; i < 100'000; ++i) {
    group.nodes.push_back(absl::StrCat("node-with-a-rather-long-name-", i));
  }
  AddSet(pass, "t", "web", v1::NO_NODE_FITS, {group});
  const auto answer = AnswerExplain(pass.Pass(), Ask("t", "web"));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->truncated());
  EXPECT_GT(answer->rows_size(), 10'000);
  EXPECT_LE(answer->ByteSizeLong(), kMostAnswerBytes);
}

TEST(AnswerExplain, TooManyGroupsAreCutAndSaidSo) {
  Sets pass;
  AddSet(pass, "t", "web", v1::NO_NODE_FITS);
  for (int i = 0; i < 5'000; ++i) {
    v1::NodeGroup& group = *pass.sets[0].explanation.add_groups();
    group.set_example(std::string(1'000, 'x'));
  }
  const auto answer = AnswerExplain(pass.Pass(), Ask("t", "web"));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->truncated());
  EXPECT_GT(answer->explanation().groups_size(), 1'000);
  EXPECT_LE(answer->ByteSizeLong(), kMostAnswerBytes);
}

TEST(AnswerExplain, SaysWhatIsNotFound) {
  Sets pass;
  const absl::Status status =
      AnswerExplain(pass.Pass(), Ask("t", "x")).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(status.message(),
            "\"t/x\" is neither a VM or VMI that names claims nor a claim "
            "that is to be placed, as of sequence 9");
  EXPECT_TRUE(absl::IsInvalidArgument(AnswerExplain(pass.Pass(), {}).status()));
}

// All pages' sets by name.
std::string Walk(const Sets& pass, v1::ListSetsRequest request) {
  std::vector<std::string> pages;
  do {
    const auto answer = AnswerListSets(pass.Pass(), request);
    if (!answer.ok()) return answer.status().ToString();
    std::vector<std::string> names;
    for (const v1::Explanation& set : answer->sets()) {
      names.push_back(set.name());
    }
    pages.push_back(absl::StrJoin(names, " "));
    request.set_page_token(answer->next_page_token());
  } while (!request.page_token().empty());
  return absl::StrJoin(pages, "|");
}

TEST(AnswerListSets, PagesCoverEachSetOnce) {
  Sets pass;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    AddSet(pass, "t", name, v1::NO_NODE_FITS);
  }
  v1::ListSetsRequest request;
  EXPECT_EQ(Walk(pass, request), "a b c d e");
  request.set_page_size(2);
  EXPECT_EQ(Walk(pass, request), "a b|c d|e");
  request.set_page_size(5);
  EXPECT_EQ(Walk(pass, request), "a b c d e");
}

TEST(AnswerListSets, ChoosesByNamespaceAndWaiting) {
  Sets pass;
  AddSet(pass, "t", "a", v1::PLACED);
  AddSet(pass, "u", "b", v1::NO_NODE_FITS);
  AddSet(pass, "t", "c", v1::OVER_BUDGET);
  AddSet(pass, "t", "d", v1::PLACED_ON_CORDONED_NODE);
  v1::ListSetsRequest request;
  request.set_waiting_only(true);
  EXPECT_EQ(Walk(pass, request), "b c");
  request.set_namespace_("t");
  EXPECT_EQ(Walk(pass, request), "c");
  request.set_page_size(1);
  request.set_waiting_only(false);
  EXPECT_EQ(Walk(pass, request), "a|c|d");
}

TEST(AnswerListSets, GoesOnWhereASetHasGoneMeanwhile) {
  Sets pass;
  for (const char* name : {"a", "b", "c"}) {
    AddSet(pass, "t", name, v1::NO_NODE_FITS);
  }
  v1::ListSetsRequest request;
  request.set_page_size(2);
  request.set_page_token(
      AnswerListSets(pass.Pass(), request)->next_page_token());
  pass.sets.erase(pass.sets.begin() + 1);  // b, which the token names
  EXPECT_EQ(Walk(pass, request), "c");
}

TEST(AnswerListSets, LargeSetsMakeSmallPages) {
  Sets pass;
  for (const char* name : {"a", "b", "c"}) {
    AddSet(pass, "t", name, v1::NO_NODE_FITS);
    pass.sets.back().explanation.add_groups()->set_example(
        std::string(1'300'000, 'x'));
  }
  EXPECT_EQ(Walk(pass, {}), "a b|c");
}

TEST(AnswerListSets, RefusesWhatIsNoPage) {
  Sets pass;
  v1::ListSetsRequest request;
  request.set_page_size(-1);
  EXPECT_EQ(AnswerListSets(pass.Pass(), request).status().message(),
            "page_size is -1, legal is 0 (the usual) or more");
  request.set_page_size(1);
  for (const char* token : {"x", "x/t", "/", "99999999999999999999/a"}) {
    request.set_page_token(token);
    EXPECT_TRUE(
        absl::IsInvalidArgument(AnswerListSets(pass.Pass(), request).status()))
        << token;
  }
}

TEST(AnswerListNodes, PagesCoverEachLineOnce) {
  PublishedPass pass;
  for (const char* name : {"a", "b"}) {
    PublishedNode node{.name = name};
    for (const char* resource : {"nvidia.com/A", "nvidia.com/B"}) {
      v1::NodeUnits& units = node.units.emplace_back();
      units.set_node(name);
      units.set_resource(resource);
    }
    pass.nodes.push_back(std::make_shared<const PublishedNode>(node));
  }
  v1::ListNodesRequest request;
  EXPECT_EQ(AnswerListNodes(pass, request)->units_size(), 4);
  EXPECT_EQ(AnswerListNodes(pass, request)->next_page_token(), "");
  request.set_page_size(3);
  const auto first = AnswerListNodes(pass, request);
  EXPECT_EQ(first->units_size(), 3);
  request.set_page_token(first->next_page_token());
  const auto second = AnswerListNodes(pass, request);
  ASSERT_EQ(second->units_size(), 1);
  EXPECT_EQ(second->units(0).node(), "b");
  EXPECT_EQ(second->units(0).resource(), "nvidia.com/B");
  EXPECT_EQ(second->next_page_token(), "");
  request.set_page_token("nonsense");
  EXPECT_TRUE(absl::IsInvalidArgument(AnswerListNodes(pass, request).status()));
}

}  // namespace
}  // namespace gpubinder
