#include "webhook/http_gate.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace gpubinder {
namespace {

const RequestHead kPost = {.method = "POST",
                           .target = "/mutate-vmi?timeout=10s",
                           .host = "a",
                           .content_type = "application/json"};

TEST(HttpGateTest, LeadsToItsPlaces) {
  struct Case {
    absl::string_view method, target;
    Route want;
  };
  const std::vector<Case> cases = {
      {"POST", "/mutate-vmi", Route::kReview},
      {"POST", "/mutate-pod?timeout=10s", Route::kReview},
      {"GET", "/healthz", Route::kHealth},
      {"GET", "/readyz?verbose", Route::kReadiness},
  };
  for (const Case& c : cases) {
    RequestHead head = kPost;
    head.method = c.method;
    head.target = c.target;
    const auto route = RouteOf(head);
    ASSERT_TRUE(std::holds_alternative<Route>(route)) << c.target;
    EXPECT_EQ(std::get<Route>(route), c.want) << c.target;
  }
}

TEST(HttpGateTest, TakesWhatServersMaySendToo) {
  for (const absl::string_view type :
       {"application/json; charset=utf-8", "Application/JSON",
        "application/json ;"}) {
    RequestHead head = kPost;
    head.content_type = type;
    EXPECT_TRUE(std::holds_alternative<Route>(RouteOf(head))) << type;
  }
  RequestHead head = kPost;
  head.version = 10;
  head.host = "";
  EXPECT_TRUE(std::holds_alternative<Route>(RouteOf(head)));
  head = kPost;
  head.transfer_encoding = "Chunked";
  head.content_encoding = "identity";
  head.expect = "100-Continue";
  EXPECT_TRUE(std::holds_alternative<Route>(RouteOf(head)));
}

struct Refused {
  RequestHead head;
  int code;
  std::string body;
};

RequestHead With(absl::string_view RequestHead::*field,
                 absl::string_view value) {
  RequestHead head = kPost;
  head.*field = value;
  return head;
}

TEST(HttpGateTest, SaysWhatItFoundAndWhatIsLegal) {
  using H = RequestHead;
  RequestHead version = kPost;
  version.version = 20;
  const std::vector<Refused> cases = {
      {With(&H::method, "GET"), 405, "method: found \"GET\", want POST\n"},
      {With(&H::target, "/healthz"), 405, "method: found \"POST\", want GET\n"},
      {With(&H::target, "/mutate-vm"), 404,
       "path: found \"/mutate-vm\", want /mutate-vmi, /mutate-pod, /healthz or "
       "/readyz\n"},
      {With(&H::target, "*"), 404,
       "path: found \"*\", want /mutate-vmi, /mutate-pod, /healthz or "
       "/readyz\n"},
      {With(&H::content_type, "application/jsonp"), 415,
       "Content-Type: found \"application/jsonp\", want application/json\n"},
      {With(&H::content_type, ""), 415,
       "Content-Type: found \"\", want application/json\n"},
      {With(&H::content_encoding, "gzip"), 415,
       "Content-Encoding: found \"gzip\", want none\n"},
      {With(&H::transfer_encoding, "gzip, chunked"), 501,
       "Transfer-Encoding: found \"gzip, chunked\", want chunked\n"},
      {With(&H::expect, "200-ok"), 417,
       "Expect: found \"200-ok\", want 100-continue\n"},
      {With(&H::host, ""), 400, "the field Host is missing\n"},
      {version, 505, "want HTTP/1.1\n"},
  };
  for (const Refused& c : cases) {
    const auto route = RouteOf(c.head);
    ASSERT_TRUE(std::holds_alternative<HttpAnswer>(route)) << c.body;
    const auto& answer = std::get<HttpAnswer>(route);
    EXPECT_EQ(answer.code, c.code) << c.body;
    EXPECT_EQ(answer.body, c.body);
    EXPECT_EQ(!answer.allow.empty(), c.code == 405);
  }
}

TEST(HttpGateTest, AnswersErrors) {
  EXPECT_EQ(AnswerTo(absl::UnavailableError("not yet")).code, 503);
  EXPECT_EQ(AnswerTo(absl::ResourceExhaustedError("large")).code, 413);
  EXPECT_EQ(AnswerTo(absl::InvalidArgumentError("no review")).code, 400);
  EXPECT_EQ(AnswerTo(absl::InvalidArgumentError("no review")).body,
            "no review\n");
}

}  // namespace
}  // namespace gpubinder
