#include "reconciler/model/write_rate.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubinder {
namespace {

constexpr char kKey[] = "a/web";

v1::Effect Memory(const std::string& message) {
  v1::Effect effect;
  effect.set_set_key(kKey);
  effect.mutable_target()->set_uid("set-1");
  effect.mutable_write_claim_set()->set_message(message);
  return effect;
}

v1::Effect OnClaim() {
  v1::Effect effect;
  effect.set_set_key(kKey);
  effect.mutable_target()->set_uid("claim-1");
  return effect;
}

v1::Effect Bind(const char* node) {
  v1::Effect effect = OnClaim();
  effect.mutable_bind_claim()->set_node_name(node);
  return effect;
}

v1::Effect Lose() {
  v1::Effect effect = OnClaim();
  effect.mutable_lose_claim()->set_reason(v1::NODE_GONE);
  return effect;
}

v1::Effect Gathered(const char* status) {
  v1::Effect effect = OnClaim();
  effect.mutable_set_condition()->set_type("Gathered");
  effect.mutable_set_condition()->set_status(status);
  return effect;
}

v1::Outcome Applied() {
  v1::Outcome outcome;
  outcome.set_kind(v1::Outcome::APPLIED);
  return outcome;
}

v1::Outcome Refused(int code) {
  v1::Outcome outcome;
  outcome.set_kind(v1::Outcome::REFUSED);
  outcome.set_code(code);
  return outcome;
}

class WriteRateTest : public testing::Test {
 protected:
  // How long the set has to wait from `at_` on.
  absl::Duration Note(const v1::Effect& effect, const v1::Outcome& outcome) {
    NoteRate(effect, outcome, at_, snapshot_);
    auto rate = snapshot_.write_rates.find(kKey);
    if (rate == snapshot_.write_rates.end()) return absl::ZeroDuration();
    return rate->second.until - at_;
  }

  Snapshot snapshot_;
  absl::Time at_ = absl::FromUnixSeconds(1700000000);
};

TEST_F(WriteRateTest, AWriteThatDoesNotStickIsRepeatedEverMoreSlowly) {
  EXPECT_EQ(Note(Memory("x"), Applied()), absl::ZeroDuration());
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    at_ += absl::Seconds(1);
    EXPECT_EQ(Note(Memory("x"), Applied()), absl::Seconds(seconds));
  }
}

TEST_F(WriteRateTest, AnotherContentOrALaterTimeIsNoRepeat) {
  Note(Memory("x"), Applied());
  EXPECT_EQ(Note(Memory("y"), Applied()), absl::ZeroDuration());
  at_ += absl::Minutes(1);
  EXPECT_EQ(Note(Memory("y"), Applied()), absl::ZeroDuration());
}

TEST_F(WriteRateTest, WhatALaterWriteUndidHasStuck) {
  v1::Effect attach = OnClaim(), release = OnClaim();
  attach.mutable_attach_claim()->set_uid("vmi-1");
  release.mutable_release_claim()->set_uid("vmi-1");
  v1::Effect protect = OnClaim(), unprotect = OnClaim();
  protect.mutable_add_finalizer()->set_finalizer("f");
  unprotect.mutable_remove_finalizer()->set_finalizer("f");
  const v1::Effect waits = Gathered("False");
  for (const v1::Effect& effect :
       {Bind("a"), Lose(), Bind("a"), Lose(), attach, release, attach, release,
        protect, unprotect, protect, waits, Bind("b"), waits}) {
    EXPECT_EQ(Note(effect, Applied()), absl::ZeroDuration())
        << effect.ShortDebugString();
  }
}

TEST_F(WriteRateTest, ABindingOrALossThatNobodyOfUsUndidHasNotStuck) {
  Note(Bind("a"), Applied());
  EXPECT_EQ(Note(Bind("a"), Applied()), absl::Seconds(1));
  EXPECT_EQ(Note(Lose(), Applied()), absl::ZeroDuration());
  EXPECT_EQ(Note(Lose(), Applied()), absl::Seconds(1));
}

TEST_F(WriteRateTest, TheFirstConflictInARowIsDecidedAgainAtOnce) {
  EXPECT_EQ(Note(Memory("x"), Refused(409)), absl::ZeroDuration());
  EXPECT_EQ(Note(Memory("x"), Refused(409)), absl::Seconds(2));
  EXPECT_EQ(Note(Memory("x"), Applied()), absl::ZeroDuration());
  EXPECT_EQ(Note(Memory("z"), Refused(422)), absl::Seconds(1));
}

TEST_F(WriteRateTest, RetryAfterIsObeyed) {
  v1::Outcome outcome = Refused(429);
  outcome.set_retry_after_seconds(17);
  EXPECT_EQ(Note(Memory("x"), outcome), absl::Seconds(17));
}

TEST_F(WriteRateTest, AWarningGivenBeforeSaysNothingOfTheWriteBehindIt) {
  Note(Memory("x"), Refused(500));
  v1::Effect warning;
  warning.set_set_key(kKey);
  warning.mutable_emit_warning()->set_name("w");
  EXPECT_EQ(Note(warning, Applied()), absl::Seconds(1));
}

TEST_F(WriteRateTest, WritesToAnObjectThatGoesAreForgotten) {
  Note(Memory("x"), Applied());
  ForgetWrites("set-1", snapshot_);
  EXPECT_TRUE(snapshot_.applied_writes.empty());
}

}  // namespace
}  // namespace gpubinder
