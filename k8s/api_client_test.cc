#include "k8s/api_client.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/kinds.h"
#include "reconciler/model/kind.h"

namespace gpubinder {
namespace {

TEST(PathText, NamesEveryPart) {
  EXPECT_EQ(PathText({.group = "gpu.cozystack.io",
                      .version = "v1alpha1",
                      .plural = "gpuclaims",
                      .name_space = "a",
                      .name = "c",
                      .subresource = "status"}),
            "/apis/gpu.cozystack.io/v1alpha1/namespaces/a/gpuclaims/c/status");
  EXPECT_EQ(PathText({.version = "v1", .plural = "nodes"}), "/api/v1/nodes");
}

TEST(PathText, EscapesWhatWouldReachAnotherPlace) {
  EXPECT_EQ(PathText({.version = "v1", .plural = "nodes", .name = "a/../b?c"}),
            "/api/v1/nodes/a%2F..%2Fb%3Fc");
}

TEST(PathText, KnowsThePlaceOfEveryKind) {
  EXPECT_EQ(PathText(ResourcePathOf(Kind::kPod)), "/api/v1/pods");
  EXPECT_EQ(PathText(ResourcePathOf(Kind::kVirtualMachineInstance)),
            "/apis/kubevirt.io/v1/virtualmachineinstances");
  EXPECT_EQ(PathText(ResourcePathOf(Kind::kGpuClaimSet)),
            "/apis/gpu.cozystack.io/v1alpha1/gpuclaimsets");
  EXPECT_EQ(PathText(ResourcePathOf(Kind::kPersistentVolume)),
            "/api/v1/persistentvolumes");
  EXPECT_EQ(PathText(ResourcePathOf(Kind::kSchedulingClass)),
            "/apis/cozystack.io/v1alpha1/schedulingclasses");
  EXPECT_FALSE(PlaceOf(Kind::kGpuClass).namespaced);
  EXPECT_TRUE(PlaceOf(Kind::kResourceQuota).namespaced);
}

TEST(StatusOfApiError, CodesSayWhatToDoNext) {
  struct Case {
    int code;
    std::string reason;
    absl::StatusCode want;
  };
  const std::vector<Case> cases = {
      {400, "BadRequest", absl::StatusCode::kInvalidArgument},
      {401, "Unauthorized", absl::StatusCode::kUnauthenticated},
      {403, "Forbidden", absl::StatusCode::kFailedPrecondition},
      {404, "NotFound", absl::StatusCode::kNotFound},
      {405, "", absl::StatusCode::kInvalidArgument},
      {406, "", absl::StatusCode::kInvalidArgument},
      {409, "AlreadyExists", absl::StatusCode::kAlreadyExists},
      {409, "Conflict", absl::StatusCode::kAborted},
      {409, "", absl::StatusCode::kAborted},
      {410, "Expired", absl::StatusCode::kOutOfRange},
      {410, "", absl::StatusCode::kOutOfRange},
      {413, "", absl::StatusCode::kInvalidArgument},
      {415, "", absl::StatusCode::kInvalidArgument},
      {422, "Invalid", absl::StatusCode::kFailedPrecondition},
      {429, "TooManyRequests", absl::StatusCode::kUnavailable},
      {500, "InternalError", absl::StatusCode::kDeadlineExceeded},
      {502, "", absl::StatusCode::kDeadlineExceeded},
      {503, "", absl::StatusCode::kUnavailable},
      {504, "Timeout", absl::StatusCode::kDeadlineExceeded},
      {200, "", absl::StatusCode::kDataLoss},
      {302, "", absl::StatusCode::kDataLoss},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(StatusOfApiError(
                  {.code = c.code, .reason = c.reason, .sent = true}, "get x")
                  .code(),
              c.want)
        << c.code << " " << c.reason;
  }
}

TEST(StatusOfApiError, TellsNotSentFromPerhapsApplied) {
  EXPECT_TRUE(absl::IsUnavailable(StatusOfApiError({.sent = false}, "get x")));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(StatusOfApiError({.sent = true}, "get x")));
}

TEST(StatusOfApiError, CarriesTheErrorWhole) {
  const absl::Status status = StatusOfApiError({.code = 429,
                                                .reason = "TooManyRequests",
                                                .message = "slow\ndown\n",
                                                .retry_after = absl::Seconds(3),
                                                .sent = true},
                                               "patch pods a/p");
  EXPECT_EQ(status.message(),
            "patch pods a/p: HTTP 429 TooManyRequests: slow\ndown\n");
  const ApiError error = ApiErrorOf(status);
  EXPECT_EQ(error.code, 429);
  EXPECT_EQ(error.reason, "TooManyRequests");
  EXPECT_EQ(error.message, "slow\ndown\n");
  EXPECT_EQ(error.retry_after, absl::Seconds(3));
  EXPECT_TRUE(error.sent);
}

TEST(ApiErrorOf, IsEmptyForAnyOtherStatus) {
  EXPECT_EQ(ApiErrorOf(absl::NotFoundError("x")).code, 0);
  EXPECT_EQ(ApiErrorOf(absl::OkStatus()).code, 0);
}

}  // namespace
}  // namespace gpubinder
