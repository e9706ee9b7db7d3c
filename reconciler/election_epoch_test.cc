// Epochs, deleted Leases, and waits that outlive their replica.

#include <gtest/gtest.h>

#include <cstdint>

#include "absl/time/time.h"
#include "reconciler/election_fixture.h"
#include "reconciler/lease.h"

namespace gpubinder {
namespace {

TEST_F(ElectionTest, EpochGrowsThoughTheLeaseWasDeleted) {
  auto a = Start("a_1");
  a->election.NoteEpoch(41);  // of the objects in the first lists
  // Its holder, if alive, would write it again within retryPeriod and a
  // request; and if it cannot, it may lead for a while yet.
  a->RunUntil(t0_ + absl::Seconds(7) - absl::Milliseconds(1));
  EXPECT_EQ(a->client.writes, 0);
  a->RunUntil(t0_ + absl::Seconds(27) - absl::Milliseconds(1));
  EXPECT_EQ(Holder(), "a_1");
  EXPECT_FALSE(a->leading());
  a->RunUntil(t0_ + absl::Seconds(27));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->epoch(), 42u);
}

TEST_F(ElectionTest, WhoReleasesBeforeItLedHandsItsWaitOn) {
  auto a = Start("a_1");
  a->election.NoteEpoch(41);
  a->RunUntil(t0_ + absl::Seconds(10));  // holds since 7, may lead at 27
  ASSERT_TRUE(a->election.Release().ok());
  auto b = Start("b_2");
  b->RunUntil(t0_ + absl::Seconds(30) - absl::Milliseconds(1));
  EXPECT_EQ(Holder(), "b_2");
  EXPECT_FALSE(b->leading());
  b->RunUntil(t0_ + absl::Seconds(30));
  EXPECT_TRUE(b->leading());
  b->RunUntil(t0_ + absl::Seconds(32));
  EXPECT_FALSE(
      Stored()["metadata"]["annotations"].contains(kUnsettledAnnotation));
}

TEST_F(ElectionTest, EpochFoundWhileItWaitsRaisesItsOwn) {
  auto a = Start("a_1");
  a->election.NoteEpoch(41);
  a->RunUntil(t0_ + absl::Seconds(10));
  EXPECT_EQ(a->epoch(), 42u);
  a->election.NoteEpoch(42);  // another's: this one has written nothing
  a->RunUntil(t0_ + absl::Seconds(12));
  EXPECT_EQ(Epoch(), "43");
  a->RunUntil(t0_ + absl::Seconds(27));
  EXPECT_TRUE(a->leading()) << "no longer than without it";
}

TEST_F(ElectionTest, RestartBeforeItLedWaitsAnew) {
  auto a = Start("a_1");
  a->election.NoteEpoch(41);
  a->RunUntil(t0_ + absl::Seconds(10));
  auto again = Start("a_1");
  again->RunUntil(t0_ + absl::Seconds(30) - absl::Milliseconds(1));
  EXPECT_FALSE(again->leading());
  again->RunUntil(t0_ + absl::Seconds(30));
  EXPECT_TRUE(again->leading());
}

TEST_F(ElectionTest, KilledAgainAndAgainBeforeItLedItWaitsNoLonger) {
  LeaveLease();
  for (int i = 0; i < 3; ++i) {
    auto a = Start("old_1");
    a->RunUntil(boot_ + absl::Seconds(4));
    EXPECT_EQ(Holder(), "old_1");
    EXPECT_FALSE(a->leading());
  }
  auto a = Start("old_1");
  a->RunUntil(boot_ + absl::Seconds(5));
  EXPECT_TRUE(a->leading()) << "one request timeout";
}

TEST_F(ElectionTest, WhoReleasesWhileItWaitsForItsRequestsHandsAWaitOn) {
  LeaveLease();
  auto a = Start("old_1");
  a->RunUntil(t0_ + absl::Seconds(1));
  ASSERT_TRUE(a->election.Release().ok());
  auto b = Start("b_2");
  b->RunUntil(t0_ + absl::Seconds(6) - absl::Milliseconds(1));
  EXPECT_EQ(Holder(), "b_2");
  EXPECT_FALSE(b->leading())
      << "requests of old_1's last term may be under way";
}

TEST_F(ElectionTest, ObjectsEpochAboveTheLeasesWins) {
  LeaveLease();
  auto b = Start("b_2");
  b->election.NoteEpoch(9);
  b->RunUntil(t0_ + absl::Seconds(20));
  EXPECT_EQ(b->epoch(), 10u);
}

TEST_F(ElectionTest, EpochNoBinderWroteIsIgnored) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  a->election.NoteEpoch(~uint64_t{0});
  EXPECT_TRUE(a->election.MayStartWrite());
}

TEST_F(ElectionTest, LeaderWritesADeletedLeaseAgain) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  auto b = Start("b_2");
  b->RunUntil(t0_);
  leases_.Delete();
  for (int second = 1; second < 60; ++second) {
    b->RunUntil(t0_ + absl::Seconds(second));
    a->RunUntil(t0_ + absl::Seconds(second));
    ASSERT_TRUE(a->election.MayStartWrite()) << second;
    ASSERT_FALSE(b->leading()) << second;
  }
  EXPECT_EQ(Epoch(), "1");
}

TEST_F(ElectionTest, HigherEpochEndsTheTermAtOnce) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  a->election.NoteEpoch(1);
  EXPECT_TRUE(a->election.MayStartWrite()) << "its own";
  a->election.NoteEpoch(7);
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->election.MayStartWrite());
  // The Lease is ours: a term above that epoch. It begins when its writer
  // must have noticed, from the write that is due 2 s after the last one.
  a->RunUntil(t0_ + absl::Seconds(22) - absl::Milliseconds(1));
  EXPECT_FALSE(a->leading());
  a->RunUntil(t0_ + absl::Seconds(22));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->epoch(), 8u);
}

}  // namespace
}  // namespace gpubinder
