#include "webhook/https_server.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/https_fixture.h"

namespace gpubinder {
namespace {

using testing::HasSubstr;
using testing::Not;

using HttpsServerTest = HttpsTest;

TEST_F(HttpsServerTest, ReviewsWhatBothPathsGet) {
  Start();
  const auto client = Connect();
  client->Send(PodText());
  TestAnswer answer = client->Read();
  EXPECT_EQ(answer.code, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer.head, Not(HasSubstr("Connection: close")));
  const TakenAnswer pod = Take(PodReview(kClaims), answer.body);
  EXPECT_TRUE(pod.allowed);
  EXPECT_EQ(pod.patch[0]["path"], "/spec/schedulingGates");

  // On the same connection.
  client->Send(ReviewRequestText("/mutate-vmi", VmiReview(kClaims).dump()));
  answer = client->Read();
  const TakenAnswer vmi = Take(VmiReview(kClaims), answer.body);
  EXPECT_TRUE(vmi.allowed);
  EXPECT_EQ(vmi.patch[0]["path"], "/spec/domain/devices/gpus");
  EXPECT_EQ(server_->Count(HttpsEvent::kAccepted), 1u);
  EXPECT_EQ(server_->Count(HttpsEvent::kAnswered), 2u);
}

TEST_F(HttpsServerTest, AnswersHealth) {
  absl::Status health = absl::UnavailableError("the first lists have not come");
  options_.health = [&] { return health; };
  Start();
  EXPECT_EQ(Ask(GetText("/healthz")).code, 200);
  const TestAnswer unready = Ask(GetText("/readyz"));
  EXPECT_EQ(unready.code, 503);
  EXPECT_EQ(unready.body, "the first lists have not come\n");
  const TestAnswer review = Ask(PodText());
  EXPECT_EQ(review.code, 503);
  EXPECT_EQ(review.body, "the first lists have not come\n");
  EXPECT_THAT(review.head, HasSubstr("Retry-After: 1\r\n"));
  health = absl::OkStatus();
  EXPECT_EQ(Ask(GetText("/readyz")).code, 200);
  EXPECT_EQ(Ask(PodText()).code, 200);
}

TEST_F(HttpsServerTest, RefusesInPlainTextWhatItDoesNotServe) {
  Start();
  const TestAnswer method = Ask(GetText("/mutate-pod"));
  EXPECT_EQ(method.code, 405);
  EXPECT_THAT(method.head, HasSubstr("Allow: POST\r\n"));
  EXPECT_THAT(method.head, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_EQ(method.body, "method: found \"GET\", want POST\n");
  EXPECT_EQ(Ask(GetText("/metrics")).code, 404);
  const TestAnswer no_review = Ask(ReviewRequestText("/mutate-pod", "{}"));
  EXPECT_EQ(no_review.code, 400);
  EXPECT_EQ(Ask(ReviewRequestText("/mutate-pod", "")).code, 400);
  // What has a body that was not read ends the connection, answered.
  const auto client = Connect();
  client->Send(ReviewRequestText("/elsewhere", std::string(300000, 'x')));
  const TestAnswer elsewhere = client->Read();
  EXPECT_EQ(elsewhere.code, 404);
  EXPECT_THAT(elsewhere.head, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(client->ReadToEnd(), "");
  // What has none does not.
  const auto kept = Connect();
  kept->Send(GetText("/elsewhere"));
  EXPECT_EQ(kept->Read().code, 404);
  kept->Send(GetText("/healthz"));
  EXPECT_EQ(kept->Read().code, 200);
}

TEST_F(HttpsServerTest, TakesRequestsInAnyPieces) {
  Start();
  const std::string text = PodText();
  const auto client = Connect();
  for (const char c : text) ASSERT_TRUE(client->Send({&c, 1}));
  EXPECT_EQ(client->Read().code, 200);
  const auto pipelined = Connect();
  pipelined->Send(absl::StrCat(text, GetText("/healthz"), text, text,
                               GetText("/nowhere"), text));
  for (const int code : {200, 200, 200, 200, 404, 200}) {
    EXPECT_EQ(pipelined->Read().code, code);
  }
}

TEST_F(HttpsServerTest, TakesChunksAndExpectations) {
  Start();
  const std::string body = PodBody();
  const std::string head =
      "POST /mutate-pod HTTP/1.1\r\nHost: a\r\n"
      "Content-Type: application/json\r\n";
  const auto client = Connect();
  client->Send(absl::StrCat(
      head, "Transfer-Encoding: chunked\r\n\r\n", absl::Hex(100),
      ";extension=1\r\n", body.substr(0, 100), "\r\n",
      absl::Hex(body.size() - 100), "\r\n", body.substr(100), "\r\n0\r\n\r\n"));
  EXPECT_EQ(client->Read().code, 200);
  client->Send(absl::StrCat(head, "Expect: 100-continue\r\nContent-Length: ",
                            body.size(), "\r\n\r\n"));
  EXPECT_EQ(client->Read().code, 100);
  client->Send(body);
  EXPECT_EQ(client->Read().code, 200);
}

TEST_F(HttpsServerTest, ClosesAfterHttp10AndOnRequest) {
  Start();
  for (const char* text :
       {"GET /healthz HTTP/1.0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"}) {
    const auto client = Connect();
    client->Send(text);
    EXPECT_THAT(client->ReadToEnd(), HasSubstr(" 200 OK\r\n")) << text;
  }
}

TEST_F(HttpsServerTest, SpeaksTls12AndTls13Only) {
  Start();
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    TlsTestClient client(server_->port());
    ASSERT_TRUE(client.Handshake({version, "\x02h2\x08http/1.1"}));
    EXPECT_EQ(client.protocol(), "http/1.1");
    client.Send(GetText("/healthz"));
    EXPECT_EQ(client.Read().code, 200);
  }
  TlsTestClient old(server_->port());
  EXPECT_FALSE(old.Handshake({TlsVersion::k11, ""}));
  EXPECT_TRUE(old.refused_version());
  TlsTestClient plain(server_->port());
  plain.Send(GetText("/healthz"));
  EXPECT_THAT(plain.ReadToEnd(), Not(HasSubstr("HTTP")));
}

TEST_F(HttpsServerTest, SaysWhyItDoesNotStart) {
  for (const char* address : {"", "a:1", ":9443", "127.0.0.1", "::1:9443",
                              "127.0.0.1:65536", "[127.0.0.1]:9443"}) {
    options_.address = address;
    const absl::Status status = HttpsServer::Start(options_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address;
    EXPECT_EQ(status.message(),
              absl::StrCat("address: found \"", address,
                           "\", want an IP address and a port, as in "
                           "0.0.0.0:9443 or [::]:9443"));
  }
  options_.address = "127.0.0.1:0";
  Start();
  options_.address = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_EQ(
      HttpsServer::Start(options_).status(),
      absl::UnavailableError(absl::StrCat("listening on ", options_.address,
                                          ": Address already in use")));
  options_.certificate_directory = "/nowhere";
  EXPECT_TRUE(absl::IsUnavailable(HttpsServer::Start(options_).status()));
}

TEST_F(HttpsServerTest, DrainsThenStops) {
  Start();
  const auto kept = Connect(), idle = Connect();
  kept->Send(GetText("/readyz"));
  EXPECT_EQ(kept->Read().code, 200);
  server_->BeginDrain();
  kept->Send(PodText());
  const TestAnswer last = kept->Read();
  EXPECT_EQ(last.code, 200);
  EXPECT_THAT(last.head, HasSubstr("Connection: close"));
  EXPECT_EQ(Ask(GetText("/readyz")).code, 503);
  EXPECT_EQ(Ask(PodText()).code, 200);
  server_->Stop(absl::Seconds(20));
  EXPECT_EQ(idle->ReadToEnd(), "");
  EXPECT_EQ(server_->open_connections(), 0u);
}

// A review that waits until it is told.
struct SlowReview {
  absl::Notification begun, go_on;
  absl::StatusOr<std::string> operator()(absl::string_view) {
    begun.Notify();
    go_on.WaitForNotification();
    return "{}";
  }
};

TEST_F(HttpsServerTest, FinishesWhatIsUnderWayWhenItStops) {
  SlowReview slow;
  options_.review = [&](absl::string_view body) { return slow(body); };
  Start();
  const auto idle = Connect(), busy = Connect();
  busy->Send(PodText());
  slow.begun.WaitForNotification();
  std::thread stops([&] { server_->Stop(absl::Seconds(20)); });
  EXPECT_EQ(idle->ReadToEnd(), "");  // it is stopping
  slow.go_on.Notify();
  const TestAnswer answer = busy->Read();
  stops.join();
  EXPECT_EQ(answer.body, "{}");
  EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
}

TEST_F(HttpsServerTest, StopsInItsTimeWhateverIsUnderWay) {
  SlowReview slow;
  options_.review = [&](absl::string_view body) { return slow(body); };
  Start();
  const auto half = Connect(), busy = Connect();
  half->Send("POST /mutate-pod HTTP/1.1\r\n");
  busy->Send(PodText());
  slow.begun.WaitForNotification();
  std::thread stops([&] { server_->Stop(absl::Milliseconds(20)); });
  EXPECT_EQ(busy->ReadToEnd(), "");
  EXPECT_EQ(half->ReadToEnd(), "");
  slow.go_on.Notify();
  stops.join();
  EXPECT_EQ(server_->open_connections(), 0u);
}

TEST_F(HttpsServerTest, OneSlowReviewHoldsUpNoOther) {
  SlowReview slow;
  options_.review = [&](absl::string_view body) {
    return body == "slow" ? slow(body) : Review(body, snapshot_, SampleNow());
  };
  Start();
  const auto waits = Connect();
  waits->Send(ReviewRequestText("/mutate-pod", "slow"));
  slow.begun.WaitForNotification();
  EXPECT_EQ(Ask(PodText()).code, 200);
  EXPECT_EQ(Ask(GetText("/healthz")).code, 200);
  slow.go_on.Notify();
  EXPECT_EQ(waits->Read().code, 200);
}

}  // namespace
}  // namespace gpubinder
