#include "tools/run_webhooks.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/sandbox_cluster.h"
#include "webhook/sample_cluster.h"
#include "webhook/test_secret.h"
#include "webhook/tls_test_client.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr char kHeldClaim[] = R"([{"claimName": "data"}])";

std::string ObjectText(const std::string& api_version, const std::string& kind,
                       Json object) {
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  return object.dump();
}

std::string ClaimText(const std::string& name) {
  return ObjectText("gpu.cozystack.io/v1alpha1", "GPUClaim",
                    {{"metadata", {{"name", name}, {"namespace", kTenant}}},
                     {"spec", {{"className", "h100"}, {"count", 1}}}});
}

class RunWebhooksTest : public testing::Test {
 protected:
  RunWebhooksTest() {
    folder_ = testing::TempDir() + "/webhooks-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~RunWebhooksTest() override {
    webhooks_.reset();
    cluster_.reset();
    std::filesystem::remove_all(folder_);
  }

  void StartCluster() {
    SandboxOptions options{.journal_directory = folder_ + "/journal",
                           .stand_ins = false,
                           .on_pass = [this](const FinishedPass&) {
                             if (!hold_ || held_.HasBeenNotified()) return;
                             held_.Notify();
                             go_on_.WaitForNotification();
                           }};
    auto cluster = SandboxCluster::Start(std::move(options));
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    cluster_ = *std::move(cluster);
    Apply(ObjectText("v1", "Namespace", {{"metadata", {{"name", kTenant}}}}));
    Apply(ObjectText("gpu.cozystack.io/v1alpha1", "GPUClass",
                     {{"metadata", {{"name", "h100"}}},
                      {"spec", {{"resourceName", kH100}}}}));
    Apply(ClaimText("data"));
    ASSERT_TRUE(cluster_->AwaitQuiet(absl::Milliseconds(50), absl::Minutes(1)));
  }

  void Apply(const std::string& json) {
    std::vector<std::string> skipped;
    const absl::Status applied =
        cluster_->Apply({{.where = "here", .json = json}}, skipped);
    ASSERT_TRUE(applied.ok()) << applied;
  }

  std::unique_ptr<ApiClient> NewClient() {
    return cluster_->server().NewClient("gpubinder", {});
  }

  void StartWebhooks(const Loop& loop) {
    auto webhooks = Webhooks::Start(
        {.certificates = secret_.directory(), .address = "127.0.0.1:0"}, loop,
        NewClient(), nullptr);
    ASSERT_TRUE(webhooks.ok()) << webhooks.status();
    webhooks_ = *std::move(webhooks);
  }

  TestAnswer Ask(const std::string& text) {
    const auto client = TlsTestClient::Connect(webhooks_->server().port());
    if (client == nullptr || !client->Send(text)) return {};
    return client->Read();
  }

  TestSecret secret_;
  std::string folder_;
  std::atomic<bool> hold_ = false;
  absl::Notification held_, go_on_;
  std::unique_ptr<SandboxCluster> cluster_;
  std::unique_ptr<Webhooks> webhooks_;
};

TEST_F(RunWebhooksTest, ReviewsAndAttachesWhileTheLoopIsHeldUp) {
  StartCluster();
  StartWebhooks(cluster_->binder().loop());
  hold_ = true;
  Apply(ClaimText("another"));
  held_.WaitForNotification();

  const Json review = VmiReview(Json::parse(kHeldClaim));
  const TestAnswer answer =
      Ask(ReviewRequestText("/mutate-vmi", review.dump()));
  ASSERT_EQ(answer.code, 200) << answer.body;
  const TakenAnswer taken = Take(review, answer.body);
  EXPECT_TRUE(taken.allowed) << taken.message;
  const absl::StatusOr<std::string> claim =
      NewClient()->Get({.group = "gpu.cozystack.io",
                        .version = "v1alpha1",
                        .plural = "gpuclaims",
                        .name_space = kTenant,
                        .name = "data"},
                       absl::Seconds(5));
  ASSERT_TRUE(claim.ok()) << claim.status();
  EXPECT_EQ(Json::parse(*claim)["status"]["attachedTo"]["name"], "a1");
  EXPECT_EQ(Ask(GetText("/readyz")).code, 200);
  go_on_.Notify();
}

TEST_F(RunWebhooksTest, AnswersNothingBeforeTheFirstLists) {
  StartCluster();
  const auto binder =
      Binder::Open({.journal_directory = folder_ + "/other",
                    .pod_name = "other",
                    .new_client = [this] { return NewClient(); }});
  ASSERT_TRUE(binder.ok()) << binder.status();
  StartWebhooks((*binder)->loop());
  for (const std::string& text :
       {GetText("/readyz"),
        ReviewRequestText("/mutate-vmi",
                          VmiReview(Json::parse(kHeldClaim)).dump())}) {
    const TestAnswer answer = Ask(text);
    EXPECT_EQ(answer.code, 503);
    EXPECT_EQ(answer.body, "the cluster has not been listed yet\n");
  }
  EXPECT_EQ(Ask(GetText("/healthz")).code, 200);
  webhooks_.reset();
}

TEST_F(RunWebhooksTest, AnswersWhileItDrains) {
  StartCluster();
  StartWebhooks(cluster_->binder().loop());
  webhooks_->server().BeginDrain();
  const Json review = VmiReview(Json::parse(kHeldClaim));
  EXPECT_EQ(Ask(GetText("/readyz")).code, 503);
  EXPECT_EQ(Ask(ReviewRequestText("/mutate-vmi", review.dump())).code, 200);
  webhooks_->Stop();
}

TEST_F(RunWebhooksTest, SaysWhyItDoesNotStart) {
  StartCluster();
  const auto webhooks =
      Webhooks::Start({.certificates = "/nowhere"}, cluster_->binder().loop(),
                      NewClient(), nullptr);
  EXPECT_EQ(webhooks.status().message(),
            "webhook certificates in /nowhere: opening it: No such file or "
            "directory");
}

}  // namespace
}  // namespace gpubinder
