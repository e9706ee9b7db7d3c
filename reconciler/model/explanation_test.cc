#include "reconciler/model/explanation.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/decision.pb.h"
#include "reconciler/model/testing/judge_as.h"

namespace gpubinder {
namespace {

v1::ReasonDetail Detail(v1::Reason reason) {
  v1::ReasonDetail detail;
  detail.set_reason(reason);
  return detail;
}

v1::ReasonDetail Short(int64_t wanted, int64_t free) {
  v1::ReasonDetail detail = Detail(v1::INSUFFICIENT_UNITS);
  detail.set_resource("h100");
  detail.set_wanted(wanted);
  detail.set_free(free);
  return detail;
}

TEST(MessageOfTest, CountsNodesByReasonWithTheMostFree) {
  const Verdict verdict{
      .reason = v1::NO_NODE_FITS,
      .judged =
          JudgeAs({{.reasons = {Short(4, 1)}, .nodes = {"a"}},
                   {.reasons = {Short(4, 3)}, .nodes = {"b"}},
                   {.reasons = {Detail(v1::NODE_CORDONED)}, .nodes = {"c"}}})};
  EXPECT_EQ(MessageOf(verdict),
            "NoNodeFits: 1 node NodeCordoned, 2 nodes InsufficientUnits h100 "
            "(most free 3, wanted 4)");
}

TEST(MessageOfTest, CountsNodesThatWouldFit) {
  EXPECT_EQ(MessageOf({.reason = v1::NO_NODE_FITS,
                       .judged = JudgeAs({{.nodes = {"a"}}})}),
            "NoNodeFits: 1 node would fit, but the VM's pod is elsewhere");
  EXPECT_EQ(MessageOf({.reason = v1::NO_NODE_FITS,
                       .judged = JudgeAs({{.nodes = {"a", "b"}}})}),
            "NoNodeFits: 2 nodes would fit, but the VM's pod is elsewhere");
}

TEST(MessageOfTest, IsCutAtAWholeCharacterWithin1024Bytes) {
  for (int lead = 0; lead < 4; ++lead) {
    v1::ReasonDetail detail = Detail(v1::FOREIGN_GATE);
    std::string text(static_cast<size_t>(lead), 'x');
    for (int i = 0; i < 600; ++i) text += "\xe2\x82\xac";  // three bytes each
    detail.set_text(text);
    const std::string message =
        MessageOf({.reason = v1::FOREIGN_GATE, .details = {detail}});
    EXPECT_LE(message.size(), 1024u);
    EXPECT_GT(message.size(), 1024u - 3);
    ASSERT_EQ(message.substr(message.size() - 3), "...");
    // "ForeignGate: ", the lead, then whole characters only.
    EXPECT_EQ((message.size() - 3 - 13 - static_cast<size_t>(lead)) % 3, 0u);
  }
}

TEST(MessageOfTest, OneOfExactly1024BytesIsNotCut) {
  v1::ReasonDetail detail = Detail(v1::FOREIGN_GATE);
  detail.set_text(std::string(1024 - 13, 'x'));
  const std::string message =
      MessageOf({.reason = v1::FOREIGN_GATE, .details = {detail}});
  EXPECT_EQ(message, "ForeignGate: " + std::string(1011, 'x'));
}

TEST(MeaningOfTest, CountsAreNoNews) {
  EXPECT_EQ(MeaningOf("NoNodeFits: 1 node NodeCordoned, 2 nodes "
                      "InsufficientUnits h100 (most free 3, wanted 4)"),
            MeaningOf("NoNodeFits: 20 nodes NodeCordoned, 1 node "
                      "InsufficientUnits h100 (most free 0, wanted 4)"));
}

TEST(MeaningOfTest, NamesThatDifferInDigitsAreNews) {
  EXPECT_NE(MeaningOf("1 node ResourceNotServed nvidia.com/A10"),
            MeaningOf("1 node ResourceNotServed nvidia.com/A30"));
  EXPECT_NE(MeaningOf("ClaimNotFound claim x1"),
            MeaningOf("ClaimNotFound claim x2"));
  EXPECT_NE(MeaningOf("2 nodes NodeCordoned"),
            MeaningOf("2 nodes NodeNotReady"));
}

TEST(FirstReasonTest, IsTheFirstOfTheClosedListAndNoNodeFitsIsLast) {
  EXPECT_EQ(FirstReason({Detail(v1::OVER_BUDGET), Detail(v1::CLASS_NOT_FOUND)}),
            v1::CLASS_NOT_FOUND);
  EXPECT_EQ(FirstReason({}), v1::NO_NODE_FITS);
}

TEST(SummarizeTest, HasAtMostSixteenLinesAndNoneOnceTheSetIsPlaced) {
  std::vector<NodesAlike> groups;
  for (int i = 0; i < 20; ++i) {
    v1::ReasonDetail detail = Detail(v1::VOLUME_NOT_REACHABLE);
    detail.set_claim("disk-" + std::to_string(100 + i));
    groups.push_back({.reasons = {detail},
                      .nodes = {absl::StrCat("a", i), absl::StrCat("b", i)}});
  }
  Verdict verdict{.reason = v1::NO_NODE_FITS, .judged = JudgeAs(groups)};
  const std::vector<v1::SummaryLine> lines = Summarize(verdict);
  ASSERT_EQ(lines.size(), 16u);
  EXPECT_EQ(lines[0].key(), "disk-100");
  EXPECT_EQ(lines[0].nodes(), 2u);
  EXPECT_EQ(lines[0].example(), "a0");
  verdict.reason = v1::PLACED;
  EXPECT_TRUE(Summarize(verdict).empty());
}

// Each field of a reason, changed alone, is another reason: a field that is
// added to the proto and not compared would be news that is not told.
TEST(HasGroupsTest, SeesEachFieldOfAReason) {
  Verdict verdict{.details = {Short(4, 1)},
                  .judged = JudgeAs({{.reasons = {Short(4, 1)}, .nodes = {"a"}},
                                     {.reasons = {}, .nodes = {"b", "c"}}})};
  v1::Explanation recorded;
  FillGroups(verdict, recorded);
  EXPECT_TRUE(HasReasons(recorded, verdict));
  EXPECT_TRUE(HasGroups(recorded, verdict.judged));
  const google::protobuf::Descriptor& type = *v1::ReasonDetail::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type.field(i);
    v1::Explanation other = recorded;
    for (v1::ReasonDetail* detail :
         {other.mutable_set_reasons(0),
          other.mutable_groups(0)->mutable_reasons(0)}) {
      const google::protobuf::Reflection& access = *detail->GetReflection();
      if (field->cpp_type() ==
          google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
        access.SetString(detail, field, "another");
      } else if (field->cpp_type() ==
                 google::protobuf::FieldDescriptor::CPPTYPE_INT64) {
        access.SetInt64(detail, field, 99);
      } else {
        access.SetEnumValue(detail, field, v1::OVER_BUDGET);
      }
    }
    EXPECT_FALSE(HasReasons(other, verdict)) << field->name();
    EXPECT_FALSE(HasGroups(other, verdict.judged)) << field->name();
  }
}

TEST(HasGroupsTest, SeesEachGroupsNodes) {
  const JudgedNodes judged =
      JudgeAs({{.reasons = {Short(4, 1)}, .nodes = {"a", "b"}}});
  for (const auto& nodes : std::vector<std::vector<std::string>>{
           {"a"}, {"b", "c"}, {"a", "b", "c"}}) {
    const Verdict verdict{
        .judged = JudgeAs({{.reasons = {Short(4, 1)}, .nodes = nodes}})};
    v1::Explanation recorded;
    FillGroups(verdict, recorded);
    EXPECT_FALSE(HasGroups(recorded, judged));
  }
}

TEST(MeaningOfTest, ANumberWithLettersBehindItIsNoCount) {
  EXPECT_NE(MeaningOf("volume 1a"), MeaningOf("volume 2a"));
}

TEST(JudgedNodesTest, WhereNoneWasJudgedNoneIsFound) {
  EXPECT_EQ(JudgedNodes().Find("a"), nullptr);
}

}  // namespace
}  // namespace gpubinder
