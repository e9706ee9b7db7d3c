#include "webhook/admission_review.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json Sample() {
  return VmiReview(
      Json::parse(R"([{"claimTemplate": {"className": "h100"}}])"));
}

TEST(ParseReview, ReadsARequestOfVirtController) {
  const absl::StatusOr<AdmissionRequest> request = ParseReview(Sample().dump());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
  EXPECT_EQ(request->name_space, kTenant);
  EXPECT_EQ(request->user, kKubeVirt);
  EXPECT_TRUE(request->creates);
  EXPECT_FALSE(request->dry_run);
  EXPECT_EQ(request->vmi_name(), "a1");
  const auto& vmi = std::get<VirtualMachineInstance>(request->object);
  EXPECT_EQ(vmi.claims.entries.size(), 1u);
  EXPECT_EQ(request->gpus.present, 3u) << "up to devices";
}

TEST(ParseReview, TakesTheNamespaceOfTheRequest) {
  Json review = PodReview(Json::array());
  review["request"]["object"]["metadata"].erase("namespace");
  const absl::StatusOr<AdmissionRequest> request = ParseReview(review.dump());
  ASSERT_TRUE(request.ok()) << request.status();
  const Pod& pod = std::get<Pod>(request->object);
  EXPECT_EQ(pod.meta.name_space, kTenant);
  EXPECT_EQ(pod.meta.name, "") << "generateName";
  EXPECT_EQ(request->tolerations.present, 2u);
  EXPECT_EQ(request->gates.present, 1u);
}

struct Edit {
  const char* pointer;
  const char* value;  // JSON; null pointer: erased
  const char* message;
};

TEST(ParseReview, RefusesWhatIsNoReviewAndNamesTheField) {
  const std::vector<Edit> cases = {
      {"/apiVersion", R"("admission.k8s.io/v1beta1")",
       "apiVersion: found \"admission.k8s.io/v1beta1\", want "
       "admission.k8s.io/v1"},
      {"/apiVersion", "1", "apiVersion: found the number 1, want a text"},
      {"/kind", R"("Review")", "kind: found \"Review\", want AdmissionReview"},
      {"/request", "null", "request: found nothing, want an object"},
      {"/request", "[]", "request: found a list, want an object"},
      {"/request/uid", "null", "request.uid: found nothing"},
      {"/request/uid", R"("")", "request.uid: found \"\""},
      {"/request/uid", "{}", "request.uid: found an object"},
      {"/request/kind", R"("Pod")", "request.kind: found \"Pod\""},
      {"/request/kind/kind", R"("VirtualMachine")",
       "request.kind.kind: found \"VirtualMachine\", want "
       "VirtualMachineInstance of kubevirt.io, or Pod"},
      {"/request/kind/group", R"("example.com")", "request.kind.kind"},
      {"/request/kind/group", "7", "request.kind.group"},
      {"/request/subResource", R"("status")", "request.subResource"},
      {"/request/namespace", "{}", "request.namespace"},
      {"/request/operation", "true", "request.operation: found true"},
      {"/request/operation", "\"CRAETE\"",
       "request.operation: found \"CRAETE\", want CREATE, UPDATE, DELETE or "
       "CONNECT"},
      {"/request/operation", "\"\"", "request.operation: found \"\""},
      {"/request/userInfo", "[]", "request.userInfo"},
      {"/request/userInfo/username", "1.5",
       "request.userInfo.username: found the number 1.5"},
      {"/request/dryRun", R"("yes")", "request.dryRun: found \"yes\""},
      {"/request/object", "null", "request.object: found nothing"},
      {"/request/object", "[]", "request.object: found a list"},
  };
  for (const Edit& edit : cases) {
    Json review = Sample();
    review[Json::json_pointer(edit.pointer)] = Json::parse(edit.value);
    const absl::Status status = ParseReview(review.dump()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << edit.pointer << status;
    EXPECT_EQ(HttpCodeOf(status), 400);
    EXPECT_THAT(std::string(status.message()), HasSubstr(edit.message));
  }
}

TEST(ParseReview, RefusesWhatIsNoJson) {
  for (const char* body : {"", " ", "null", "[]", "{", "{}", "\"a\"", "\xff",
                           "{\"kind\": \"AdmissionReview\"", "{}{}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseReview(body).status())) << body;
  }
}

TEST(ParseReview, RefusesMoreThanTheLimit) {
  std::string body = Sample().dump();
  body.resize(kMostReviewBytes, ' ');
  EXPECT_TRUE(ParseReview(body).ok()) << "the limit itself is legal";
  body += ' ';
  const absl::Status status = ParseReview(body).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(HttpCodeOf(status), 413);
}

TEST(ResponseJson, EchoesTheUidAndHasPatchAndTypeTogether) {
  const Json plain = Json::parse(ResponseJson("u-1", {}));
  EXPECT_EQ(plain, Json::parse(R"({"apiVersion": "admission.k8s.io/v1",
      "kind": "AdmissionReview",
      "response": {"uid": "u-1", "allowed": true}})"));
  ReviewAnswer answer;
  answer.patch = "[]";
  answer.warnings = {"w"};
  EXPECT_EQ(Json::parse(InnerResponseJson("u\"2", answer)),
            Json::parse(R"({"uid": "u\"2", "allowed": true, "patch": "W10=",
                            "patchType": "JSONPatch", "warnings": ["w"]})"));
}

TEST(ResponseJson, ARefusalHasAStatusAndNoPatch) {
  const ReviewAnswer answer{.allowed = false,
                            .code = 422,
                            .reason = "ClassNotFound",
                            .message = "entry 0: \xff",
                            .patch = "[]"};
  EXPECT_EQ(Json::parse(InnerResponseJson("u", answer)),
            Json::parse(R"({"uid": "u", "allowed": false,
                "status": {"status": "Failure", "code": 422,
                           "reason": "ClassNotFound",
                           "message": "entry 0: \ufffd"}})"));
}

}  // namespace
}  // namespace gpubinder
