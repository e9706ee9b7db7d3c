#include "reconciler/lease.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

// As client-go leaves one, with fields of a later API beside.
constexpr char kHeld[] = R"({
  "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
  "metadata": {"name": "gpubinder.gpu.cozystack.io", "namespace": "n",
    "resourceVersion": "742", "labels": {"a": "b"},
    "annotations": {"gpu.cozystack.io/epoch": "7", "other": "kept"}},
  "spec": {"holderIdentity": "x", "leaseDurationSeconds": 15,
    "acquireTime": "2026-01-01T00:00:00.000001Z",
    "renewTime": "2026-01-01T00:00:09.000002Z", "leaseTransitions": 3,
    "strategy": "OldestEmulationVersion", "later": {"deep": [1, 2]}}})";

absl::Time At(int64_t unix_millis) { return absl::FromUnixMillis(unix_millis); }

TEST(ParseLease, ReadsWhatAnElectionNeeds) {
  const auto lease = ParseLease(kHeld);
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->holder, "x");
  EXPECT_EQ(lease->duration, absl::Seconds(15));
  EXPECT_EQ(lease->epoch, 7u);
}

TEST(ParseLease, ARecordDiffersByItsSpecOnly) {
  Json other = Json::parse(kHeld);
  other["metadata"]["resourceVersion"] = "743";
  other["metadata"]["labels"]["a"] = "c";
  EXPECT_EQ(ParseLease(other.dump())->record, ParseLease(kHeld)->record);
  other["spec"]["renewTime"] = "2026-01-01T00:00:09.000003Z";
  EXPECT_NE(ParseLease(other.dump())->record, ParseLease(kHeld)->record);
}

TEST(ParseLease, EmptyOrNullHolderIsReleased) {
  for (const char* spec : {R"({"holderIdentity": ""})", "{}", "null",
                           R"({"holderIdentity": null})"}) {
    Json lease = Json::parse(kHeld);
    lease["spec"] = Json::parse(spec);
    ASSERT_TRUE(ParseLease(lease.dump()).ok()) << spec;
    EXPECT_EQ(ParseLease(lease.dump())->holder, "") << spec;
    EXPECT_EQ(ParseLease(lease.dump())->duration, absl::ZeroDuration());
  }
}

TEST(ParseLease, AnEpochNoBinderWroteIsNone) {
  for (const char* text :
       {"-1", "x", "", "9007199254740993", "18446744073709551615", "1e3"}) {
    Json lease = Json::parse(kHeld);
    lease["metadata"]["annotations"][kEpochAnnotation] = text;
    EXPECT_EQ(ParseLease(lease.dump())->epoch, 0u) << text;
  }
}

TEST(ParseLease, AnythingElseIsDataLoss) {
  for (const char* text :
       {"", "[]", "{", R"({"kind": "Status"})", R"({"kind": "Lease"})",
        R"({"kind": "Lease", "metadata": {"resourceVersion": 1}})"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseLease(text).status())) << text;
  }
}

TEST(LeaseBody, FirstOneHasClientGosFieldsAndNoTransitions) {
  const Json body = Json::parse(LeaseBody(
      std::nullopt, {.name_space = "n",
                     .holder = "me",
                     .duration = absl::Seconds(15),
                     .at = At(1767225600123),  // 2026-01-01T00:00:00.123Z
                     .epoch = 1}));
  EXPECT_EQ(body, Json::parse(R"({
    "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
    "metadata": {"name": "gpubinder.gpu.cozystack.io", "namespace": "n",
      "annotations": {"gpu.cozystack.io/epoch": "1"}},
    "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
      "acquireTime": "2026-01-01T00:00:00.123000Z",
      "renewTime": "2026-01-01T00:00:00.123000Z", "leaseTransitions": 0}})"));
}

TEST(LeaseBody, AnotherHolderCountsATransitionAndKeepsUnknownFields) {
  const Json body =
      Json::parse(LeaseBody(*ParseLease(kHeld), {.name_space = "n",
                                                 .holder = "me",
                                                 .duration = absl::Seconds(20),
                                                 .at = At(1767225600000),
                                                 .epoch = 8}));
  Json want = Json::parse(kHeld);
  want["metadata"]["annotations"][kEpochAnnotation] = "8";
  want["spec"]["holderIdentity"] = "me";
  want["spec"]["leaseDurationSeconds"] = 20;
  want["spec"]["acquireTime"] = "2026-01-01T00:00:00.000000Z";
  want["spec"]["renewTime"] = "2026-01-01T00:00:00.000000Z";
  want["spec"]["leaseTransitions"] = 4;
  EXPECT_EQ(body, want);
}

TEST(LeaseBody, RenewalMovesTheRenewTimeOnly) {
  const Json body =
      Json::parse(LeaseBody(*ParseLease(kHeld), {.name_space = "n",
                                                 .holder = "x",
                                                 .duration = absl::Seconds(15),
                                                 .at = At(1767225610000),
                                                 .epoch = 7}));
  Json want = Json::parse(kHeld);
  want["spec"]["renewTime"] = "2026-01-01T00:00:10.000000Z";
  EXPECT_EQ(body, want);
}

TEST(LeaseBody, RenewalIsSeenThoughTheWallClockStandsStill) {
  const Json body = Json::parse(LeaseBody(
      *ParseLease(kHeld), {.name_space = "n",
                           .holder = "x",
                           .duration = absl::Seconds(15),
                           .at = absl::FromUnixMicros(1767225609000002),
                           .epoch = 7}));
  EXPECT_EQ(body["spec"]["renewTime"], "2026-01-01T00:00:09.000003Z");
}

TEST(LeaseBody, UnsettledIsSaidUntilItIsOver) {
  LeaseHold hold = {.name_space = "n",
                    .holder = "me",
                    .duration = absl::Seconds(15),
                    .at = At(1767225600000),
                    .epoch = 8,
                    .unsettled = true};
  Json body = Json::parse(LeaseBody(*ParseLease(kHeld), hold));
  EXPECT_EQ(body["metadata"]["annotations"][kUnsettledAnnotation], "true");
  EXPECT_TRUE(ParseLease(body.dump())->unsettled);
  hold.unsettled = false;
  body = Json::parse(LeaseBody(*ParseLease(body.dump()), hold));
  EXPECT_FALSE(body["metadata"]["annotations"].contains(kUnsettledAnnotation));
  EXPECT_FALSE(ParseLease(body.dump())->unsettled);
}

TEST(LeaseBody, ReleaseKeepsTheCountOfTransitions) {
  const Json spec =
      Json::parse(LeaseBody(*ParseLease(kHeld), {.name_space = "n",
                                                 .duration = absl::Seconds(1),
                                                 .at = At(1767225610000),
                                                 .epoch = 7}))["spec"];
  EXPECT_EQ(spec["holderIdentity"], "");
  EXPECT_EQ(spec["leaseDurationSeconds"], 1);
  EXPECT_EQ(spec["leaseTransitions"], 3);
  EXPECT_EQ(spec["acquireTime"], "2026-01-01T00:00:10.000000Z");
}

}  // namespace
}  // namespace gpubinder
