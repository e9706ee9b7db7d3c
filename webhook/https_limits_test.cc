// Each limit of the admission server: an answer or a close, and the server
// goes on.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/https_fixture.h"

namespace gpubinder {
namespace {

using testing::HasSubstr;

class HttpsLimitsTest : public HttpsTest {
 protected:
  void ExpectStillServes() {
    // A limit in the way of a test may be in the way of this one too.
    EXPECT_EQ(Ask(GetText("/healthz")).code, 200);
  }
  // A client may see its connection end before the server has counted it.
  void AwaitCount(HttpsEvent event, uint64_t count) {
    while (server_->Count(event) < count) std::this_thread::yield();
    EXPECT_EQ(server_->Count(event), count);
  }
  static std::string PostHead(absl::string_view more) {
    return absl::StrCat(
        "POST /mutate-pod HTTP/1.1\r\nHost: a\r\n"
        "Content-Type: application/json\r\n",
        more, "\r\n");
  }
};

TEST_F(HttpsLimitsTest, ALargeBodyIs413) {
  Start();
  const TestAnswer announced = Ask(PostHead("Content-Length: 8388609\r\n"));
  EXPECT_EQ(announced.code, 413);
  EXPECT_EQ(announced.body,
            "found a body of more than 8388608 bytes, want at most so many\n");
  EXPECT_EQ(Ask(PostHead("Content-Length: 18446744073709551615\r\n")).code,
            413);

  options_.limits.body_bytes = 1000;
  Start();
  EXPECT_EQ(Ask(absl::StrCat(PostHead("Transfer-Encoding: chunked\r\n"),
                             "fffffff\r\n", std::string(2000, ' ')))
                .code,
            413);
  EXPECT_EQ(Ask(ReviewRequestText("/mutate-pod", std::string(1000, ' '))).code,
            400);
  EXPECT_EQ(Ask(ReviewRequestText("/mutate-pod", std::string(1001, ' '))).code,
            413);
  ExpectStillServes();
}

TEST_F(HttpsLimitsTest, TheLargestBodyIsReviewed) {
  Start();
  std::string body = PodBody();
  body.append(kMostReviewBytes - body.size(), ' ');
  EXPECT_EQ(Ask(ReviewRequestText("/mutate-pod", body)).code, 200);
}

TEST_F(HttpsLimitsTest, ALargeHeadIs431) {
  Start();
  const TestAnswer answer = Ask(
      absl::StrCat("GET /healthz HTTP/1.1\r\nX: ", std::string(20000, 'x')));
  EXPECT_EQ(answer.code, 431);
  EXPECT_EQ(answer.body,
            "found a head of more than 16384 bytes, want at most so many\n");
  EXPECT_EQ(Ask(std::string(200000, 'A')).code, 431);
  ExpectStillServes();
}

TEST_F(HttpsLimitsTest, BodiesOverTheBudgetAre503AndGiveItBack) {
  options_.limits.bodies_bytes = 5000;
  Start();
  for (int i = 0; i < 3; ++i) {
    const TestAnswer answer =
        Ask(ReviewRequestText("/mutate-pod", std::string(5001, ' ')));
    EXPECT_EQ(answer.code, 503);
    EXPECT_THAT(answer.head, HasSubstr("Retry-After: 1\r\n"));
    EXPECT_EQ(
        Ask(ReviewRequestText("/mutate-pod", std::string(5000, ' '))).code,
        400);
  }
}

TEST_F(HttpsLimitsTest, ASlowHandshakeIsClosed) {
  options_.limits.handshake = absl::Milliseconds(30);
  Start();
  TlsTestClient silent(server_->port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  TlsTestClient begins(server_->port());
  begins.Send("\x16\x03\x01\x02");
  EXPECT_EQ(begins.ReadToEnd(), "");
  AwaitCount(HttpsEvent::kNoHandshake, 2);
}

TEST_F(HttpsLimitsTest, AnIdleConnectionIsClosed) {
  options_.limits.idle = absl::Milliseconds(30);
  Start();
  EXPECT_EQ(Connect()->ReadToEnd(), "");
  EXPECT_EQ(server_->Count(HttpsEvent::kTooSlow), 0u);
}

TEST_F(HttpsLimitsTest, HalfARequestIsClosed) {
  options_.limits.request = absl::Milliseconds(50);
  Start();
  const std::string text = PodText();
  for (const size_t half : {size_t{1}, size_t{30}, text.size() - 1}) {
    const auto client = Connect();
    client->Send(text.substr(0, half));
    EXPECT_EQ(client->ReadToEnd(), "") << half;
  }
  AwaitCount(HttpsEvent::kTooSlow, 3);
}

TEST_F(HttpsLimitsTest, DripsDoNotProlongARequest) {
  options_.limits.request = absl::Milliseconds(100);
  Start();
  const auto head = Connect(), body = Connect();
  head->Send("GET /healthz HTTP/1.1\r\nX: ");
  body->Send(PostHead("Content-Length: 1000000\r\n"));
  int drips = 0;
  while (head->Send("x") && !head->IsClosedWithin(2)) ++drips;
  while (body->Send(" ") && !body->IsClosedWithin(2)) ++drips;
  EXPECT_LT(drips, 10000);
  AwaitCount(HttpsEvent::kTooSlow, 2);
}

TEST_F(HttpsLimitsTest, WhoDoesNotReadItsAnswerIsClosed) {
  options_.limits.answer = absl::Milliseconds(50);
  // More than the sockets hold.
  options_.review = [](absl::string_view) {
    return std::string(size_t{32} << 20, ' ');
  };
  Start();
  const auto client = Connect();
  client->Send(PodText());
  AwaitCount(HttpsEvent::kTooSlow, 1);
  EXPECT_LT(client->ReadToEnd().size(), size_t{32} << 20);
}

TEST_F(HttpsLimitsTest, AnOldConnectionsAnswerIsItsLast) {
  options_.limits.age = absl::ZeroDuration();
  Start();
  const TestAnswer answer = Ask(PodText());
  EXPECT_EQ(answer.code, 200);
  EXPECT_THAT(answer.head, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpsLimitsTest, OneConnectionTooManyIsClosed) {
  absl::BlockingCounter begun(2);
  absl::Notification go_on;
  options_.limits.connections = 2;
  options_.limits.queue = absl::Minutes(1);
  options_.review = [&](absl::string_view) -> absl::StatusOr<std::string> {
    begun.DecrementCount();
    go_on.WaitForNotification();
    return "{}";
  };
  Start();
  const auto first = Connect(), second = Connect();
  first->Send(PodText());
  second->Send(PodText());
  begun.Wait();
  EXPECT_EQ(TlsTestClient::Connect(server_->port()), nullptr);
  EXPECT_EQ(server_->Count(HttpsEvent::kOverLimit), 1u);
  EXPECT_EQ(server_->Count(HttpsEvent::kMadeRoom), 0u);
  go_on.Notify();
  EXPECT_EQ(first->Read().code, 200);
  EXPECT_EQ(second->Read().code, 200);
}

TEST_F(HttpsLimitsTest, ANewcomerTakesThePlaceOfTheLongestIdle) {
  options_.limits.connections = 2;
  Start();
  const auto first = Connect(), second = Connect();
  for (TlsTestClient* client : {first.get(), second.get()}) {
    client->Send(GetText("/healthz"));
    EXPECT_EQ(client->Read().code, 200);
  }
  // Those two are idle as soon as the server knows that it has answered.
  std::unique_ptr<TlsTestClient> third;
  while (third == nullptr) third = TlsTestClient::Connect(server_->port());
  EXPECT_EQ(first->ReadToEnd(), "");
  for (TlsTestClient* client : {second.get(), third.get()}) {
    client->Send(GetText("/healthz"));
    EXPECT_EQ(client->Read().code, 200);
  }
  EXPECT_EQ(server_->Count(HttpsEvent::kMadeRoom), 1u);
}

TEST_F(HttpsLimitsTest, AReviewThatWaitedTooLongIsNotBegun) {
  absl::Notification begun, go_on;
  std::atomic<int> looks = 0;
  options_.limits.queue = absl::Milliseconds(1);
  options_.review_threads = 1;
  options_.health = [&] {
    ++looks;
    return absl::OkStatus();
  };
  options_.review = [&](absl::string_view) -> absl::StatusOr<std::string> {
    begun.Notify();
    go_on.WaitForNotification();
    return "{}";
  };
  Start();
  std::unique_ptr<TlsTestClient> busy;
  do {  // again, if this one waited too long itself
    busy = Connect();
    busy->Send(PodText());
  } while (!begun.WaitForNotificationWithTimeout(absl::Seconds(1)));
  const int before = looks;
  const auto waits = Connect();
  waits->Send(PodText());
  while (looks == before) std::this_thread::yield();
  ExpectStillServes();  // so the other one is in the queue
  EXPECT_FALSE(waits->IsClosedWithin(5));
  go_on.Notify();
  EXPECT_EQ(busy->Read().code, 200);
  const TestAnswer answer = waits->Read();
  EXPECT_EQ(answer.code, 503);
  EXPECT_EQ(answer.body, "too many reviews at a time, try again\n");
}

}  // namespace
}  // namespace gpubinder
