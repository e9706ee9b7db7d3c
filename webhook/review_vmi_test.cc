#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json Claims(const char* text) { return Json::parse(text); }

Json Device(const std::string& name, const std::string& device_name) {
  return {{"name", name}, {"deviceName", device_name}};
}

Json& SpecOf(Json& review) { return review["request"]["object"]["spec"]; }
Json& DevicesOf(Json& review) { return SpecOf(review)["domain"]["devices"]; }

ReviewAnswer RulesOf(const Json& review, const Snapshot& snapshot) {
  const absl::StatusOr<AdmissionRequest> request = ParseReview(review.dump());
  EXPECT_TRUE(request.ok()) << request.status();
  return ReviewRequest(*request, LiveReads(), snapshot, SampleNow());
}

TEST(ReviewVmi, W5GivesOneEntryPerUnitHeldAndTemplateAlike) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 2), snapshot);
  const Json review = VmiReview(Claims(
      R"([{"claimTemplate": {"className": "h100"}}, {"claimName": "data"}])"));
  const TakenAnswer answer = AnswerTo(review, snapshot);
  EXPECT_TRUE(answer.allowed) << answer.message;
  Json wanted = review["request"]["object"];
  wanted["spec"]["domain"]["devices"]["gpus"] =
      Json::array({Device("gpuclaim-0-0", kH100), Device("gpuclaim-1-0", kH100),
                   Device("gpuclaim-1-1", kH100)});
  EXPECT_EQ(answer.object, wanted) << "and nothing else is changed";
}

TEST(ReviewVmi, W5TakesTheResourceThatTheClassHasNow) {
  Snapshot snapshot = SampleCluster();
  Json held = ClaimJson("data", "h100", 1);
  held["status"] = {{"phase", "Bound"},
                    {"nodeName", "n"},
                    {"resourceName", "nvidia.com/OLD"}};
  Put(Kind::kGpuClaim, held, snapshot);
  const TakenAnswer answer =
      AnswerTo(VmiReview(Claims(R"([{"claimName": "data"}])")), snapshot);
  EXPECT_EQ(
      answer.patch,
      Json::array({{{"op", "add"},
                    {"path", "/spec/domain/devices/gpus"},
                    {"value", Json::array({Device("gpuclaim-0-0", kH100)})}}}));
}

TEST(ReviewVmi, W5KeepsTheTenantsOwnEntriesAndAppends) {
  Json review =
      VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
  DevicesOf(review)["gpus"] = Json::array({Device("mine", "vendor/own")});
  DevicesOf(review)["hostDevices"] = Json::array({Device("nic", "vendor/nic")});
  const TakenAnswer answer = AnswerTo(review, SampleCluster());
  EXPECT_EQ(answer.patch,
            Json::array({{{"op", "add"},
                          {"path", "/spec/domain/devices/gpus/-"},
                          {"value", Device("gpuclaim-0-0", kH100)}}}));
}

TEST(ReviewVmi, W5MakesTheParentsOfTheList) {
  for (const char* spec :
       {R"({"domain": {}})", R"({"domain": {"devices": null}})",
        R"({"domain": {"devices": {"gpus": []}}})",
        R"({"domain": {"devices": {"gpus": null}}})", R"({"domain": null})",
        R"({})", "null"}) {
    Json review =
        VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
    SpecOf(review) = Json::parse(spec);
    const TakenAnswer answer = AnswerTo(review, SampleCluster());
    EXPECT_TRUE(answer.allowed) << spec << ": " << answer.message;
    EXPECT_EQ(answer.object["spec"]["domain"]["devices"]["gpus"],
              Json::array({Device("gpuclaim-0-0", kH100)}))
        << spec;
  }
}

struct ForeignEntry {
  const char* what;
  const char* list;
  Json entries;
  const char* named;  // in the message
};

TEST(ReviewVmi, W5RefusesOurPrefixOnAnythingElse) {
  const std::vector<ForeignEntry> cases = {
      {"another deviceName", "gpus",
       Json::array({Device("gpuclaim-0-0", "vendor/own")}),
       "gpus[0]: found name \"gpuclaim-0-0\""},
      {"no deviceName", "gpus", Json::parse(R"([{"name": "gpuclaim-0-0"}])"),
       "gpus[0]"},
      {"a unit too many", "gpus",
       Json::array(
           {Device("gpuclaim-0-0", kH100), Device("gpuclaim-0-1", kH100)}),
       "gpus[1]: found name \"gpuclaim-0-1\""},
      {"an entry too many", "gpus",
       Json::array({Device("gpuclaim-1-0", kH100)}), "gpuclaim-1-0"},
      {"ours twice", "gpus",
       Json::array(
           {Device("gpuclaim-0-0", kH100), Device("gpuclaim-0-0", kH100)}),
       "gpus[1]"},
      {"another spelling of an index", "gpus",
       Json::array({Device("gpuclaim-00-0", kH100)}), "gpuclaim-00-0"},
      {"the bare prefix", "gpus", Json::array({Device("gpuclaim-", kH100)}),
       "\"gpuclaim-\""},
      {"a host device, though both match", "hostDevices",
       Json::array({Device("gpuclaim-0-0", kH100)}),
       "hostDevices[0]: found name \"gpuclaim-0-0\""},
  };
  for (const ForeignEntry& wrong : cases) {
    Json review =
        VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
    DevicesOf(review)[wrong.list] = wrong.entries;
    const TakenAnswer answer = AnswerTo(review, SampleCluster());
    EXPECT_FALSE(answer.allowed) << wrong.what;
    EXPECT_EQ(answer.code, 422) << wrong.what;
    EXPECT_EQ(answer.reason, "Invalid") << wrong.what;
    EXPECT_THAT(answer.message, HasSubstr(wrong.named)) << wrong.what;
    EXPECT_TRUE(answer.patch.empty()) << wrong.what;
  }
}

TEST(ReviewVmi, W6LeavesItsOwnResultAlone) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 2), snapshot);
  Json review = VmiReview(Claims(
      R"([{"claimName": "data"}, {"claimTemplate": {"className": "h100"}}])"));
  review["request"]["object"] = AnswerTo(review, snapshot).object;
  EXPECT_EQ(DevicesOf(review)["gpus"].size(), 3u);
  const TakenAnswer again = AnswerTo(review, snapshot);
  EXPECT_TRUE(again.allowed) << again.message;
  EXPECT_TRUE(again.patch.empty()) << again.patch;
}

TEST(ReviewVmi, W6AddsOnlyWhatIsMissing) {
  Json review = VmiReview(
      Claims(R"([{"claimTemplate": {"className": "h100", "count": 3}}])"));
  DevicesOf(review)["gpus"] = Json::array(
      {Device("gpuclaim-0-2", kH100), Device("gpuclaim-0-0", kH100)});
  EXPECT_EQ(AnswerTo(review, SampleCluster()).patch,
            Json::array({{{"op", "add"},
                          {"path", "/spec/domain/devices/gpus/-"},
                          {"value", Device("gpuclaim-0-1", kH100)}}}));
}

TEST(ReviewVmi, LeavesAloneWhatAsksForNothing) {
  Json plain = VmiReview(Json::array());
  plain["request"]["object"]["metadata"].erase("annotations");
  Json update = VmiReview(Claims(R"([{"claimName": "nowhere"}])"));
  update["request"]["operation"] = "UPDATE";
  Json removal = update;
  removal["request"]["operation"] = "DELETE";
  removal["request"]["object"] = nullptr;
  for (const Json& review : {plain, update, removal}) {
    const TakenAnswer answer = AnswerTo(review, SampleCluster());
    EXPECT_TRUE(answer.allowed) << answer.message;
    EXPECT_TRUE(answer.patch.empty());
  }
}

TEST(ReviewVmi, W2RefusesGpuResourcesOfTheDomain) {
  Snapshot snapshot = SampleCluster();
  snapshot.config.extra_resource_names = {"vendor.com/EXTRA"};
  for (const char* list : {"requests", "limits"}) {
    for (const char* name : {kH100, kL40s, "vendor.com/EXTRA"}) {
      for (const Json& value : {Json("1"), Json("0"), Json(0), Json("junk")}) {
        Json review =
            VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
        SpecOf(review)["domain"]["resources"][list][name] = value;
        const TakenAnswer answer = AnswerTo(review, snapshot);
        EXPECT_FALSE(answer.allowed) << list << " " << name << " " << value;
        EXPECT_EQ(answer.code, 422);
        EXPECT_THAT(answer.message,
                    HasSubstr(std::string("spec.domain.resources.") + list +
                              ": found \"" + name + "\""));
      }
    }
  }
}

TEST(ReviewVmi, W2LeavesOtherResourcesAlone) {
  Json review =
      VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
  SpecOf(review)["domain"]["resources"]["limits"] = {
      {"cpu", "4"}, {"nvidia.com/gh100_h100_pcie", "1"}};
  EXPECT_TRUE(AnswerTo(review, SampleCluster()).allowed) << "case matters";
}

TEST(ReviewVmi, W3DryRunHasThePatchAndWritesNothing) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 1), snapshot);
  Json review = VmiReview(Claims(R"([{"claimName": "data"}])"));
  const ReviewAnswer real = RulesOf(review, snapshot);
  ASSERT_EQ(real.effects.size(), 1u);
  review["request"]["dryRun"] = true;
  const ReviewAnswer dry = RulesOf(review, snapshot);
  EXPECT_TRUE(dry.allowed);
  EXPECT_TRUE(dry.effects.empty());
  EXPECT_EQ(dry.patch, real.patch);
  EXPECT_FALSE(dry.patch.empty());
}

TEST(ReviewVmi, RefusesAnnotatedVmisWhenTheFeatureIsOff) {
  Snapshot snapshot = SampleCluster();
  snapshot.config.enabled = false;
  const TakenAnswer answer = AnswerTo(
      VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])")),
      snapshot);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.reason, "FeatureDisabled");
  EXPECT_EQ(answer.code, 403);
  Json plain = VmiReview(Json::array());
  plain["request"]["object"]["metadata"].erase("annotations");
  EXPECT_TRUE(AnswerTo(plain, snapshot).allowed);
}

TEST(ReviewVmi, ObservingWritesNothing) {
  Snapshot snapshot = SampleCluster();
  snapshot.config.observe = true;
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 1), snapshot);
  const ReviewAnswer answer =
      RulesOf(VmiReview(Claims(R"([{"claimName": "data"}])")), snapshot);
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.effects.empty());
}

TEST(ReviewVmi, RefusesAVmiItCannotRead) {
  Json review =
      VmiReview(Claims(R"([{"claimTemplate": {"className": "h100"}}])"));
  DevicesOf(review)["gpus"] = "all";
  const TakenAnswer answer = AnswerTo(review, SampleCluster());
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.reason, "MalformedObject");
  EXPECT_THAT(answer.message, HasSubstr("spec.domain.devices.gpus"));
}

}  // namespace
}  // namespace gpubinder
