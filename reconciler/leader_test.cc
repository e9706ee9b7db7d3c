#include "reconciler/leader.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/election.h"
#include "reconciler/fake_leases.h"
#include "reconciler/model/config.h"

namespace gpubinder {
namespace {

// What a leader has said so far.
class Reports {
 public:
  void Add(const LeaderState& state) {
    std::lock_guard<std::mutex> lock(mu_);
    states_.push_back(state);
    changed_.notify_all();
  }
  // Blocks until some state was like this.
  void Await(bool leading, uint64_t epoch) {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [&] {
      for (const LeaderState& state : states_) {
        if (state.leading == leading && state.epoch == epoch) return true;
      }
      return false;
    });
  }
  LeaderState Last() {
    std::lock_guard<std::mutex> lock(mu_);
    return states_.back();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<LeaderState> states_;
};

TEST(Leader, LeadsAndHandsOver) {
  FakeLeases leases;
  FakeLeaseClient client_a(leases), client_b(leases);
  Reports reports_a, reports_b;
  Leader a({}, "a_1", client_a, SystemClocks());
  a.Start([&](const LeaderState& state) { reports_a.Add(state); });
  reports_a.Await(/*leading=*/true, 1);
  EXPECT_TRUE(a.MayStartWrite());
  ASSERT_TRUE(a.Stop().ok());
  EXPECT_FALSE(reports_a.Last().leading);
  EXPECT_FALSE(a.MayStartWrite());

  Leader b({}, "b_2", client_b, SystemClocks());
  b.Start([&](const LeaderState& state) { reports_b.Add(state); });
  reports_b.Await(/*leading=*/true, 2);
  EXPECT_EQ(b.State().holder, "b_2");
}

TEST(Leader, SaysAtOnceThatAHigherEpochEndedItsTerm) {
  FakeLeases leases;
  FakeLeaseClient client(leases);
  Reports reports;
  // Its next tick by time is an hour away.
  const Config config = {.lease_duration = absl::Hours(10),
                         .renew_deadline = absl::Hours(5),
                         .retry_period = absl::Hours(1)};
  Leader leader(config, "a_1", client, SystemClocks());
  leader.Start([&](const LeaderState& state) { reports.Add(state); });
  reports.Await(/*leading=*/true, 1);
  leader.NoteEpoch(3);
  EXPECT_FALSE(leader.MayStartWrite());
  reports.Await(/*leading=*/false, 1);
  EXPECT_TRUE(leader.Stop().ok());
}

TEST(Leader, StopBeforeStartIsNothing) {
  FakeLeases leases;
  FakeLeaseClient client(leases);
  Leader leader({}, "a_1", client, SystemClocks());
  EXPECT_TRUE(leader.Stop().ok());
  EXPECT_EQ(client.reads + client.writes, 0);
}

}  // namespace
}  // namespace gpubinder
