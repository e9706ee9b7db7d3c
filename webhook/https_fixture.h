// For tests: an admission server on a free port, in front of the real rules on
// the sample cluster.

#ifndef WEBHOOK_HTTPS_FIXTURE_H_
#define WEBHOOK_HTTPS_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "webhook/https_server.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"
#include "webhook/test_secret.h"
#include "webhook/tls_test_client.h"

namespace gpubinder {

class HttpsTest : public testing::Test {
 protected:
  // Change `options_` before.
  void Start() {
    absl::StatusOr<std::unique_ptr<HttpsServer>> server =
        HttpsServer::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<TlsTestClient> Connect() {
    auto client = TlsTestClient::Connect(server_->port());
    EXPECT_NE(client, nullptr);
    return client;
  }

  // Of a connection of its own; code 0: closed without an answer.
  TestAnswer Ask(const std::string& bytes) {
    const auto client = Connect();
    client->Send(bytes);
    return client->Read();
  }

  std::string PodBody() const { return PodReview(kClaims).dump(); }
  std::string PodText() const {
    return ReviewRequestText("/mutate-pod", PodBody());
  }

  const nlohmann::json kClaims =
      nlohmann::json::parse(R"([{"claimTemplate": {"className": "h100"}}])");
  const Snapshot snapshot_ = SampleCluster();
  TestSecret secret_;
  HttpsOptions options_ = {.certificate_directory = secret_.directory(),
                           .review =
                               [this](absl::string_view body) {
                                 return Review(body, snapshot_, SampleNow());
                               },
                           .health = [] { return absl::OkStatus(); }};
  std::unique_ptr<HttpsServer> server_;
};

}  // namespace gpubinder

#endif  // WEBHOOK_HTTPS_FIXTURE_H_
