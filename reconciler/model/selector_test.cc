#include "reconciler/model/selector.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/object_parts.h"

namespace gpubinder {
namespace {

using Values = std::vector<std::string>;

constexpr char kName[] = "metadata.name";

SelectorTerm Expressions(std::vector<Requirement> requirements) {
  return {.expressions = std::move(requirements)};
}
SelectorTerm Fields(std::vector<Requirement> requirements) {
  return {.fields = std::move(requirements)};
}
NodeSelector OneOf(std::vector<SelectorTerm> terms) {
  return {std::move(terms)};
}
Requirement NameIs(const std::string& name) { return {kName, "In", {name}}; }

// Whether a node "n" of these labels matches one term of one expression.
bool Holds(const Requirement& requirement, const StringMap& labels) {
  return MatchesNodeSelector(OneOf({Expressions({requirement})}), labels, "n");
}

// Upstream's rows about pod.spec.nodeSelector.
TEST(MatchesLabelsTest, WantsEveryPairByteForByte) {
  EXPECT_TRUE(MatchesLabels({}, {}));
  EXPECT_TRUE(MatchesLabels({}, {{"foo", "bar"}}));
  EXPECT_FALSE(MatchesLabels({{"foo", "bar"}}, {}));
  EXPECT_TRUE(MatchesLabels({{"foo", "bar"}}, {{"foo", "bar"}}));
  EXPECT_TRUE(MatchesLabels({{"foo", "bar"}}, {{"foo", "bar"}, {"baz", "b"}}));
  EXPECT_FALSE(MatchesLabels({{"foo", "bar"}, {"baz", "b"}}, {{"foo", "bar"}}));
  EXPECT_FALSE(MatchesLabels({{"foo", "bar"}}, {{"foo", "barrrrrr"}}));
  EXPECT_FALSE(MatchesLabels({{"foo", "bar"}}, {{"Foo", "bar"}}));
  EXPECT_FALSE(MatchesLabels({{"foo", ""}}, {}));
  // Values are not checked when matched.
  EXPECT_TRUE(MatchesLabels({{"a b", "-"}}, {{"a b", "-"}}));
}

struct Row {
  Requirement requirement;
  bool absent;   // holds without the label
  bool present;  // holds with label k = "5"
};

TEST(NodeSelectorTest, OperatorsHoldAsInTheTable) {
  const std::vector<Row> rows = {
      {{"k", "In", {"4", "5"}}, false, true},
      {{"k", "In", {"4"}}, false, false},
      {{"k", "In", {""}}, false, false},
      {{"k", "NotIn", {"4"}}, true, true},
      {{"k", "NotIn", {"4", "5"}}, true, false},
      {{"k", "NotIn", {""}}, true, true},
      {{"k", "Exists", {}}, false, true},
      {{"k", "DoesNotExist", {}}, true, false},
      {{"k", "Gt", {"4"}}, false, true},
      {{"k", "Gt", {"5"}}, false, false},
      {{"k", "Gt", {"6"}}, false, false},
      {{"k", "Lt", {"6"}}, false, true},
      {{"k", "Lt", {"5"}}, false, false},
      {{"k", "Lt", {"4"}}, false, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.requirement.op + " " +
                 testing::PrintToString(row.requirement.values));
    EXPECT_EQ(Holds(row.requirement, {{"other", "5"}}), row.absent);
    EXPECT_EQ(Holds(row.requirement, {{"k", "5"}}), row.present);
  }
}

TEST(NodeSelectorTest, AnEmptyLabelIsAValue) {
  EXPECT_TRUE(Holds({"k", "In", {""}}, {{"k", ""}}));
  EXPECT_FALSE(Holds({"k", "NotIn", {""}}, {{"k", ""}}));
  EXPECT_TRUE(Holds({"k", "Exists", {}}, {{"k", ""}}));
  EXPECT_FALSE(Holds({"k", "Gt", {"0"}}, {{"k", ""}}));
}

TEST(NodeSelectorTest, OrderingsReadBase10Int64) {
  EXPECT_TRUE(Holds({"k", "Gt", {"0204"}}, {{"k", "0206"}}));
  EXPECT_TRUE(Holds({"k", "Lt", {"10"}}, {{"k", "9"}}));
  EXPECT_TRUE(Holds({"k", "Gt", {"9223372036854775806"}},
                    {{"k", "9223372036854775807"}}));
  EXPECT_TRUE(Holds({"k", "Lt", {"1"}}, {{"k", "-3"}}));
  EXPECT_TRUE(Holds({"k", "Gt", {"1"}}, {{"k", "+3"}}));
  // Labels that are no such number: just false.
  for (const char* label : {"", "+", "-", "abc", "3.5", "3 ", " 3", "1_0",
                            "0x5", "--3", "9223372036854775808"}) {
    EXPECT_FALSE(Holds({"k", "Gt", {"1"}}, {{"k", label}})) << label;
    EXPECT_FALSE(Holds({"k", "Lt", {"100"}}, {{"k", label}})) << label;
  }
}

TEST(NodeSelectorTest, AParseErrorSpoilsItsTermAlone) {
  const StringMap labels = {{"k", "5"}};
  const std::vector<Requirement> bad = {
      {"k", "In", {}},
      {"k", "NotIn", {}},
      {"k", "Exists", {"5"}},
      {"k", "DoesNotExist", {"5"}},
      {"absent", "DoesNotExist", {"5"}},
      {"k", "Gt", {}},
      {"k", "Gt", {"1", "2"}},
      {"k", "Gt", {"one"}},
      {"k", "Gt", {"99999999999999999999"}},
      {"k", "Lt", {""}},
      // A signed number is no label value, a suffix no number.
      {"k", "Gt", {"-1"}},
      {"k", "Gt", {"+1"}},
      {"k", "Gt", {"1x"}},
      {"k", "Equals", {"5"}},
      {"k", "in", {"5"}},
      {"k", "", {"5"}},
      {"", "NotIn", {"5"}},
      {"invalid key", "NotIn", {"5"}},
      {"a/b/c", "DoesNotExist", {}},
      {"k", "NotIn", {"invalid value: ___@#$%^"}},
      {"k", "In", {"5", std::string(64, 'x')}},
  };
  for (const Requirement& requirement : bad) {
    SCOPED_TRACE(requirement.key + " " + requirement.op + " " +
                 testing::PrintToString(requirement.values));
    EXPECT_FALSE(Holds(requirement, labels));
    const Requirement good = {"k", "Exists", {}};
    EXPECT_FALSE(MatchesNodeSelector(OneOf({Expressions({good, requirement})}),
                                     labels, "n"));
    EXPECT_TRUE(MatchesNodeSelector(
        OneOf({Expressions({requirement}), Expressions({good})}), labels, "n"));
  }
}

TEST(NodeSelectorTest, NoTermAndEmptyTermsMatchNothing) {
  const StringMap labels = {{"foo", "bar"}};
  EXPECT_FALSE(MatchesNodeSelector({}, labels, "n"));
  EXPECT_FALSE(MatchesNodeSelector(OneOf({{}}), labels, "n"));
  EXPECT_FALSE(MatchesNodeSelector(OneOf({{}, {}}), labels, "n"));
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({{}, Expressions({{"foo", "Exists", {}}})}), labels, "n"));
}

TEST(NodeSelectorTest, TermsAreOredAndTheirPartsAnded) {
  const StringMap gpu = {{"GPU", "NVIDIA-GRID-K1"}};
  const Requirement exists = {"GPU", "Exists", {}};
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({Expressions({exists, {"GPU", "NotIn", {"AMD", "INTER"}}})}), gpu,
      "n"));
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Expressions({exists, {"GPU", "In", {"AMD", "INTER"}}})}), gpu,
      "n"));
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({Expressions({{"foo", "In", {"bar", "value2"}}}),
             Expressions({{"diffkey", "In", {"wrong", "value2"}}})}),
      {{"foo", "bar"}}, "n"));
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Expressions({{"foo", "In", {"value1", "value2"}}})}),
      {{"foo", "bar"}}, "n"));
}

TEST(NodeSelectorTest, MatchFieldsKnowTheName) {
  const StringMap labels = {{"foo", "bar"}};
  const Requirement bar = {"foo", "In", {"bar"}};
  const Requirement other = {"foo", "In", {"not-match-to-bar"}};
  EXPECT_TRUE(
      MatchesNodeSelector(OneOf({Fields({NameIs("node_1")})}), {}, "node_1"));
  EXPECT_FALSE(
      MatchesNodeSelector(OneOf({Fields({NameIs("node_1")})}), {}, "node_2"));
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({Fields({{kName, "NotIn", {"node_1"}}})}), {}, "node_2"));
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Fields({{kName, "NotIn", {"node_1"}}})}), {}, "node_1"));
  // Two terms, one that matches.
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({Fields({NameIs("node_1")}), Expressions({bar})}), labels,
      "node_2"));
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Fields({NameIs("node_1")}), Expressions({other})}), labels,
      "node_2"));
  // One term with both.
  const SelectorTerm both = {.expressions = {bar},
                             .fields = {NameIs("node_1")}};
  EXPECT_FALSE(MatchesNodeSelector(OneOf({both}), labels, "node_2"));
  EXPECT_TRUE(MatchesNodeSelector(OneOf({both}), labels, "node_1"));
  EXPECT_FALSE(MatchesNodeSelector(OneOf({both}), {}, "node_1"));
  // Two names at once.
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Fields({NameIs("node_1"), NameIs("node_2")})}), {}, "node_1"));
}

TEST(NodeSelectorTest, MatchFieldsTakeInAndNotInWithOneValue) {
  for (const Requirement& bad :
       std::vector<Requirement>{{kName, "In", {"n", "m"}},
                                {kName, "In", {}},
                                {kName, "NotIn", {}},
                                {kName, "Exists", {}},
                                {kName, "DoesNotExist", {}},
                                {kName, "Gt", {"1"}},
                                {kName, "", {"n"}}}) {
    EXPECT_FALSE(MatchesNodeSelector(OneOf({Fields({bad})}), {}, "n"))
        << bad.op;
    EXPECT_TRUE(MatchesNodeSelector(
        OneOf({Fields({bad}), Fields({NameIs("n")})}), {}, "n"))
        << bad.op;
  }
}

TEST(NodeSelectorTest, OtherFieldsReadAsEmpty) {
  EXPECT_FALSE(MatchesNodeSelector(
      OneOf({Fields({{"metadata.uid", "In", {"n"}}})}), {}, "n"));
  EXPECT_TRUE(MatchesNodeSelector(
      OneOf({Fields({{"metadata.uid", "NotIn", {"n"}}})}), {}, "n"));
}

TEST(VolumeAffinityTest, SeesLabelsOnly) {
  const StringMap labels = {{"kubernetes.io/hostname", "x"}};
  const Requirement here = {"kubernetes.io/hostname", "In", {"x"}};
  EXPECT_TRUE(MatchesVolumeAffinity(OneOf({Expressions({here})}), labels));
  EXPECT_FALSE(MatchesVolumeAffinity(OneOf({Expressions({here})}), {}));
  // matchFields are satisfied, alone and beside expressions.
  EXPECT_TRUE(MatchesVolumeAffinity(OneOf({Fields({NameIs("a")})}), labels));
  const SelectorTerm both = {.expressions = {here}, .fields = {NameIs("a")}};
  EXPECT_TRUE(MatchesVolumeAffinity(OneOf({both}), labels));
  EXPECT_FALSE(MatchesVolumeAffinity(OneOf({both}), {}));
  EXPECT_FALSE(
      MatchesVolumeAffinity(OneOf({Fields({{kName, "Exists", {}}})}), labels));
}

TEST(VolumeAffinityTest, EmptyTermsReachNothing) {
  EXPECT_FALSE(MatchesVolumeAffinity({}, {{"a", "b"}}));
  EXPECT_FALSE(MatchesVolumeAffinity(OneOf({{}, {}}), {{"a", "b"}}));
}

}  // namespace
}  // namespace gpubinder
