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

void Entitle(const std::string& name_space, const char* value,
             Snapshot& snapshot) {
  Put(Kind::kNamespace,
      {{"metadata",
        {{"name", name_space},
         {"uid", "uid-" + name_space},
         {"labels", {{"gpu.cozystack.io/vgpu", value}}}}}},
      snapshot);
}

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

struct BadEntry {
  const char* what;
  const char* claims;
  int code;
  const char* reason;
  const char* message;  // a part of it
};

TEST(ReviewVmi, W1RefusesAndNamesTheEntry) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClass,
      {{"metadata",
        {{"name", "dying"},
         {"uid", "uid-dying"},
         {"deletionTimestamp", "2026-12-01T11:00:00Z"}}},
       {"spec", {{"resourceName", "x/dying"}}}},
      snapshot);
  Put(Kind::kGpuClass,
      {{"metadata", {{"name", "odd"}, {"uid", "uid-odd"}}},
       {"spec", {{"resourceName", "x/odd"}, {"maxCount", "many"}}}},
      snapshot);
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 1), snapshot);
  Put(Kind::kGpuClaim, ClaimJson("orphan", "h200", 1), snapshot);
  Put(Kind::kGpuClaim, ClaimJson("huge", "h100", 65), snapshot);
  Json dying = ClaimJson("leaving", "h100", 1);
  dying["metadata"]["deletionTimestamp"] = "2026-12-01T11:00:00Z";
  Put(Kind::kGpuClaim, dying, snapshot);
  Json of_template = ClaimJson("b2-0-12345678", "h100", 1);
  of_template["metadata"]["labels"] = {
      {"gpu.cozystack.io/template-claim", "b2"}};
  of_template["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
           "name": "b2", "uid": "b2uid"}])");
  Put(Kind::kGpuClaim, of_template, snapshot);
  Json elsewhere = ClaimJson("elsewhere", "h100", 1);
  elsewhere["metadata"]["namespace"] = "tenant-other";
  Put(Kind::kGpuClaim, elsewhere, snapshot);

  const std::vector<BadEntry> cases = {
      {"no list", R"({"claimName": "data"})", 422, "InvalidClaims",
       "annotation gpu.cozystack.io/claims: found an object"},
      {"empty", "[]", 422, "InvalidClaims", "empty list"},
      {"both", R"([{"claimName": "data"},
                   {"claimName": "a", "claimTemplate": {"className": "h100"}}])",
       422, "InvalidClaims", "entry 1: "},
      {"unknown field", R"([{"claim": "data"}])", 422, "InvalidClaims",
       "entry 0: unknown field \"claim\""},
      {"twice", R"([{"claimName": "data"}, {"claimName": "data"}])", 422,
       "InvalidClaims", "entry 1: claim \"data\" is entry 0 too"},
      {"count 0", R"([{"claimTemplate": {"className": "h100", "count": 0}}])",
       422, "InvalidClaims", "entry 0: claimTemplate.count"},
      {"no such class", R"([{"claimName": "data"},
                            {"claimTemplate": {"className": "h200"}}])",
       422, "ClassNotFound", "entry 1: there is no GPUClass \"h200\""},
      {"class being deleted", R"([{"claimTemplate": {"className": "dying"}}])",
       422, "ClassBeingDeleted", "entry 0: GPUClass \"dying\""},
      {"malformed class", R"([{"claimTemplate": {"className": "odd"}}])", 422,
       "MalformedObject", "entry 0: GPUClass \"odd\" is malformed: spec.maxC"},
      {"above maxCount",
       R"([{"claimTemplate": {"className": "h100", "count": 5}}])", 422,
       "CountAboveMaximum",
       "entry 0: found count 5, GPUClass \"h100\" allows at most 4"},
      {"not entitled", R"([{"claimTemplate": {"className": "l40s"}}])", 403,
       "NotEntitled", "entry 0: GPUClass \"l40s\" is of type VGPU"},
      {"no such claim", R"([{"claimName": "nowhere"}])", 422, "ClaimNotFound",
       "entry 0: there is no GPUClaim \"nowhere\" in namespace "
       "\"tenant-acme\""},
      {"another namespace's claim", R"([{"claimName": "elsewhere"}])", 422,
       "ClaimNotFound", "entry 0"},
      {"claim being deleted", R"([{"claimName": "leaving"}])", 422,
       "ClaimBeingDeleted", "entry 0: GPUClaim \"leaving\""},
      {"another VMI's template claim", R"([{"claimName": "b2-0-12345678"}])",
       422, "ClaimAttachedElsewhere", "entry 0: GPUClaim \"b2-0-12345678\""},
      {"malformed claim", R"([{"claimName": "huge"}])", 422, "MalformedObject",
       "entry 0: GPUClaim \"huge\" is malformed: spec.count"},
      {"claim without class", R"([{"claimName": "orphan"}])", 422,
       "ClassNotFound",
       "entry 0: there is no GPUClass \"h200\", the class of GPUClaim \"orph"},
  };
  for (const BadEntry& bad : cases) {
    const TakenAnswer answer =
        AnswerTo(VmiReview(Claims(bad.claims)), snapshot);
    EXPECT_FALSE(answer.allowed) << bad.what;
    EXPECT_EQ(answer.code, bad.code) << bad.what;
    EXPECT_EQ(answer.reason, bad.reason) << bad.what;
    EXPECT_THAT(answer.message, HasSubstr(bad.message)) << bad.what;
    EXPECT_TRUE(answer.patch.empty()) << bad.what;
  }
}

TEST(ReviewVmi, W1SaysAllThatIsWrongInTheOrderOfTheList) {
  const TakenAnswer answer =
      AnswerTo(VmiReview(Claims(
                   R"([{"claimTemplate": {"className": "l40s", "count": 9}},
              {"claimName": "nowhere"}])")),
               SampleCluster());
  EXPECT_EQ(answer.reason, "ClaimNotFound") << "before CountAboveMaximum";
  EXPECT_EQ(answer.code, 422);
  EXPECT_THAT(answer.message, HasSubstr("CountAboveMaximum: annotation "
                                        "gpu.cozystack.io/claims entry 0"));
  EXPECT_THAT(answer.message, HasSubstr("NotEntitled: annotation"));
  EXPECT_THAT(answer.message, HasSubstr("ClaimNotFound: annotation "
                                        "gpu.cozystack.io/claims entry 1"));
}

TEST(ReviewVmi, W1MessagesAreBounded) {
  Json claims = Json::array();
  for (int i = 0; i < 16; ++i) {
    claims.push_back({{"claimName", std::string(1000, 'a' + i)}});
  }
  const TakenAnswer answer = AnswerTo(VmiReview(claims), SampleCluster());
  EXPECT_EQ(answer.reason, "ClaimNotFound");
  EXPECT_LE(answer.message.size(), 1024u);
  EXPECT_THAT(answer.message, testing::EndsWith("..."));
}

TEST(ReviewVmi, W1TakesTheEntitlementOfTheNearestAncestor) {
  const Json review =
      VmiReview(Claims(R"([{"claimTemplate": {"className": "l40s"}}])"));
  Snapshot inherited = SampleCluster();
  Entitle("tenant-root", "true", inherited);
  EXPECT_TRUE(AnswerTo(review, inherited).allowed);
  Entitle(kTenant, "false", inherited);
  EXPECT_EQ(AnswerTo(review, inherited).reason, "NotEntitled");
}

TEST(ReviewVmi, W1ChecksTemplatesOnlyForWhatStopsOrders) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("booked", "l40s", 9), snapshot);
  EXPECT_TRUE(
      AnswerTo(VmiReview(Claims(R"([{"claimName": "booked"}])")), snapshot)
          .allowed);
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
