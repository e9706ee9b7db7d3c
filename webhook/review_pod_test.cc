#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr char kOneH100[] = R"([{"claimTemplate": {"className": "h100"}}])";

Json PodOf(const Json& review) { return review["request"]["object"]; }
Json& MetaOf(Json& review) { return review["request"]["object"]["metadata"]; }
Json& SpecOf(Json& review) { return review["request"]["object"]["spec"]; }

const Json& GpuToleration() {
  static const Json toleration = {{"key", "nvidia.com/gpu"},
                                  {"operator", "Exists"},
                                  {"effect", "NoSchedule"}};
  return toleration;
}
const Json& PoolToleration() {
  static const Json toleration = {{"key", "pool"},
                                  {"value", "vgpu"},
                                  {"effect", "NoExecute"},
                                  {"tolerationSeconds", 60}};
  return toleration;
}
Json OurGate() { return Json::array({{{"name", "gpu.cozystack.io/claims"}}}); }

void ExpectUnchanged(const TakenAnswer& answer, const std::string& what) {
  EXPECT_TRUE(answer.allowed) << what << ": " << answer.message;
  EXPECT_TRUE(answer.patch.empty()) << what << ": " << answer.patch;
  EXPECT_TRUE(answer.warnings.empty()) << what;
}

TEST(ReviewPod, W7GatesALauncherAndAddsTheTolerationsOfItsClasses) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("data", "l40s", 1), snapshot);
  const Json review = PodReview(Json::parse(
      R"([{"claimTemplate": {"className": "h100"}}, {"claimName": "data"}])"));
  const TakenAnswer answer = AnswerTo(review, snapshot);
  EXPECT_TRUE(answer.allowed) << answer.message;
  Json wanted = PodOf(review);
  wanted["spec"]["schedulingGates"] = OurGate();
  wanted["spec"]["tolerations"].push_back(GpuToleration());
  wanted["spec"]["tolerations"].push_back(PoolToleration());
  EXPECT_EQ(answer.object, wanted);
  EXPECT_TRUE(answer.warnings.empty());
}

TEST(ReviewPod, W7MakesListsThatAreAbsent) {
  Json review = PodReview(Json::parse(kOneH100));
  SpecOf(review).erase("tolerations");
  const TakenAnswer answer = AnswerTo(review, SampleCluster());
  EXPECT_EQ(answer.object["spec"]["tolerations"],
            Json::array({GpuToleration()}));
  EXPECT_EQ(answer.object["spec"]["schedulingGates"], OurGate());
}

TEST(ReviewPod, W7KeepsForeignGatesAndAddsOnlyWhatIsMissing) {
  Json review = PodReview(Json::parse(kOneH100));
  SpecOf(review)["schedulingGates"] =
      Json::parse(R"([{"name": "example.com/wait"}])");
  SpecOf(review)["tolerations"].push_back(GpuToleration());
  EXPECT_EQ(AnswerTo(review, SampleCluster()).patch,
            Json::array({{{"op", "add"},
                          {"path", "/spec/schedulingGates/-"},
                          {"value", {{"name", "gpu.cozystack.io/claims"}}}}}));
}

TEST(ReviewPod, W6LeavesItsOwnResultAlone) {
  Json review = PodReview(Json::parse(
      R"([{"claimTemplate": {"className": "l40s"}},
          {"claimTemplate": {"className": "h100"}}])"));
  review["request"]["object"] = AnswerTo(review, SampleCluster()).object;
  ASSERT_TRUE(SpecOf(review).contains("schedulingGates"));
  ExpectUnchanged(AnswerTo(review, SampleCluster()), "second call");
}

TEST(ReviewPod, W7GatesProvisioningPodsToo) {
  Json review = PodReview(Json::parse(kOneH100));
  MetaOf(review)["annotations"]["kubevirt.io/ephemeral-provisioning"] = "true";
  EXPECT_EQ(AnswerTo(review, SampleCluster())
                .object["spec"]
                .value("schedulingGates", Json()),
            OurGate());
}

TEST(ReviewPod, W7SparesMigrationTargetsOfKubeVirtsController) {
  Json review = PodReview(Json::parse(kOneH100));
  MetaOf(review)["labels"]["kubevirt.io/migrationJobUID"] = "m-1";
  ExpectUnchanged(AnswerTo(review, SampleCluster()), "by the controller");
  for (const char* user :
       {"alice", "system:serviceaccount:cozy-kubevirt:x", ""}) {
    review["request"]["userInfo"]["username"] = user;
    EXPECT_EQ(AnswerTo(review, SampleCluster())
                  .object["spec"]
                  .value("schedulingGates", Json()),
              OurGate())
        << "a label that anyone can set: " << user;
  }
  review["request"]["userInfo"]["username"] = "system:sa:kv:controller";
  Snapshot elsewhere = SampleCluster();
  elsewhere.config.kubevirt_controller_user = "system:sa:kv:controller";
  ExpectUnchanged(AnswerTo(review, elsewhere), "by the config's user");
}

TEST(ReviewPod, W7SkipsForNoAnnotation) {
  for (const char* annotation :
       {"kubevirt.io/migrationJobName", "kubevirt.io/migrationJobUID",
        "kubevirt.io/ephemeral-provisioning"}) {
    Json review = PodReview(Json::parse(kOneH100));
    MetaOf(review)["annotations"][annotation] = "true";
    EXPECT_EQ(AnswerTo(review, SampleCluster())
                  .object["spec"]
                  .value("schedulingGates", Json()),
              OurGate())
        << annotation;
  }
}

TEST(ReviewPod, LeavesOtherPodsAlone) {
  Json unlabelled = PodReview(Json::parse(kOneH100));
  MetaOf(unlabelled)["labels"].erase("kubevirt.io");
  Json hotplug = PodReview(Json::parse(kOneH100));
  MetaOf(hotplug)["labels"]["kubevirt.io"] = "hotplug-disk";
  Json plain = PodReview(Json::parse(kOneH100));
  MetaOf(plain)["annotations"].erase("gpu.cozystack.io/claims");
  Json update = PodReview(Json::parse(kOneH100));
  update["request"]["operation"] = "UPDATE";
  for (const Json& review : {unlabelled, hotplug, plain, update}) {
    ExpectUnchanged(AnswerTo(review, SampleCluster()), review.dump());
  }
}

TEST(ReviewPod, GatesNothingWhenOffOrObserving) {
  Snapshot off = SampleCluster();
  off.config.enabled = false;
  ExpectUnchanged(AnswerTo(PodReview(Json::parse(kOneH100)), off), "off");
  Snapshot observing = SampleCluster();
  observing.config.observe = true;
  ExpectUnchanged(AnswerTo(PodReview(Json::parse(kOneH100)), observing),
                  "observing");
}

TEST(ReviewPod, GatesEvenWhatNamesNothingThatIsThere) {
  for (const char* claims : {R"([{"claimName": "nowhere"}])",
                             R"([{"claimTemplate": {"className": "h200"}}])"}) {
    const TakenAnswer answer =
        AnswerTo(PodReview(Json::parse(claims)), SampleCluster());
    EXPECT_EQ(answer.patch.size(), 1u) << claims;
    EXPECT_EQ(answer.object["spec"]["schedulingGates"], OurGate()) << claims;
  }
}

TEST(ReviewPod, GatesAndWarnsWhenTheAnnotationCannotBeRead) {
  const TakenAnswer answer =
      AnswerTo(PodReview(Json::parse(R"([{"claim": "x"}])")), SampleCluster());
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.object["spec"]["schedulingGates"], OurGate());
  ASSERT_EQ(answer.warnings.size(), 1u);
  EXPECT_THAT(answer.warnings[0],
              HasSubstr("InvalidClaims: annotation gpu.cozystack.io/claims: "
                        "entry 0: unknown field \"claim\""));
  EXPECT_LE(answer.warnings[0].size(), 256u);
}

TEST(ReviewPod, RefusesAPodItCannotRead) {
  Json review = PodReview(Json::parse(kOneH100));
  SpecOf(review)["schedulingGates"] = "none";
  const TakenAnswer answer = AnswerTo(review, SampleCluster());
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.reason, "MalformedObject");
  EXPECT_THAT(answer.message, HasSubstr("spec.schedulingGates"));
}

}  // namespace
}  // namespace gpubinder
