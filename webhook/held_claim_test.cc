// Rule W4, as far as it is pure: what is written, and who is refused.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// One held claim "data", attached as told, and VMIs beside it.
Snapshot ClusterWith(const Json& attached, const std::vector<Json>& vmis) {
  Snapshot snapshot = SampleCluster();
  Json claim = ClaimJson("data", "h100", 1);
  if (!attached.is_null()) claim["status"]["attachedTo"] = attached;
  Put(Kind::kGpuClaim, claim, snapshot);
  for (const Json& vmi : vmis) {
    Put(Kind::kVirtualMachineInstance, vmi, snapshot);
  }
  return snapshot;
}

ReviewAnswer AnswerIn(const Snapshot& snapshot,
                      const LiveReads& live = LiveReads()) {
  const absl::StatusOr<AdmissionRequest> request =
      ParseReview(VmiReview(Json::parse(R"([{"claimName": "data"}])")).dump());
  EXPECT_TRUE(request.ok()) << request.status();
  return ReviewRequest(*request, live, snapshot, SampleNow());
}

void ExpectAttaches(const ReviewAnswer& answer, const std::string& what) {
  EXPECT_TRUE(answer.allowed) << what << ": " << answer.message;
  ASSERT_EQ(answer.effects.size(), 1u) << what;
  const v1::Effect& effect = answer.effects[0];
  EXPECT_EQ(effect.target().kind(), "GPUClaim");
  EXPECT_EQ(effect.target().namespace_(), kTenant);
  EXPECT_EQ(effect.target().name(), "data");
  EXPECT_EQ(effect.target().uid(), "uid-data");
  EXPECT_EQ(effect.target().resource_version(), "10");
  EXPECT_EQ(effect.attach_claim().name(), "a1");
  EXPECT_EQ(effect.attach_claim().uid(), "") << "the binder fills it in";
  EXPECT_EQ(effect.attach_claim().since_unix_seconds(),
            absl::ToUnixSeconds(SampleNow()));
}

struct HoldCase {
  const char* what;
  Json attached;
  std::vector<Json> vmis;
};

TEST(HeldClaim, IsAttachedWhenNobodyHoldsIt) {
  const absl::Time now = SampleNow();
  const std::vector<HoldCase> cases = {
      {"never attached", nullptr, {}},
      {"own, by the call before",
       AttachedTo("a1", "", now - absl::Seconds(1)),
       {}},
      {"own, the old VMI has gone", AttachedTo("a1", "old", now), {}},
      {"own, the old VMI has failed",
       AttachedTo("a1", "old", now),
       {VmiJson("a1", "old", "Failed")}},
      {"another's that has ended",
       AttachedTo("b2", "b2uid", now),
       {VmiJson("b2", "b2uid", "Succeeded")}},
      {"another's of an earlier life",
       AttachedTo("b2", "b2old", now),
       {VmiJson("b2", "b2new", "Running")}},
      {"another's that has gone", AttachedTo("b2", "b2uid", now), {}},
      {"promised, and not appeared in time",
       AttachedTo("b2", "", now - absl::Minutes(2)),
       {}},
  };
  for (const HoldCase& c : cases) {
    ExpectAttaches(AnswerIn(ClusterWith(c.attached, c.vmis)), c.what);
  }
}

TEST(HeldClaim, RefusesWhatAnotherHolds) {
  const absl::Time now = SampleNow();
  const std::vector<HoldCase> cases = {
      {"by uid",
       AttachedTo("b2", "b2uid", now - absl::Hours(9)),
       {VmiJson("b2", "b2uid", "Running")}},
      {"by name, pending",
       AttachedTo("b2", "", now - absl::Hours(9)),
       {VmiJson("b2", "b2uid", "Pending")}},
      {"promised a moment ago",
       AttachedTo("b2", "", now - absl::Minutes(2) + absl::Seconds(1)),
       {}},
      {"promised by a clock that is ahead",
       AttachedTo("b2", "", now + absl::Seconds(30)),
       {}},
  };
  for (const HoldCase& c : cases) {
    const ReviewAnswer answer = AnswerIn(ClusterWith(c.attached, c.vmis));
    EXPECT_FALSE(answer.allowed) << c.what;
    EXPECT_EQ(answer.reason, "ClaimAttachedElsewhere") << c.what;
    EXPECT_EQ(answer.code, 422) << c.what;
    EXPECT_THAT(answer.message, HasSubstr("entry 0: GPUClaim \"data\""))
        << c.what;
    EXPECT_THAT(answer.message, HasSubstr("\"b2\"")) << c.what;
    EXPECT_TRUE(answer.effects.empty()) << c.what;
    EXPECT_EQ(answer.doubtful_claims, std::vector<std::string>{"data"})
        << c.what;
  }
}

TEST(HeldClaim, GraceIsTheConfigs) {
  Snapshot snapshot =
      ClusterWith(AttachedTo("b2", "", SampleNow() - absl::Minutes(2)), {});
  snapshot.config.attachment_grace = absl::Minutes(3);
  EXPECT_FALSE(AnswerIn(snapshot).allowed);
}

TEST(HeldClaim, WritesNothingWhileAVmiOfThatNameLives) {
  for (const Json& attached :
       {Json(nullptr), AttachedTo("a1", "uid-a1", SampleNow()),
        AttachedTo("a1", "", SampleNow() - absl::Hours(1))}) {
    const ReviewAnswer answer =
        AnswerIn(ClusterWith(attached, {VmiJson("a1", "uid-a1", "Running")}));
    EXPECT_TRUE(answer.allowed) << "the create fails with AlreadyExists";
    EXPECT_TRUE(answer.effects.empty()) << attached;
  }
}

TEST(HeldClaim, WritesNothingThatIsThereAlready) {
  const ReviewAnswer answer =
      AnswerIn(ClusterWith(AttachedTo("a1", "", SampleNow()), {}));
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.effects.empty());
}

TEST(HeldClaim, NamesTheHoldersThatTheSnapshotDoesNotKnowToBeGone) {
  using Holder = ReviewAnswer::Holder;
  const absl::Time now = SampleNow();
  Snapshot unseen = ClusterWith(AttachedTo("b2", "b2uid", now), {});
  EXPECT_EQ(AnswerIn(unseen).unseen_holders,
            (std::vector<Holder>{{"b2", "b2uid"}}));
  // The snapshot may show the VMI before the one that holds the claim.
  EXPECT_EQ(AnswerIn(ClusterWith(AttachedTo("b2", "b2new", now),
                                 {VmiJson("b2", "b2old", "Running")}))
                .unseen_holders,
            (std::vector<Holder>{{"b2", "b2new"}}));
  EXPECT_EQ(AnswerIn(ClusterWith(AttachedTo("b2", "b2uid", now),
                                 {VmiJson("b2", "b2uid", "Failed")}))
                .unseen_holders,
            std::vector<Holder>{});
  std::get<Table<VirtualMachineInstance>>(unseen.tables).dead.insert("b2uid");
  EXPECT_EQ(AnswerIn(unseen).unseen_holders, std::vector<Holder>{});
}

TEST(HeldClaim, WhatWasReadGoesBeforeTheSnapshot) {
  const Snapshot snapshot =
      ClusterWith(AttachedTo("b2", "b2uid", SampleNow()), {});
  LiveReads lives;
  lives.living_uids.insert("b2uid");
  lives.living_names.insert("b2");
  EXPECT_EQ(AnswerIn(snapshot, lives).reason, "ClaimAttachedElsewhere");
  LiveReads gone;
  gone.claims["data"] = std::nullopt;
  EXPECT_EQ(AnswerIn(snapshot, gone).reason, "ClaimNotFound");
  LiveReads newer;
  newer.claims["data"] = snapshot.claims()[0];
  newer.claims["data"]->meta.resource_version = "11";
  newer.claims["data"]->attached_to.reset();
  const ReviewAnswer answer = AnswerIn(snapshot, newer);
  ASSERT_EQ(answer.effects.size(), 1u);
  EXPECT_EQ(answer.effects[0].target().resource_version(), "11");
}

TEST(HeldClaim, OfAVmiWithoutANameIsLeftToTheBinder) {
  Json review = VmiReview(Json::parse(R"([{"claimName": "data"}])"));
  review["request"].erase("name");
  review["request"]["object"]["metadata"].erase("name");
  review["request"]["object"]["metadata"]["generateName"] = "a";
  const absl::StatusOr<AdmissionRequest> request = ParseReview(review.dump());
  ASSERT_TRUE(request.ok());
  const ReviewAnswer answer = ReviewRequest(
      *request, LiveReads(), ClusterWith(nullptr, {}), SampleNow());
  EXPECT_TRUE(answer.allowed);
  EXPECT_FALSE(answer.patch.empty());
  EXPECT_TRUE(answer.effects.empty());
}

}  // namespace
}  // namespace gpubinder
