// The real `gpubinder run` against the embedded server over HTTP, killed with
// SIGKILL at random revisions of the server and started again on its journal.
//
//   GPUBINDER_TEST_SEED=N   the moments
//   GPUBINDER_TEST_KILLS=N  how many (default 50)

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/json_value.h"
#include "k8s/kinds.h"
#include "nlohmann/json.hpp"
#include "tools/stories/burst.h"
#include "tools/stories/child_process.h"
#include "tools/stories/objects.h"
#include "tools/stories/server_invariants.h"

namespace gpubinder {
using embedded::Json;
using embedded::Member;
using embedded::ParseJson;
using embedded::TextAt;

namespace {

// A restart finds its own identity in the Lease and waits only as long as one
// of its requests may take: --request-timeout.
constexpr char kRequestTimeout[] = "500ms";
constexpr absl::Duration kLeadsWithin = absl::Seconds(2);
// Revisions of the server between a start and its kill, at most.
constexpr uint64_t kMostRevisions = 80;
// A burst is over after some more.
constexpr uint64_t kKillsOfRound = 25;
// When nothing is left to do, revisions no longer come.
constexpr absl::Duration kMostWait = absl::Seconds(3);
constexpr absl::Duration kLimit = absl::Minutes(2);
// A write that was refused twice is tried again within it.
constexpr absl::Duration kQuiet = absl::Seconds(2);

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  uint64_t number = 0;
  return given != nullptr && absl::SimpleAtoi(given, &number) ? number
                                                              : otherwise;
}

// A server with the burst on it, and binders on one journal, one at a time.
class BurstRun {
 public:
  BurstRun() : server_({.admission = GateLaunchers}) {
    server_.ObserveRevisions([this](const embedded::StoreEvent& e) { See(e); });
    client_ = server_.NewClient("system:admin", {});
    CreateBurst(*client_);
    EXPECT_TRUE(server_.RunUntilIdle());
    EXPECT_TRUE(server_.ListenHttp(0).ok());
    server_.StartStandIns(absl::Milliseconds(200));
    kubeconfig_ = WriteKubeconfig(folder_.path(), server_.port());
  }

  std::unique_ptr<ChildProcess> Start() {
    return std::make_unique<ChildProcess>(ChildOptions{
        {GpubinderPath(), "run", "--journal", journal(), "--kubeconfig",
         kubeconfig_, "--pod-name", "gpubinder-0", "--grpc-address", "",
         "--request-timeout", kRequestTimeout},
        {}});
  }
  // Until so many revisions have come since `from`, or the limit is over.
  bool AwaitRevisions(uint64_t from, uint64_t count, absl::Duration limit) {
    absl::MutexLock lock(&mutex_);
    const auto came = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return revision_ >= from + count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&came), limit);
  }
  uint64_t revision() const {
    absl::MutexLock lock(&mutex_);
    return revision_;
  }
  // Until all is as it stays, and nothing but the Lease is written.
  bool AwaitEnd() {
    const absl::Time end = absl::Now() + kLimit;
    absl::MutexLock lock(&mutex_);
    while (absl::Now() < end) {
      const uint64_t seen = writes_;
      const auto more = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return writes_ != seen;
      };
      if (bound_.size() == kBurstBound && running_.size() == kBurstMachines &&
          !mutex_.AwaitWithTimeout(absl::Condition(&more), kQuiet)) {
        return true;
      }
      mutex_.AwaitWithDeadline(absl::Condition(&more), end);
    }
    return false;
  }

  std::map<std::string, std::string> Placements() {
    const auto list =
        client_->List(ResourcePathOf(Kind::kGpuClaim), {.limit = 0});
    EXPECT_TRUE(list.ok()) << list.status();
    const Json parsed = *ParseJson(*list);
    return PlacementsOf(Member(parsed, "items"));
  }
  void ExpectNothingBroken() {
    EXPECT_EQ(absl::StrJoin(invariants_.Broken(), "\n"), "");
    EXPECT_EQ(absl::StrJoin(invariants_.BrokenAtTheEnd(), "\n"), "");
  }
  void ExpectJournalIsRight() {
    const ChildEnd end = RunChild({{GpubinderPath(), "replay", journal()}, {}});
    EXPECT_EQ(end.code, 0);
    EXPECT_THAT(end.output, testing::HasSubstr("all equal"));
    std::cout << end.output;
  }

 private:
  std::string journal() const { return folder_.path() + "/journal"; }

  void See(const embedded::StoreEvent& event) {
    invariants_.See(event);
    absl::MutexLock lock(&mutex_);
    revision_ = event.revision;
    const std::string name = event.key.name;
    if (event.key.resource != "leases.coordination.k8s.io") ++writes_;
    if (event.key.resource == "gpuclaims.gpu.cozystack.io" &&
        TextAt(*event.object, {"status", "phase"}) == "Bound") {
      bound_.insert(name);
    }
    if (event.key.resource == "virtualmachineinstances.kubevirt.io" &&
        TextAt(*event.object, {"status", "phase"}) == "Running") {
      running_.insert(name);
    }
  }

  TestFolder folder_;
  std::string kubeconfig_;
  ServerInvariants invariants_;
  mutable absl::Mutex mutex_;
  uint64_t revision_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::string> bound_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> running_ ABSL_GUARDED_BY(mutex_);
  embedded::EmbeddedServer server_;
  std::unique_ptr<ApiClient> client_;
};

std::string Spread(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  if (times.empty()) return "-";
  return absl::StrCat(absl::FormatDuration(times.front()), " / ",
                      absl::FormatDuration(times[times.size() / 2]), " / ",
                      absl::FormatDuration(times.back()));
}

constexpr char kLeading[] = "leading, epoch";

// To the settled end with a binder that nobody kills, which then ends in
// order.
void RunToTheEnd(BurstRun& run) {
  const std::unique_ptr<ChildProcess> binder = run.Start();
  EXPECT_TRUE(binder->AwaitLine(kLeading, kLimit).has_value())
      << binder->output();
  EXPECT_TRUE(run.AwaitEnd()) << binder->output();
  binder->Signal(SIGTERM);
  const ChildEnd end = binder->AwaitEnd(absl::Seconds(30));
  EXPECT_EQ(end.code, 0) << end.output;
  run.ExpectNothingBroken();
  run.ExpectJournalIsRight();
  EXPECT_THAT(run.Placements(), testing::ContainerEq(BurstPlacements()));
}

TEST(KillTest, UndisturbedEveryClaimGetsItsNode) {
  EXPECT_EQ(BurstPlacements().size(), kBurstBound);
  BurstRun run;
  const absl::Time start = absl::Now();
  RunToTheEnd(run);
  std::cout << "undisturbed: " << absl::Now() - start << "\n";
}

// What a round of kills has seen.
struct Tally {
  std::vector<absl::Duration> leads_after, opens_after;
  uint64_t kills = 0, before_leading = 0, late = 0;
};

void KillOnce(BurstRun& run, uint64_t revisions, Tally& tally) {
  const uint64_t from = run.revision();
  const std::unique_ptr<ChildProcess> binder = run.Start();
  if (!run.AwaitRevisions(from, revisions, kMostWait)) ++tally.late;
  binder->Signal(SIGKILL);
  const ChildEnd end = binder->AwaitEnd(absl::Seconds(30));
  ASSERT_EQ(end.signal, SIGKILL) << end.output;
  const auto led = binder->AwaitLine(kLeading, absl::ZeroDuration());
  const auto opened = binder->AwaitLine(" journal ", absl::ZeroDuration());
  if (!led.has_value()) {
    ++tally.before_leading;
    EXPECT_LT(absl::Now() - binder->started(), kLeadsWithin) << end.output;
  } else if (tally.kills > 0) {  // the first start finds no Lease at all
    tally.leads_after.push_back(*led - binder->started());
    tally.opens_after.push_back(*opened - binder->started());
  }
  ++tally.kills;
}

TEST(KillTest, KilledAtAnyMomentItEndsWithTheSamePlacements) {
  const uint64_t seed =
      NumberFrom("GPUBINDER_TEST_SEED", std::random_device()());
  const uint64_t kills = NumberFrom("GPUBINDER_TEST_KILLS", 50);
  std::cout << "seed " << seed << " (GPUBINDER_TEST_SEED)\n";
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<uint64_t> revisions(1, kMostRevisions);
  // Each round has a burst and a journal of its own.
  for (uint64_t left = kills; left > 0;) {
    BurstRun run;
    Tally tally;
    for (; left > 0 && tally.kills < kKillsOfRound; --left) {
      KillOnce(run, revisions(random), tally);
      if (HasFatalFailure()) return;
    }
    RunToTheEnd(run);
    std::cout << tally.kills << " kills, " << tally.before_leading
              << " before it led, " << tally.late
              << " when nothing was left to do\nleads again after "
              << Spread(tally.leads_after)
              << "; of that the journal was open after "
              << Spread(tally.opens_after) << " (least, median, most)\n";
    for (const absl::Duration after : tally.leads_after) {
      EXPECT_LT(after, kLeadsWithin);
    }
  }
}

}  // namespace
}  // namespace gpubinder
