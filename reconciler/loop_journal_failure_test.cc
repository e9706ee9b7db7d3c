// A loop whose journal fails while writes are under way: what was decided and
// has not left by then does not leave any more.

#include <time.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "journal/faulty_file_system.h"
#include "journal/journal.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/kinds.h"
#include "reconciler/loop.h"

namespace gpubinder {
namespace {

constexpr int kParallel = 16;  // EffectorOptions
constexpr int kClaims = 3 * kParallel;
constexpr absl::Duration kLimit = absl::Minutes(1);

int64_t BootNanos() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

class LoopJournalFailureTest : public testing::Test {
 protected:
  LoopJournalFailureTest() : plain_(server_.NewClient("test", {})) {
    Create(Kind::kNamespace, "", R"({"metadata":{"name":"a"}})");
    Create(Kind::kGpuClass, "",
           R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClass",
               "metadata":{"name":"h100"},
               "spec":{"resourceName":"nvidia.com/H100"}})");
    CreateNode("node");
    for (int i = 0; i < kClaims; ++i) {
      Create(Kind::kGpuClaim, "a",
             absl::StrCat(R"({"apiVersion":"gpu.cozystack.io/v1alpha1",)",
                          R"("kind":"GPUClaim","metadata":{"name":"c)", i,
                          R"("},"spec":{"className":"h100","count":1}})"));
    }
    std::string folder = testing::TempDir() + "loop-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    journal_ = *Journal::Open({.directory = folder + "/journal",
                               .random = [] { return uint64_t{7}; },
                               .clock = absl::Now,
                               .file_system = disk_});
  }

  void Create(Kind kind, const std::string& space, const std::string& json) {
    ResourcePath path = ResourcePathOf(kind);
    path.name_space = space;
    const auto made = plain_->Create(path, json, absl::Seconds(5));
    ASSERT_TRUE(made.ok()) << made.status();
  }
  void CreateNode(const std::string& name) {
    Create(Kind::kNode, "",
           absl::StrCat(R"({"apiVersion":"v1","kind":"Node",)",
                        R"("metadata":{"name":")", name, R"("},"status":{)",
                        R"("conditions":[{"type":"Ready","status":"True"}],)",
                        R"("allocatable":{"nvidia.com/H100":"1000"}}})"));
  }
  // Each write of the loop is counted, and those of claims wait for `go_`.
  embedded::Fault CountAndHold(const embedded::ApiRequest& request) {
    if (request.target.find("gpuclaims") == std::string::npos) return {};
    {
      absl::MutexLock lock(&mutex_);
      ++sent_;
    }
    go_.WaitForNotification();
    return {};
  }
  bool AwaitSent(int count, absl::Duration limit) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return sent_ >= count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&enough), limit);
  }

  absl::Mutex mutex_;
  int sent_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Notification go_;
  embedded::EmbeddedServer server_{embedded::EmbeddedOptions{}};
  std::unique_ptr<ApiClient> plain_;
  std::shared_ptr<FaultyFileSystem> disk_ =
      std::make_shared<FaultyFileSystem>();
  std::unique_ptr<Journal> journal_;
};

TEST_F(LoopJournalFailureTest, WhatHasNotLeftYetIsNotSent) {
  const std::unique_ptr<ApiClient> writes = server_.NewClient(
      "gpubinder", [this](const embedded::ApiRequest& request) {
        return CountAndHold(request);
      });
  absl::Notification synced;
  absl::StatusOr<std::unique_ptr<Loop>> loop =
      Loop::Open({.new_watch_client =
                      [this] { return server_.NewClient("gpubinder", {}); },
                  .wall_clock = absl::Now,
                  .boot_clock_nanos = BootNanos,
                  .may_write = [] { return true; },
                  .on_synced = [&] { synced.Notify(); },
                  .on_pass = [](const FinishedPass&) {},
                  .on_outcome = [](const v1::Record&) {},
                  .on_trouble = [](Kind, const absl::Status&) {}},
                 *journal_, *writes);
  ASSERT_TRUE(loop.ok()) << loop.status();
  (*loop)->Start();
  ASSERT_TRUE(synced.WaitForNotificationWithTimeout(kLimit));
  (*loop)->OnLeadership({.leading = true, .epoch = 1, .holder = "me"});
  ASSERT_TRUE(AwaitSent(kParallel, kLimit));

  disk_->Set({.fail_at = 1});
  CreateNode("another");  // its record cannot be appended
  EXPECT_FALSE((*loop)->Wait().ok());
  go_.Notify();
  EXPECT_FALSE(AwaitSent(kParallel + 1, absl::Milliseconds(300)))
      << "sent after the journal had failed";
  (*loop)->Stop();
}

}  // namespace
}  // namespace gpubinder
