// Replicas, servers and machines that misbehave at random. At no time may two
// replicas write, the longest request of each counted in.
//
//   election_random_test --seed=N

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/check.h"
#include "reconciler/election.h"
#include "reconciler/fake_leases.h"
#include "reconciler/lease.h"
#include "reconciler/model/config.h"

namespace gpubinder {
namespace {

uint64_t seed = 0;

class World {
 public:
  explicit World(uint64_t world_seed) : random_(world_seed) {
    for (int i = 0; i < 3; ++i) Restart(replicas_[i], i);
  }

  // Some replica does the next thing it has to do, well or badly.
  void Step() {
    const auto next = std::min_element(
        replicas_.begin(), replicas_.end(),
        [](const Replica& a, const Replica& b) { return a.next < b.next; });
    now_ = std::max(now_, next->next);
    const int index = static_cast<int>(next - replicas_.begin());
    if (OneIn(40)) {
      if (OneIn(2) && now_ > next->writes_until) {
        next->election->Release().IgnoreError();
      }
      Restart(*next, index);
    } else if (OneIn(30)) {
      next->next = now_ + absl::Milliseconds(Below(40'000));  // stopped
    } else {
      next->next = next->election->Tick();
    }
    // Once each replica knows that there was a leader.
    if (now_ > absl::Minutes(5) && OneIn(200)) leases_.Delete();
    Check();
  }

  // Each leader starts a write if it may; nobody else's may be under way.
  void Check() {
    for (Replica& replica : replicas_) {
      replica.election->NoteEpoch(highest_);  // by its watches
      if (!replica.election->MayStartWrite()) continue;
      for (const Replica& other : replicas_) {
        if (&other == &replica) continue;
        ASSERT_LE(other.writes_until, now_) << "two at " << now_;
      }
      const uint64_t epoch = replica.election->State().epoch;
      ASSERT_TRUE(epoch > highest_ ||
                  (epoch == highest_ && writer_ == &replica))
          << epoch << " after " << highest_ << " at " << now_;
      highest_ = epoch;
      writer_ = &replica;
      replica.writes_until = now_ + config_.request_timeout;
      ++writes;
    }
  }

  int64_t writes = 0;
  uint64_t epochs() const { return highest_; }

 private:
  struct Replica {
    std::unique_ptr<FakeLeaseClient> client;
    std::unique_ptr<LeaseElection> election;
    absl::Duration next;
    absl::Duration writes_until = -absl::InfiniteDuration();
  };

  // Kills it and starts it anew, with the same identity.
  void Restart(Replica& replica, int index) {
    replica.client = std::make_unique<FakeLeaseClient>(leases_);
    FakeLeaseClient& client = *replica.client;
    client.before = [this, &client] {
      const bool slow = OneIn(10);
      now_ += absl::Milliseconds(Below(slow ? 5'000 : 50));
      client.failure =
          OneIn(8) ? absl::DeadlineExceededError("timeout") : absl::OkStatus();
      client.applies_failing = OneIn(2);
    };
    replica.election = std::make_unique<LeaseElection>(
        config_, absl::StrCat("r_", index), client,
        ElectionClocks{.boot = [this] { return now_; },
                       .wall =
                           [this] {
                             return absl::UnixEpoch() +
                                    absl::Seconds(Below(1 << 30));
                           }});
    replica.election->NoteEpoch(highest_);
    replica.next = now_;
  }
  int64_t Below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random_);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }

  const Config config_;
  std::mt19937_64 random_;
  absl::Duration now_;
  FakeLeases leases_;
  uint64_t highest_ = 0;
  const Replica* writer_ = nullptr;  // with that epoch
  std::array<Replica, 3> replicas_;
};

TEST(ElectionRandomTest, NeverTwoWriters) {
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(absl::StrCat("--seed=", seed + i));
    World world(seed + i);
    for (int step = 0; step < 4'000; ++step) {
      world.Step();
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(world.writes, 400) << "hardly anybody led";
    EXPECT_GT(world.epochs(), 10u);
  }
}

}  // namespace
}  // namespace gpubinder

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gpubinder::seed = std::random_device()();
  for (int i = 1; i < argc; ++i) {
    absl::string_view flag = argv[i];
    if (absl::ConsumePrefix(&flag, "--seed=")) {
      BINDER_CHECK(absl::SimpleAtoi(flag, &gpubinder::seed));
    }
  }
  std::printf("--seed=%llu\n",
              static_cast<unsigned long long>(gpubinder::seed));
  return RUN_ALL_TESTS();
}
