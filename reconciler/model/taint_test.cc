#include "reconciler/model/taint.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/object_parts.h"

namespace gpubinder {
namespace {

struct Row {
  Toleration toleration;  // key, operator, value, effect
  Taint taint;            // key, value, effect
  bool tolerated;
};

TEST(ToleratesTest, MatchesAsUpstreamDoes) {
  const std::vector<Row> rows = {
      // Upstream's rows.
      {{"foo", "Exists", "", "NoSchedule"}, {"foo", "", "NoSchedule"}, true},
      {{"foo", "Exists", "", "NoSchedule"}, {"foo", "bar", "NoSchedule"}, true},
      {{"", "Exists", "", "NoSchedule"}, {"foo", "bar", "NoSchedule"}, true},
      {{"foo", "Equal", "bar", "NoSchedule"},
       {"foo", "bar", "NoSchedule"},
       true},
      {{"foo", "Equal", "value1", "NoSchedule"},
       {"foo", "value2", "NoSchedule"},
       false},
      {{"foo", "Equal", "bar", "NoSchedule"},
       {"foo", "bar", "NoExecute"},
       false},
      // Lt and Gt never match: their gate is alpha and off.
      {{"sla", "Gt", "750", "NoSchedule"}, {"sla", "950", "NoSchedule"}, false},
      {{"sla", "Gt", "950", "NoSchedule"}, {"sla", "950", "NoSchedule"}, false},
      {{"sla", "Lt", "950", "NoSchedule"}, {"sla", "800", "NoSchedule"}, false},
      // No operator is Equal; both values may be empty.
      {{"foo", "", "bar", "NoSchedule"}, {"foo", "bar", "NoSchedule"}, true},
      {{"foo", "", "", ""}, {"foo", "", "NoExecute"}, true},
      {{"foo", "", "", ""}, {"foo", "bar", "NoExecute"}, false},
      // No effect is every effect.
      {{"foo", "Exists", "", ""}, {"foo", "", "NoSchedule"}, true},
      {{"foo", "Exists", "", ""}, {"foo", "", "PreferNoSchedule"}, true},
      {{"foo", "Exists", "", ""}, {"Foo", "", "NoSchedule"}, false},
      // Exists looks at no value, even where it has one.
      {{"foo", "Exists", "other", ""}, {"foo", "bar", "NoSchedule"}, true},
      // An empty key is match-all with Exists only.
      {{"", "Exists", "", ""}, {"any", "x", "NoExecute"}, true},
      {{"", "Equal", "", ""}, {"any", "x", "NoExecute"}, false},
      {{"", "", "x", ""}, {"any", "x", "NoExecute"}, true},
      // Words that are no operator.
      {{"foo", "exists", "bar", ""}, {"foo", "bar", "NoSchedule"}, false},
      {{"foo", "In", "bar", ""}, {"foo", "bar", "NoSchedule"}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Tolerates(row.toleration, row.taint), row.tolerated)
        << row.toleration.key << " " << row.toleration.op << " "
        << row.toleration.value << " " << row.toleration.effect << " / "
        << TaintText(row.taint);
  }
}

TEST(ToleratesTest, SecondsPlayNoRole) {
  EXPECT_TRUE(Tolerates({"foo", "Exists", "", "NoExecute", 0},
                        {"foo", "", "NoExecute"}));
}

std::vector<std::string> Texts(const std::vector<const Taint*>& taints) {
  std::vector<std::string> texts;
  for (const Taint* taint : taints) texts.push_back(TaintText(*taint));
  return texts;
}

using Names = std::vector<std::string>;

const std::vector<Taint>& MixedTaints() {
  static const auto* taints = new std::vector<Taint>{
      {"soft", "", "PreferNoSchedule"},
      {"node.kubernetes.io/not-ready", "", "NoSchedule"},
      {"node.kubernetes.io/unreachable", "", "NoExecute"},
      {"node.kubernetes.io/unschedulable", "", "NoSchedule"},
      {"dedicated", "gpu", "NoSchedule"},
      {"kubevirt.io/drain", "", "NoSchedule"},
      {"dedicated", "gpu", "NoExecute"},
      {"node.kubernetes.io/disk-pressure", "", "NoSchedule"},
      {"odd", "", "Sometimes"},
  };
  return *taints;
}

TEST(UntoleratedTest, NamesAllThatBlockInTheirOrder) {
  EXPECT_EQ(Texts(AllUntolerated(MixedTaints(), {}, TaintScope::kScheduling)),
            (Names{"dedicated=gpu:NoSchedule", "kubevirt.io/drain:NoSchedule",
                   "dedicated=gpu:NoExecute",
                   "node.kubernetes.io/disk-pressure:NoSchedule"}));
}

TEST(UntoleratedTest, RunningLaunchersMindNoExecuteOnly) {
  EXPECT_EQ(Texts(AllUntolerated(MixedTaints(), {}, TaintScope::kRunning)),
            Names{"dedicated=gpu:NoExecute"});
}

TEST(UntoleratedTest, AnyTolerationWillDo) {
  const std::vector<Toleration> tolerations = {
      {"other", "Exists", "", ""},
      {"dedicated", "Equal", "gpu", "NoSchedule"},
      {"kubevirt.io/drain", "Exists", "", ""}};
  EXPECT_EQ(Texts(AllUntolerated(MixedTaints(), tolerations,
                                 TaintScope::kScheduling)),
            (Names{"dedicated=gpu:NoExecute",
                   "node.kubernetes.io/disk-pressure:NoSchedule"}));
}

TEST(UntoleratedTest, FirstIsTheFirstOfAll) {
  const std::vector<Taint>& taints = MixedTaints();
  EXPECT_EQ(FirstUntolerated(taints, {}, TaintScope::kScheduling), &taints[4]);
  EXPECT_EQ(FirstUntolerated(taints, {}, TaintScope::kRunning), &taints[6]);
  const std::vector<Toleration> all = {{"", "Exists", "", ""}};
  EXPECT_EQ(FirstUntolerated(taints, all, TaintScope::kScheduling), nullptr);
  EXPECT_EQ(FirstUntolerated({}, {}, TaintScope::kScheduling), nullptr);
}

TEST(ConditionTaintTest, IsThreeKeysOfAnyEffect) {
  EXPECT_TRUE(IsConditionTaint({kTaintNotReady, "", "NoExecute"}));
  EXPECT_TRUE(IsConditionTaint({kTaintUnreachable, "", "NoSchedule"}));
  EXPECT_TRUE(IsConditionTaint({kTaintUnschedulable, "x", "NoSchedule"}));
  EXPECT_FALSE(IsConditionTaint({"kubevirt.io/drain", "", "NoSchedule"}));
  EXPECT_FALSE(
      IsConditionTaint({"node.kubernetes.io/out-of-service", "", "NoExecute"}));
}

TEST(TaintTextTest, LeavesOutAnEmptyValue) {
  EXPECT_EQ(TaintText({"k", "v", "NoSchedule"}), "k=v:NoSchedule");
  EXPECT_EQ(TaintText({"k", "", "NoExecute"}), "k:NoExecute");
}

using Tolerations = std::vector<Toleration>;

TEST(MissingTolerationsTest, NoOperatorIsEqual) {
  const Tolerations have = {{"a", "", "v", "NoSchedule"},
                            {"b", "Equal", "v", ""}};
  EXPECT_TRUE(
      MissingTolerations(have, Tolerations{{"a", "Equal", "v", "NoSchedule"},
                                           {"b", "", "v", ""}})
          .empty());
}

TEST(MissingTolerationsTest, EveryOtherFieldCounts) {
  const Tolerations have = {{"a", "Equal", "v", "NoExecute", 60}};
  for (const Toleration& want :
       Tolerations{{"b", "Equal", "v", "NoExecute", 60},
                   {"a", "Exists", "v", "NoExecute", 60},
                   {"a", "Equal", "w", "NoExecute", 60},
                   {"a", "Equal", "v", "", 60},
                   {"a", "Equal", "v", "NoExecute", 61},
                   {"a", "Equal", "v", "NoExecute", std::nullopt}}) {
    EXPECT_EQ(MissingTolerations(have, Tolerations{want}).size(), 1u)
        << want.key << want.op << want.value << want.effect;
  }
  EXPECT_TRUE(MissingTolerations(have, have).empty());
}

TEST(MissingTolerationsTest, GivesEachOnceInOrderAsWritten) {
  const Tolerations want = {{"b", "", "v", ""},
                            {"have", "Exists", "", ""},
                            {"a", "Exists", "", ""},
                            {"b", "Equal", "v", ""}};
  const Tolerations missing =
      MissingTolerations(Tolerations{{"have", "Exists", "", ""}}, want);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].key, "b");
  EXPECT_EQ(missing[0].op, "");
  EXPECT_EQ(missing[1].key, "a");
}

TEST(MissingTolerationsTest, AWiderOneDoesNotStandForANarrowerOne) {
  EXPECT_EQ(MissingTolerations(Tolerations{{"", "Exists", "", ""}},
                               Tolerations{{"a", "Exists", "", ""}})
                .size(),
            1u);
}

}  // namespace
}  // namespace gpubinder
