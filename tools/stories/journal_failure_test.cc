// `gpubinder run` whose disk refuses a write while it leads: it gives the
// Lease up, sends nothing more, and ends within a second.
//
// RLIMIT_FSIZE stands for the disk: a file of the journal may not grow beyond
// it.

#include <memory>
#include <random>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/json_value.h"
#include "k8s/kinds.h"
#include "nlohmann/json.hpp"
#include "tools/stories/child_process.h"
#include "tools/stories/objects.h"

namespace gpubinder {
using embedded::Json;
using embedded::TextAt;

namespace {

constexpr long kMostFileBytes = 4 << 20;
constexpr int kMostClaims = 400;
constexpr absl::Duration kCall = absl::Seconds(10);

class JournalFailureTest : public testing::Test {
 protected:
  JournalFailureTest() : client_(server_.NewClient("system:admin", {})) {
    Create(Kind::kNamespace, NamespaceObject("cozy-system"));
    Create(Kind::kNamespace, NamespaceObject(kTenant));
    Create(Kind::kGpuClass, ClassObject("h100", kH100));
    Create(Kind::kNode, NodeObject("a", {{kH100, 1000}}));
    server_.ObserveRevisions([this](const embedded::StoreEvent& e) { See(e); });
    EXPECT_TRUE(server_.ListenHttp(0).ok());
  }

  void Create(Kind kind, const Json& object) {
    ResourcePath path = ResourcePathOf(kind);
    if (PlaceOf(kind).namespaced) path.name_space = kTenant;
    const auto made = client_->Create(path, object.dump(), kCall);
    ASSERT_TRUE(made.ok()) << made.status();
  }
  // Its record takes 50 kB, compressed or not.
  Json BigClaim(int number) {
    Json claim = ClaimObject(absl::StrCat("c-", number), "h100", 1);
    std::string noise;
    for (int i = 0; i < 50000; ++i) noise += static_cast<char>(random_());
    claim["metadata"]["annotations"]["test/noise"] =
        absl::BytesToHexString(noise);
    return claim;
  }
  // True: the claim was bound. False: the binder has ended.
  bool AwaitBound(const std::string& claim, const ChildProcess& binder) {
    const absl::Time end = absl::Now() + absl::Minutes(1);
    absl::MutexLock lock(&mutex_);
    const auto bound = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return bound_.contains(claim);
    };
    // The end of a process cannot be waited for together with that.
    while (!mutex_.AwaitWithTimeout(absl::Condition(&bound),
                                    absl::Milliseconds(20))) {
      if (binder.IsOver() || absl::Now() > end) return false;
    }
    return true;
  }
  void See(const embedded::StoreEvent& event) {
    absl::MutexLock lock(&mutex_);
    if (event.key.resource == "leases.coordination.k8s.io") {
      const bool held =
          !TextAt(*event.object, {"spec", "holderIdentity"}).empty();
      released_ = held ? 0 : event.revision;
      return;
    }
    // A claim as it was made is the test's own, whenever that is.
    const Json& object = *event.object;
    const bool own = event.key.resource == "gpuclaims.gpu.cozystack.io" &&
                     !object.contains("status") &&
                     !object["metadata"].contains("finalizers");
    if (!own) last_write_ = event.revision;
    if (TextAt(*event.object, {"status", "phase"}) == "Bound") {
      bound_.insert(event.key.name);
    }
  }
  uint64_t released() const {
    absl::MutexLock lock(&mutex_);
    return released_;
  }
  uint64_t last_write() const {
    absl::MutexLock lock(&mutex_);
    return last_write_;
  }

  TestFolder folder_;
  std::mt19937_64 random_{1};
  mutable absl::Mutex mutex_;
  std::set<std::string> bound_ ABSL_GUARDED_BY(mutex_);
  uint64_t released_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_write_ ABSL_GUARDED_BY(mutex_) = 0;
  embedded::EmbeddedServer server_{embedded::EmbeddedOptions{}};
  std::unique_ptr<ApiClient> client_;
};

TEST_F(JournalFailureTest, ItGivesTheLeaseUpAndEndsWithinASecond) {
  ChildProcess binder(
      {.arguments = {GpubinderPath(), "run", "--journal",
                     folder_.path() + "/journal", "--kubeconfig",
                     WriteKubeconfig(folder_.path(), server_.port()),
                     "--grpc-address", ""},
       .environment = {},
       .most_file_bytes = kMostFileBytes});
  ASSERT_TRUE(binder.AwaitLine("leading, epoch", absl::Minutes(1)).has_value())
      << binder.output();
  absl::Time failed_from = absl::InfinitePast();
  for (int i = 0; i < kMostClaims; ++i) {
    failed_from = absl::Now();
    const Json claim = BigClaim(i);
    Create(Kind::kGpuClaim, claim);
    if (!AwaitBound(TextAt(claim, {"metadata", "name"}), binder)) break;
  }
  const ChildEnd end = binder.AwaitEnd(absl::Seconds(30));
  EXPECT_EQ(end.code, 3) << end.output;
  EXPECT_LT(end.at - failed_from, absl::Seconds(1));
  std::cout << "ended " << end.at - failed_from
            << " after the claim that it could not journal\n"
            << end.output.substr(end.output.rfind('\n', end.output.size() - 2));
  EXPECT_GT(released(), 0u) << "the Lease is still held";
  EXPECT_LT(last_write(), released()) << "a write after the Lease was given up";
}

}  // namespace
}  // namespace gpubinder
