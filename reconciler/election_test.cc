#include "reconciler/election.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "reconciler/election_fixture.h"
#include "reconciler/model/config.h"

namespace gpubinder {
namespace {

TEST_F(ElectionTest, FirstReplicaEverLeadsAtOnce) {
  auto a = Start("a_1");
  a->election.Tick();
  EXPECT_EQ(a->client.reads + a->client.writes, 1) << "one request a tick";
  a->election.Tick();
  EXPECT_TRUE(a->leading());
  EXPECT_TRUE(a->election.MayStartWrite());
  EXPECT_EQ(a->epoch(), 1u);
  EXPECT_EQ(Holder(), "a_1");
  EXPECT_EQ(Epoch(), "1");
}

TEST_F(ElectionTest, EarlyTickSendsNothing) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  const int writes = a->client.writes;
  EXPECT_EQ(a->election.Tick(), t0_ + absl::Seconds(2));
  EXPECT_EQ(a->client.writes, writes);
}

TEST_F(ElectionTest, DeadHoldersLeaseIsTakenAfterItsDurationAndARequest) {
  LeaveLease();
  auto b = Start("b_2");
  b->RunUntil(t0_ + absl::Seconds(20) - absl::Milliseconds(1));
  EXPECT_EQ(b->client.writes, 0);
  EXPECT_EQ(b->election.State().holder, "old_1");
  b->RunUntil(t0_ + absl::Seconds(20));
  EXPECT_TRUE(b->leading());
  EXPECT_EQ(b->epoch(), 5u);
  EXPECT_EQ(Epoch(), "5");
  EXPECT_EQ(Stored()["spec"]["leaseTransitions"], 3);
}

TEST_F(ElectionTest, TheRecordsOwnDurationCounts) {
  LeaveLease();
  Json lease = Stored();
  lease["spec"]["leaseDurationSeconds"] = 40;
  leases_.Store(lease.dump());
  auto b = Start("b_2");
  b->RunUntil(t0_ + absl::Seconds(45) - absl::Milliseconds(1));
  EXPECT_EQ(b->client.writes, 0);
  b->RunUntil(t0_ + absl::Seconds(45));
  EXPECT_TRUE(b->leading());
}

TEST_F(ElectionTest, RenewedLeaseIsNeverTaken) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  auto b = Start("b_2");
  for (int second = 1; second < 300; ++second) {
    a->RunUntil(t0_ + absl::Seconds(second));
    b->RunUntil(t0_ + absl::Seconds(second));
    ASSERT_TRUE(a->leading()) << second;
    ASSERT_TRUE(a->election.MayStartWrite()) << second;
    ASSERT_FALSE(b->leading()) << second;
  }
  EXPECT_EQ(b->client.writes, 0);
  EXPECT_EQ(a->epoch(), 1u);
}

TEST_F(ElectionTest, OwnIdentityRenewsAtOnceAndLeadsAfterOneRequestTimeout) {
  const Config config = {.lease_duration = absl::Seconds(6),
                         .renew_deadline = absl::Seconds(4),
                         .retry_period = absl::Seconds(1),
                         .request_timeout = absl::Seconds(2)};
  auto before = Start("a_1", config);
  before->RunUntil(t0_ + absl::Seconds(7));
  auto after = Start("a_1", config);  // killed and started again
  after->RunUntil(t0_ + absl::Seconds(7));
  EXPECT_EQ(after->client.writes, 1);
  EXPECT_EQ(Epoch(), "2");
  EXPECT_EQ(Stored()["spec"]["leaseTransitions"], 0);
  after->RunUntil(t0_ + absl::Seconds(9) - absl::Milliseconds(1));
  EXPECT_FALSE(after->leading());
  after->RunUntil(t0_ + absl::Seconds(9));
  EXPECT_TRUE(after->leading());
  EXPECT_EQ(after->epoch(), 2u);
}

TEST_F(ElectionTest, ReleasedLeaseIsTakenWithoutWaiting) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  ASSERT_TRUE(a->election.Release().ok());
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->election.MayStartWrite());
  EXPECT_EQ(Holder(), "");
  EXPECT_EQ(Stored()["spec"]["leaseDurationSeconds"], 1);
  auto b = Start("b_2");
  b->RunUntil(t0_);
  EXPECT_TRUE(b->leading());
  EXPECT_EQ(b->epoch(), 2u);
  EXPECT_EQ(Stored()["spec"]["leaseDurationSeconds"], 15);
}

TEST_F(ElectionTest, ReleaseMeetsAnotherWriter) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  a->client.before = [&] {
    if (a->client.writes != 2) return;
    leases_.Store(leases_.Stored());  // an edit: another version
    a->client.before = nullptr;
  };
  EXPECT_TRUE(a->election.Release().ok());
  EXPECT_EQ(Holder(), "");
}

TEST_F(ElectionTest, ReleaseLeavesAnothersLeaseAlone) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  LeaveLease();
  EXPECT_TRUE(a->election.Release().ok());
  EXPECT_EQ(Holder(), "old_1");
}

TEST_F(ElectionTest, FollowerReleasesNothing) {
  LeaveLease();
  auto b = Start("b_2");
  b->RunUntil(t0_);
  EXPECT_TRUE(b->election.Release().ok());
  EXPECT_EQ(b->client.writes, 0);
  EXPECT_EQ(Holder(), "old_1");
}

TEST_F(ElectionTest, LoserOfARaceFollows) {
  LeaveLease();
  auto b = Start("b_2");
  auto c = Start("c_3");
  c->RunUntil(t0_ + absl::Seconds(19));
  boot_ = t0_;
  b->client.before = [&] {
    if (b->client.writes == 1) c->RunUntil(t0_ + absl::Seconds(20));
  };
  b->RunUntil(t0_ + absl::Seconds(20));
  EXPECT_TRUE(c->leading());
  EXPECT_FALSE(b->leading());
  EXPECT_EQ(b->client.writes, 1);
  EXPECT_EQ(b->election.State().holder, "c_3");
}

TEST_F(ElectionTest, TwoFirstReplicasGiveOneLeader) {
  auto a = Start("a_1");
  auto b = Start("b_2");
  a->election.Tick();
  b->election.Tick();  // both have found no Lease
  a->election.Tick();
  b->RunUntil(t0_);
  EXPECT_TRUE(a->leading());
  EXPECT_FALSE(b->leading());
  EXPECT_EQ(Holder(), "a_1");
}

TEST_F(ElectionTest, FailingRenewalsEndTheTermAtTheDeadline) {
  auto a = Start("a_1");
  a->RunUntil(t0_ + absl::Seconds(2));  // renewed last now
  a->client.failure = absl::UnavailableError("refused");
  a->RunUntil(t0_ + absl::Seconds(7) - absl::Milliseconds(1));
  EXPECT_TRUE(a->election.MayStartWrite());
  a->RunUntil(t0_ + absl::Seconds(7));
  EXPECT_FALSE(a->election.MayStartWrite()) << "5 s of 10 are left";
  a->RunUntil(t0_ + absl::Seconds(12) - absl::Milliseconds(1));
  EXPECT_TRUE(a->leading());
  EXPECT_TRUE(absl::IsUnavailable(a->election.State().last));
  a->RunUntil(t0_ + absl::Seconds(12));
  EXPECT_FALSE(a->leading());

  // Nobody took it: a term of its own, once our longest request is over.
  a->client.failure = absl::OkStatus();
  a->RunUntil(t0_ + absl::Seconds(18));
  EXPECT_FALSE(a->leading());
  a->RunUntil(t0_ + absl::Seconds(20));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->epoch(), 2u);
}

TEST_F(ElectionTest, TheTermCountsFromTheSendingOfTheRenewal) {
  auto a = Start("a_1");
  a->client.before = [&] {
    if (a->client.writes == 1) boot_ += absl::Seconds(4);
  };
  a->election.Tick();
  a->election.Tick();  // sent at 0, answered at 4
  EXPECT_TRUE(a->election.MayStartWrite());
  boot_ = t0_ + absl::Seconds(5);
  EXPECT_FALSE(a->election.MayStartWrite());
}

TEST_F(ElectionTest, LostAnswerOfARenewalDoesNotEndTheTerm) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  a->client.failure = absl::DeadlineExceededError("timeout");
  a->client.applies_failing = true;
  a->RunUntil(t0_ + absl::Seconds(2));
  a->client.failure = absl::OkStatus();
  a->RunUntil(t0_ + absl::Seconds(6));
  EXPECT_TRUE(a->leading());
  EXPECT_TRUE(a->election.MayStartWrite());
  EXPECT_EQ(a->epoch(), 1u);
}

TEST_F(ElectionTest, LostAnswerOfAnAcquisitionIsATermThatNobodyLed) {
  auto a = Start("a_1");
  a->client.failure = absl::DeadlineExceededError("timeout");
  a->client.applies_failing = true;
  a->client.before = [&] {
    if (a->client.writes == 0) a->client.failure = absl::OkStatus();
    if (a->client.writes == 1) {
      a->client.failure = absl::DeadlineExceededError("timeout");
    }
  };
  a->RunUntil(t0_);
  EXPECT_EQ(Holder(), "a_1");
  EXPECT_FALSE(a->leading());
  a->client.before = nullptr;
  a->client.failure = absl::OkStatus();
  a->RunUntil(t0_ + absl::Seconds(10));
  EXPECT_TRUE(a->leading());
  EXPECT_EQ(a->epoch(), 2u);
}

TEST_F(ElectionTest, WallClockIsOnlyForShow) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  auto b = Start("b_2");
  for (int second = 1; second < 120; ++second) {
    wall_ += (second % 2 == 0) ? absl::Hours(24 * 90) : -absl::Hours(24 * 91);
    a->RunUntil(t0_ + absl::Seconds(second));
    b->RunUntil(t0_ + absl::Seconds(second));
    ASSERT_TRUE(a->election.MayStartWrite()) << second;
    ASSERT_FALSE(b->leading()) << second;
  }
}

TEST_F(ElectionTest, StoppedProcessWritesNothingWhenItWakes) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  boot_ += absl::Seconds(60);  // SIGSTOP, or the machine slept
  EXPECT_FALSE(a->election.MayStartWrite()) << "before any tick";
  a->election.Tick();
  EXPECT_FALSE(a->leading());
  a->RunUntil(t0_ + absl::Seconds(65));
  EXPECT_TRUE(a->leading()) << "nobody else took it";
  EXPECT_EQ(a->epoch(), 2u);
}

TEST_F(ElectionTest, StoppedLeaderFindsItsSuccessor) {
  auto a = Start("a_1");
  a->RunUntil(t0_);
  auto b = Start("b_2");
  b->RunUntil(t0_ + absl::Seconds(20));
  ASSERT_TRUE(b->leading());
  EXPECT_FALSE(a->election.MayStartWrite());
  a->RunUntil(t0_ + absl::Seconds(20));
  EXPECT_FALSE(a->leading());
  EXPECT_EQ(a->election.State().holder, "b_2");
  EXPECT_EQ(Holder(), "b_2");
}

TEST_F(ElectionTest, DelayedAnswerAfterTheDeadlineLeadsToNothing) {
  auto a = Start("a_1");
  a->client.before = [&] {
    if (a->client.writes == 1) boot_ += absl::Seconds(11);
  };
  a->election.Tick();
  a->election.Tick();
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->election.MayStartWrite());
}

TEST_F(ElectionTest, ObserverNeverWritesNorLeads) {
  LeaveLease();
  auto o = Start("o_1", {.observe = true});
  o->RunUntil(t0_ + absl::Minutes(5));
  leases_.Delete();
  o->RunUntil(t0_ + absl::Minutes(10));
  EXPECT_FALSE(o->leading());
  EXPECT_TRUE(o->election.Release().ok());
  EXPECT_EQ(o->client.writes, 0);
  EXPECT_EQ(o->client.reads, 301) << "one each retryPeriod";
}

TEST_F(ElectionTest, ServerThatAlwaysConflictsIsAskedOncePerRetryPeriod) {
  LeaveLease();
  Json released = Stored();
  released["spec"]["holderIdentity"] = "";
  leases_.Store(released.dump());
  auto a = Start("a_1");
  a->client.before = [&] { leases_.Store(leases_.Stored()); };
  a->RunUntil(t0_ + absl::Seconds(60));
  EXPECT_FALSE(a->leading());
  EXPECT_EQ(a->client.writes, 31);
}

TEST(CheckLeaseTimes, NamesTheFieldAndWhatIsLegal) {
  EXPECT_TRUE(CheckLeaseTimes({}).ok());
  EXPECT_EQ(CheckLeaseTimes({.renew_deadline = absl::Seconds(7)}).message(),
            "config: renewDeadline is 7s, legal is more than requestTimeout + "
            "retryPeriod, 7s");
  EXPECT_EQ(CheckLeaseTimes({.lease_duration = absl::Seconds(10)}).message(),
            "config: leaseDuration is 10s, legal is whole seconds, more than "
            "renewDeadline, 10s");
  EXPECT_FALSE(
      CheckLeaseTimes({.lease_duration = absl::Milliseconds(15500)}).ok());
  EXPECT_FALSE(CheckLeaseTimes({.retry_period = absl::Seconds(0)}).ok());
  EXPECT_FALSE(CheckLeaseTimes({.request_timeout = absl::Seconds(0)}).ok());
}

}  // namespace
}  // namespace gpubinder
