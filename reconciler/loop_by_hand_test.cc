// What an operator does by hand goes through the journal and changes what the
// next pass does.

#include <time.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "journal/journal.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/kinds.h"
#include "nlohmann/json.hpp"
#include "reconciler/loop.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kLimit = absl::Minutes(1);

int64_t BootNanos() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// Three nodes, each with a claim that fills it.
class LoopByHandTest : public testing::Test {
 protected:
  LoopByHandTest()
      : client_(server_.NewClient("test", {})),
        writes_(server_.NewClient("gpubinder", {})) {
    Create(Kind::kNamespace, "", R"({"metadata":{"name":"t"}})");
    Create(Kind::kNamespace, "", R"({"metadata":{"name":"cozy-system"}})");
    Create(Kind::kGpuClass, "",
           R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClass",
               "metadata":{"name":"h100"},
               "spec":{"resourceName":"nvidia.com/H100"}})");
    for (const char* name : {"a", "b", "c"}) {
      Create(Kind::kNode, "",
             absl::StrCat(
                 R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")",
                 name, R"(","labels":{"kubevirt.io/schedulable":"true"}},)",
                 R"("status":{)",
                 R"("conditions":[{"type":"Ready","status":"True"}],)",
                 R"("allocatable":{"nvidia.com/H100":"2"}}})"));
      Create(Kind::kGpuClaim, "t",
             absl::StrCat(R"({"apiVersion":"gpu.cozystack.io/v1alpha1",)",
                          R"("kind":"GPUClaim","metadata":{"name":")", name,
                          R"("},"spec":{"className":"h100","count":2}})"));
    }
    std::string folder = testing::TempDir() + "by-hand-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    journal_ = *Journal::Open({.directory = folder + "/journal",
                               .random = [] { return uint64_t{7}; },
                               .clock = absl::Now});
    StartLoop();
  }
  ~LoopByHandTest() override { loop_->Stop(); }

  void StartLoop() {
    loop_ = *Loop::Open(
        {.new_watch_client =
             [this] { return server_.NewClient("gpubinder", {}); },
         .wall_clock = absl::Now,
         .boot_clock_nanos = BootNanos,
         .may_write = [] { return true; },
         .on_synced = [this] { synced_.Notify(); },
         .on_pass = [this](const FinishedPass& pass) { See(pass.result); },
         .on_outcome = [](const v1::Record&) {},
         .on_trouble = [](Kind, const absl::Status&) {}},
        *journal_, *writes_);
    loop_->Start();
    ASSERT_TRUE(synced_.WaitForNotificationWithTimeout(kLimit));
  }
  void Lead() {
    loop_->OnLeadership({.leading = true, .epoch = 1, .holder = "me"});
  }

  void Create(Kind kind, const std::string& space, const std::string& json) {
    ResourcePath path = ResourcePathOf(kind);
    path.name_space = space;
    const auto made = client_->Create(path, json, absl::Seconds(5));
    ASSERT_TRUE(made.ok()) << made.status();
  }
  // At once: no node matches the class any more.
  void LoseAllNodes() {
    ResourcePath path = ResourcePathOf(Kind::kGpuClass);
    path.name = "h100";
    const auto changed = client_->Patch(
        path, PatchType::kMerge, R"({"spec":{"nodeSelector":{"pool":"gpu"}}})",
        absl::Seconds(5));
    ASSERT_TRUE(changed.ok()) << changed.status();
  }
  std::string PhaseOf(const std::string& claim) {
    ResourcePath path = ResourcePathOf(Kind::kGpuClaim);
    path.name_space = "t";
    path.name = claim;
    const auto found = client_->Get(path, absl::Seconds(5));
    if (!found.ok()) return std::string(found.status().message());
    return nlohmann::json::parse(*found)["status"].value("phase", "");
  }
  std::string Phases() {
    return absl::StrCat(PhaseOf("a"), " ", PhaseOf("b"), " ", PhaseOf("c"));
  }

  void See(const PassResult& result) {
    absl::MutexLock lock(&mutex_);
    mass_loss_ = result.mass_loss;
  }
  // Until the last pass says so, nothing is left to do and the claims are so.
  bool Await(bool mass_loss, const std::string& phases) {
    const absl::Time end = absl::Now() + kLimit;
    for (; absl::Now() < end; absl::SleepFor(absl::Milliseconds(2))) {
      absl::MutexLock lock(&mutex_);
      if (mass_loss_ == mass_loss && loop_->IsSettled() && Phases() == phases) {
        return true;
      }
    }
    return false;
  }

  static v1::ByHand Confirm() {
    v1::ByHand command;
    command.set_user("ada");
    command.mutable_confirm_mass_loss();
    return command;
  }
  absl::StatusOr<v1::Record> CarryOut(v1::ByHand command) {
    return loop_->CarryOut(std::move(command), absl::Now() + kLimit);
  }

  embedded::EmbeddedServer server_{embedded::EmbeddedOptions{}};
  const std::unique_ptr<ApiClient> client_, writes_;
  std::unique_ptr<Journal> journal_;
  absl::Notification synced_;
  absl::Mutex mutex_;
  bool mass_loss_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Loop> loop_;
};

TEST_F(LoopByHandTest, AConfirmedMassLossGoesOnAndIsARecord) {
  Lead();
  ASSERT_TRUE(Await(false, "Bound Bound Bound")) << Phases();
  EXPECT_EQ(CarryOut(Confirm()).status(),
            absl::FailedPreconditionError(
                "there is nothing to confirm: no mass loss stands"));
  LoseAllNodes();
  ASSERT_TRUE(Await(true, "Bound Bound Bound")) << Phases();

  v1::ByHand too_few = Confirm();
  too_few.mutable_confirm_mass_loss()->add_nodes("a");
  EXPECT_EQ(CarryOut(too_few).status(),
            absl::FailedPreconditionError(
                "found 1 nodes named, want the 3 of the mass loss that "
                "stands: a, b, c"));
  EXPECT_EQ(Phases(), "Bound Bound Bound");

  const absl::StatusOr<v1::Record> done = CarryOut(Confirm());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_LE(done->sequence(), journal_->synced_sequence());
  EXPECT_TRUE(Await(false, "Lost Lost Lost")) << Phases();
  v1::Record kept;
  ASSERT_TRUE(journal_
                  ->Read(done->sequence(),
                         [&](const v1::Record& record) {
                           kept = record;
                           return false;
                         })
                  .ok());
  EXPECT_EQ(kept.by_hand().user(), "ada");
  EXPECT_EQ(absl::StrJoin(kept.by_hand().confirm_mass_loss().nodes(), " "),
            "a b c");
}

TEST_F(LoopByHandTest, AFollowerAndABadCommandAreRefused) {
  EXPECT_EQ(CarryOut(Confirm()).status(),
            absl::FailedPreconditionError("this replica does not lead; ask "
                                          "the one that holds the Lease"));
  Lead();
  ASSERT_TRUE(Await(false, "Bound Bound Bound")) << Phases();
  v1::ByHand nobody = Confirm();
  nobody.clear_user();
  EXPECT_EQ(CarryOut(nobody).status(),
            absl::InvalidArgumentError(
                "user: found 0 bytes, want a name of 1 to 253 bytes of UTF-8 "
                "without control characters"));
  v1::ByHand nothing;
  nothing.set_user("ada");
  EXPECT_EQ(
      CarryOut(nothing).status(),
      absl::InvalidArgumentError("command: found none that is known here"));
  loop_->Stop();
  EXPECT_EQ(CarryOut(Confirm()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace gpubinder
