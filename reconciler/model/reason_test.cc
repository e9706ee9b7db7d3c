#include "reconciler/model/reason.h"

#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"

namespace gpubinder {
namespace {

// Each number of the enum but the zero.
std::set<v1::Reason> AllReasons() {
  std::set<v1::Reason> reasons;
  for (int number = v1::Reason_MIN; number <= v1::Reason_MAX; ++number) {
    if (v1::Reason_IsValid(number) && number != v1::REASON_UNSPECIFIED) {
      reasons.insert(static_cast<v1::Reason>(number));
    }
  }
  return reasons;
}

// The name by the rule: words capitalised, less where people write otherwise.
std::string CamelCase(const std::string& enum_name) {
  std::string name;
  bool starts_word = true;
  for (char c : enum_name) {
    if (c == '_') {
      starts_word = true;
      continue;
    }
    name += starts_word ? c : static_cast<char>(std::tolower(c));
    starts_word = false;
  }
  return absl::StrReplaceAll(name, {{"Kubevirt", "KubeVirt"}, {"Api", "API"}});
}

TEST(ReasonNameTest, EveryReasonHasItsName) {
  const std::set<v1::Reason> reasons = AllReasons();
  EXPECT_EQ(reasons.size(), 40u);
  for (v1::Reason reason : reasons) {
    EXPECT_EQ(ReasonName(reason), CamelCase(v1::Reason_Name(reason)));
    EXPECT_EQ(ReasonByName(ReasonName(reason)), reason);
  }
}

TEST(ReasonNameTest, WritesNamesAsPeopleDo) {
  EXPECT_EQ(ReasonName(v1::KUBEVIRT_NOT_READY), "KubeVirtNotReady");
  EXPECT_EQ(ReasonName(v1::START_REFUSED_BY_API), "StartRefusedByAPI");
  EXPECT_EQ(ReasonName(v1::NODE_NOT_READY), "NodeNotReady");
  EXPECT_EQ(ReasonName(v1::PLACED_ON_CORDONED_NODE), "PlacedOnCordonedNode");
}

TEST(ReasonNameTest, OthersHaveNone) {
  EXPECT_EQ(ReasonName(v1::REASON_UNSPECIFIED), "");
  EXPECT_EQ(ReasonName(static_cast<v1::Reason>(999)), "");
  EXPECT_EQ(ReasonByName(""), std::nullopt);
  EXPECT_EQ(ReasonByName("NODE_NOT_READY"), std::nullopt);
  EXPECT_EQ(ReasonByName("nodenotready"), std::nullopt);
}

v1::ReasonDetail Of(v1::Reason reason) {
  v1::ReasonDetail detail;
  detail.set_reason(reason);
  return detail;
}

TEST(ReasonTextTest, IsTheNameAloneWithoutMore) {
  EXPECT_EQ(ReasonText(Of(v1::NODE_NOT_READY)), "NodeNotReady");
  EXPECT_EQ(ReasonText(Of(v1::PLACED)), "Placed");
}

TEST(ReasonTextTest, SaysWhatIsNeededAndFree) {
  v1::ReasonDetail detail = Of(v1::INSUFFICIENT_UNITS);
  detail.set_resource("nvidia.com/H100");
  detail.set_wanted(4);
  detail.set_free(3);
  EXPECT_EQ(ReasonText(detail),
            "InsufficientUnits nvidia.com/H100 needs 4, free 3");
}

TEST(ReasonTextTest, SaysZeros) {
  v1::ReasonDetail detail = Of(v1::INSUFFICIENT_UNITS);
  detail.set_resource("nvidia.com/H100");
  detail.set_wanted(1);
  EXPECT_EQ(ReasonText(detail),
            "InsufficientUnits nvidia.com/H100 needs 1, free 0");
}

TEST(ReasonTextTest, NamesTaintAndClass) {
  v1::ReasonDetail detail = Of(v1::UNTOLERATED_TAINT);
  detail.set_taint("dedicated=gpu:NoSchedule");
  detail.set_class_name("h100");
  EXPECT_EQ(ReasonText(detail),
            "UntoleratedTaint dedicated=gpu:NoSchedule class h100");
  detail.set_reason(v1::NODE_TAINTED);
  EXPECT_EQ(ReasonText(detail),
            "NodeTainted dedicated=gpu:NoSchedule class h100");
}

TEST(ReasonTextTest, SaysUntilWhenInUtc) {
  v1::ReasonDetail detail = Of(v1::REJECTED_BY_NODE);
  detail.set_until_unix_seconds(1785542400);  // 20,666 days after 1970-01-01
  EXPECT_EQ(ReasonText(detail), "RejectedByNode until 2026-08-01T00:00:00Z");
}

TEST(ReasonTextTest, SaysTheBudgetAndItsUse) {
  v1::ReasonDetail detail = Of(v1::OVER_BUDGET);
  detail.set_key("requests.gpu.cozystack.io/h100");
  detail.set_pool("tenant-a");
  detail.set_wanted(4);
  detail.set_used(6);
  detail.set_limit(8);
  EXPECT_EQ(ReasonText(detail),
            "OverBudget requests.gpu.cozystack.io/h100 pool tenant-a needs 4, "
            "used 6 of 8");
}

TEST(ReasonTextTest, SaysTheMaximum) {
  v1::ReasonDetail detail = Of(v1::COUNT_ABOVE_MAXIMUM);
  detail.set_claim("a");
  detail.set_class_name("h100");
  detail.set_wanted(9);
  detail.set_limit(8);
  EXPECT_EQ(ReasonText(detail),
            "CountAboveMaximum claim a class h100 needs 9, at most 8");
}

TEST(ReasonTextTest, SaysWhatCapacityWasLost) {
  v1::ReasonDetail detail = Of(v1::NODE_LOST_CAPACITY);
  detail.set_resource("nvidia.com/H100");
  detail.set_allocatable(6);
  detail.set_booked(8);
  EXPECT_EQ(ReasonText(detail),
            "NodeLostCapacity nvidia.com/H100 allocatable 6, booked 8");
}

TEST(ReasonTextTest, NamesClaimAndVolume) {
  v1::ReasonDetail detail = Of(v1::VOLUME_NOT_REACHABLE);
  detail.set_claim("data");
  detail.set_volume("pv-1");
  EXPECT_EQ(ReasonText(detail), "VolumeNotReachable claim data volume pv-1");
}

TEST(ReasonTextTest, NamesObjectFieldAndFault) {
  v1::ReasonDetail detail = Of(v1::MALFORMED_OBJECT);
  detail.set_object("GPUClaim tenant-a/x");
  detail.set_field("spec.count");
  detail.set_text("is \"two\", must be an integer from 1 to 64");
  EXPECT_EQ(ReasonText(detail),
            "MalformedObject GPUClaim tenant-a/x field spec.count: is \"two\", "
            "must be an integer from 1 to 64");
}

TEST(ReasonTextTest, PutsQuotedTextOnOneLine) {
  v1::ReasonDetail detail = Of(v1::NOT_SCHEDULED);
  detail.set_text("0/3 nodes\nare\tavailable\x1b\xc3\xa9");
  EXPECT_EQ(ReasonText(detail),
            "NotScheduled: 0/3 nodes are available \xc3\xa9");
}

}  // namespace
}  // namespace gpubinder
