// Certificates that change while the server is under load.

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/https_fixture.h"

namespace gpubinder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HttpsReloadTest : public HttpsTest {
 protected:
  HttpsReloadTest() {
    options_.on_certificate = [this](const absl::Status& news) {
      absl::MutexLock lock(&mutex_);
      told_.push_back(news.ok() ? "taken" : std::string(news.message()));
    };
    // Looks happen when the test says so.
    options_.certificate_look = absl::Hours(1);
  }
  std::vector<std::string> Told() {
    absl::MutexLock lock(&mutex_);
    return told_;
  }
  std::string SerialShown() { return Connect()->serial(); }

 private:
  absl::Mutex mutex_;
  std::vector<std::string> told_;
};

TEST_F(HttpsReloadTest, ShowsTheNewPairToNewConnections) {
  Start();
  const auto old = Connect();
  secret_.Swap(secret_.Good());
  EXPECT_EQ(SerialShown(), old->serial());
  EXPECT_TRUE(server_->LookAtCertificates().ok());
  EXPECT_NE(SerialShown(), old->serial());
  // The old connection goes on.
  old->Send(PodText());
  EXPECT_EQ(old->Read().code, 200);
  EXPECT_THAT(Told(), ElementsAre("taken"));
  EXPECT_GT(server_->certificate_end(), absl::Now());
}

TEST_F(HttpsReloadTest, KeepsABrokenPairOutAndSaysSoOnce) {
  Start();
  const std::string serial = SerialShown();
  const PairText good = secret_.Good();
  secret_.Swap({.certificate = good.certificate, .key = secret_.Good().key});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(server_->LookAtCertificates().ToString(),
                HasSubstr("tls.key: found another certificate's key"));
  }
  EXPECT_EQ(SerialShown(), serial);
  secret_.Swap({.certificate = "garbage", .key = good.key});
  EXPECT_FALSE(server_->LookAtCertificates().ok());
  EXPECT_EQ(SerialShown(), serial);
  std::filesystem::remove(std::filesystem::path(secret_.directory()) /
                          "..data");
  EXPECT_TRUE(absl::IsUnavailable(server_->LookAtCertificates()));
  EXPECT_EQ(SerialShown(), serial);
  EXPECT_EQ(server_->Count(HttpsEvent::kPairRefused), 5u);

  secret_.Swap(good);
  EXPECT_TRUE(server_->LookAtCertificates().ok());
  EXPECT_NE(SerialShown(), serial);
  EXPECT_THAT(Told(), ElementsAre(HasSubstr("another certificate's key"),
                                  HasSubstr("no certificate"),
                                  HasSubstr("No such file"), "taken"));
}

TEST_F(HttpsReloadTest, LooksByItself) {
  options_.certificate_look = absl::Milliseconds(5);
  Start();
  const std::string serial = SerialShown();
  secret_.Swap(secret_.Good());
  while (SerialShown() == serial) {
  }
  EXPECT_EQ(server_->Count(HttpsEvent::kPairTaken), 1u);
}

TEST_F(HttpsReloadTest, DropsNothingUnderLoad) {
  Start();
  std::atomic<bool> enough = false;
  std::atomic<int> answered = 0, failed = 0;
  std::vector<std::thread> load;
  const std::string text = PodText();
  for (int i = 0; i < 3; ++i) {
    load.emplace_back([&, keeps = i > 0] {
      std::unique_ptr<TlsTestClient> client;
      while (!enough) {
        if (client == nullptr || !keeps) {
          client = TlsTestClient::Connect(server_->port());
        }
        const bool sent = client != nullptr && client->Send(text);
        const int code = sent ? client->Read().code : 0;
        ++(code == 200 ? answered : failed);
      }
    });
  }
  for (int swaps = 0; swaps < 20; ++swaps) {
    const PairText good = secret_.Good();
    secret_.Swap({.certificate = good.certificate, .key = "none"});
    EXPECT_FALSE(server_->LookAtCertificates().ok());
    secret_.Swap(good);
    EXPECT_TRUE(server_->LookAtCertificates().ok());
    // Some load before the next one.
    const int until = answered + 10;
    while (answered < until && failed == 0) std::this_thread::yield();
  }
  enough = true;
  for (std::thread& thread : load) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GE(answered, 200);
  EXPECT_EQ(server_->Count(HttpsEvent::kPairTaken), 20u);
}

}  // namespace
}  // namespace gpubinder
