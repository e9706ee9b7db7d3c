#include "k8s/http_api_client.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "k8s/http_test_client.h"
#include "k8s/identity.h"
#include "k8s/scripted_server.h"

namespace gpubinder {
namespace {

TEST(HttpApiClient, SendsEachCallAsTheServerWantsIt) {
  ScriptedServer server(Always(200, "", R"({"kind":"X"})"));
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  ASSERT_TRUE(client->Get(kPod, kPatience).ok());
  ASSERT_TRUE(client->List(kPods, {.continue_token = "t/1"}).ok());
  ASSERT_TRUE(client->Create(kPods, "{1}", kPatience).ok());
  ASSERT_TRUE(client->Replace(kPod, "{2}", kPatience).ok());
  ASSERT_TRUE(client->Patch(kPod, PatchType::kJson, "[3]", kPatience).ok());
  ASSERT_TRUE(client->Patch(kPod, PatchType::kMerge, "{4}", kPatience).ok());
  ASSERT_TRUE(client->Delete(kPod, "{5}", kPatience).ok());

  const std::vector<ServerRequest> requests = server.Requests();
  ASSERT_EQ(requests.size(), 7u);
  struct Want {
    std::string method, path, type, body;
  };
  const std::vector<Want> wants = {
      {"GET", "/api/v1/namespaces/a/pods/p?timeout=", "", ""},
      {"GET", "/api/v1/pods?limit=500&continue=t%2F1&timeout=", "", ""},
      {"POST", "/api/v1/pods?timeout=", "application/json", "{1}"},
      {"PUT", "/api/v1/namespaces/a/pods/p?timeout=", "application/json",
       "{2}"},
      {"PATCH", "/api/v1/namespaces/a/pods/p?timeout=",
       "application/json-patch+json", "[3]"},
      {"PATCH", "/api/v1/namespaces/a/pods/p?timeout=",
       "application/merge-patch+json", "{4}"},
      {"DELETE", "/api/v1/namespaces/a/pods/p?timeout=", "application/json",
       "{5}"},
  };
  for (size_t i = 0; i < wants.size(); ++i) {
    SCOPED_TRACE(requests[i].head);
    EXPECT_EQ(requests[i].method, wants[i].method);
    EXPECT_TRUE(absl::StartsWith(requests[i].target, wants[i].path));
    EXPECT_TRUE(absl::EndsWith(requests[i].target, "ms"));
    EXPECT_EQ(requests[i].body, wants[i].body);
    const std::string& head = requests[i].head;
    EXPECT_TRUE(absl::StrContains(head, "\r\nAccept: application/json\r\n"));
    EXPECT_TRUE(absl::StrContains(head, "\r\nUser-Agent: gpubinder\r\n"));
    EXPECT_FALSE(absl::StrContains(head, "Expect:"));
    EXPECT_EQ(
        absl::StrContains(
            head, absl::StrCat("\r\nContent-Type: ", wants[i].type, "\r\n")),
        !wants[i].type.empty());
  }
}

TEST(HttpApiClient, TellsTheServerTheTimeItHas) {
  ScriptedServer server(Always(200, "", "{}"));
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  ASSERT_TRUE(
      client->Patch(kPod, PatchType::kMerge, "{}", absl::Seconds(8)).ok());
  // A moment of the 8 s has gone by when it is sent.
  const std::string text = server.Requests()[0].target;
  absl::string_view target = text;
  ASSERT_TRUE(
      absl::ConsumePrefix(&target, "/api/v1/namespaces/a/pods/p?timeout="));
  ASSERT_TRUE(absl::ConsumeSuffix(&target, "ms"));
  int milliseconds = 0;
  ASSERT_TRUE(absl::SimpleAtoi(target, &milliseconds)) << text;
  EXPECT_GT(milliseconds, 0);
  EXPECT_LT(milliseconds, 8000);
}

TEST(HttpApiClient, NamesTheCallInItsErrors) {
  ScriptedServer server(Always(404, "", "no"));
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  EXPECT_EQ(client->List(kPods, {}).status().message(),
            "list pods: HTTP 404 no");
  EXPECT_EQ(client
                ->Patch({.group = "gpu.cozystack.io",
                         .version = "v1alpha1",
                         .plural = "gpuclaims",
                         .name_space = "a",
                         .name = "c",
                         .subresource = "status"},
                        PatchType::kMerge, "{}", kPatience)
                .status()
                .message(),
            "patch gpuclaims/status a/c: HTTP 404 no");
  EXPECT_EQ(
      client
          ->Create({.version = "v1", .plural = "events", .name_space = "a"},
                   "{}", kPatience)
          .status()
          .message(),
      "create events in a: HTTP 404 no");
}

TEST(HttpApiClient, MapsAnswersThatAreNoSuccess) {
  struct Case {
    int code;
    std::string headers, body;
    absl::StatusCode want;
    std::string reason, message;
    absl::Duration retry_after;
  };
  const std::vector<Case> cases = {
      {409, "",
       R"({"kind":"Status","reason":"Conflict","message":"m","code":409})",
       absl::StatusCode::kAborted, "Conflict", "m", absl::ZeroDuration()},
      {409, "", R"({"kind":"Status","reason":"AlreadyExists","message":"m"})",
       absl::StatusCode::kAlreadyExists, "AlreadyExists", "m",
       absl::ZeroDuration()},
      {422, "", R"({"kind":"Status","reason":"Invalid","message":"m"})",
       absl::StatusCode::kFailedPrecondition, "Invalid", "m",
       absl::ZeroDuration()},
      {410, "", R"({"kind":"Status","reason":"Expired","message":"m"})",
       absl::StatusCode::kOutOfRange, "Expired", "m", absl::ZeroDuration()},
      {429, "Retry-After: 7\r\n",
       R"({"kind":"Status","reason":"TooManyRequests","message":"m"})",
       absl::StatusCode::kUnavailable, "TooManyRequests", "m",
       absl::Seconds(7)},
      {503, "", "", absl::StatusCode::kUnavailable, "", "",
       absl::ZeroDuration()},
      {500, "", R"({"kind":"Status","reason":"InternalError","message":"m"})",
       absl::StatusCode::kDeadlineExceeded, "InternalError", "m",
       absl::ZeroDuration()},
      {502, "", "<html>", absl::StatusCode::kDeadlineExceeded, "", "<html>",
       absl::ZeroDuration()},
      {504, "Retry-After: 1\r\n",
       R"({"kind":"Status","reason":"Timeout","message":"m"})",
       absl::StatusCode::kDeadlineExceeded, "Timeout", "m", absl::Seconds(1)},
      {404, "", "404 page not found\n", absl::StatusCode::kNotFound, "",
       "404 page not found", absl::ZeroDuration()},
      {302, "Location: http://127.0.0.1:1/\r\n", "",
       absl::StatusCode::kDataLoss, "", "", absl::ZeroDuration()},
  };
  for (const Case& c : cases) {
    ScriptedServer server(Always(c.code, c.headers, c.body));
    const std::unique_ptr<HttpApiClient> client = ClientOf(server);
    const absl::Status status =
        client->Patch(kPod, PatchType::kJson, "[]", kPatience).status();
    SCOPED_TRACE(status.ToString());
    EXPECT_EQ(status.code(), c.want);
    const ApiError error = ApiErrorOf(status);
    EXPECT_EQ(error.code, c.code);
    EXPECT_EQ(error.reason, c.reason);
    EXPECT_EQ(error.message, c.message);
    EXPECT_EQ(error.retry_after, c.retry_after);
    EXPECT_TRUE(error.sent);
    EXPECT_TRUE(absl::StartsWith(status.message(), "patch pods a/p: HTTP "));
    EXPECT_EQ(server.Requests().size(), 1u);  // nothing is retried
  }
}

TEST(HttpApiClient, ARefusedConnectionWasNotSent) {
  int port = 0;
  {
    ScriptedServer gone(Always(200, "", "{}"));
    port = gone.port();
  }
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(Identity{.server = absl::StrCat("http://127.0.0.1:", port)});
  const absl::Status status = client->Create(kPods, "{}", kPatience).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(ApiErrorOf(status).sent);
  EXPECT_EQ(ApiErrorOf(status).code, 0);
}

TEST(HttpApiClient, ACutConnectionMayHaveBeenApplied) {
  const std::vector<std::string> answers = {
      "", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"};
  for (const std::string& answer : answers) {
    for (const bool reset : {false, true}) {
      ScriptedServer server([&](ServerConnection& connection) {
        connection.Read();
        connection.Send(answer);
        if (reset) connection.Reset();
      });
      const std::unique_ptr<HttpApiClient> client = ClientOf(server);
      const absl::Status status =
          client->Create(kPods, "{}", kPatience).status();
      EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << answer << status;
      EXPECT_TRUE(ApiErrorOf(status).sent);
      EXPECT_EQ(server.Requests().size(), 1u);
    }
  }
}

TEST(HttpApiClient, AWriteIsNotSentAgainWhenAKeptConnectionEnds) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.Answer(200, "", "{}");
    connection.Read();
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  ASSERT_TRUE(client->Create(kPods, "{}", kPatience).ok());
  const absl::Status status = client->Create(kPods, "{}", kPatience).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_TRUE(ApiErrorOf(status).sent);
  EXPECT_EQ(server.Requests().size(), 2u);
}

TEST(HttpApiClient, AReadIsSentAgainWhenAKeptConnectionEnds) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.Answer(200, "", "{}");
    connection.Read();
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  ASSERT_TRUE(client->Get(kPod, kPatience).ok());
  EXPECT_TRUE(client->Get(kPod, kPatience).ok());
  EXPECT_EQ(server.Requests().size(), 3u);
}

TEST(HttpApiClient, EndsASlowAnswerAtItsTime) {
  for (const std::string& answer : std::vector<std::string>{
           "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"}) {
    ScriptedServer server([&](ServerConnection& connection) {
      connection.Read();
      connection.Send(answer);
      Hold(connection);
    });
    const std::unique_ptr<HttpApiClient> client = ClientOf(server);
    const absl::Status status =
        client->Patch(kPod, PatchType::kMerge, "{}", kShort).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_TRUE(ApiErrorOf(status).sent);
  }
}

TEST(HttpApiClient, EndsAnEndlessAnswerAtItsLimit) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    while (connection.SendChunk(std::string(1000, ' '))) {
    }
  });
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(server, {.max_page_bytes = 200000, .max_object_bytes = 100000});
  const absl::Status object = client->Get(kPod, kPatience).status();
  EXPECT_TRUE(absl::IsDataLoss(object)) << object;
  EXPECT_TRUE(absl::StrContains(object.message(), "limit of 100000 bytes"));
  const absl::Status page = client->List(kPods, {}).status();
  EXPECT_TRUE(absl::IsDataLoss(page)) << page;
  EXPECT_TRUE(absl::StrContains(page.message(), "limit of 200000 bytes"));
}

TEST(HttpApiClient, RefusesASuccessThatIsNoJson) {
  for (const char* body : {"", "OK", "[]", "{\"a\":", "{\"a\":tru}"}) {
    ScriptedServer server(Always(200, "", body));
    const std::unique_ptr<HttpApiClient> client = ClientOf(server);
    const absl::Status status = client->Get(kPod, kPatience).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_EQ(ApiErrorOf(status).code, 200);
  }
  ScriptedServer server(Always(200, "", "<html></html>"));
  EXPECT_TRUE(absl::IsDataLoss(ClientOf(server)->List(kPods, {}).status()));
}

TEST(HttpApiClient, RefusesAServerThatSpeaksSomethingElse) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.Send("SSH-2.0-OpenSSH_9.2\r\n");
  });
  const absl::Status status = ClientOf(server)->Get(kPod, kPatience).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST(HttpApiClient, StopEndsEveryCallAndEachLaterOne) {
  absl::Notification watching;
  ScriptedServer server([&](ServerConnection& connection) {
    const std::optional<ServerRequest> request = connection.Read();
    if (absl::StrContains(request->target, "watch=1")) {
      connection.BeginChunks();
      connection.SendChunk("{}\n");
    }
    Hold(connection);
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  absl::Status got, watched;
  std::thread getter(
      [&] { got = client->Create(kPods, "{}", kPatience).status(); });
  std::thread watcher([&] {
    watched =
        client->Watch(kPods, {.timeout = kPatience}, [&](absl::string_view) {
          watching.Notify();
          return true;
        });
  });
  watching.WaitForNotification();
  while (server.Requests().size() < 2) std::this_thread::yield();
  client->Stop();
  getter.join();
  watcher.join();
  EXPECT_TRUE(absl::IsCancelled(got)) << got;
  EXPECT_TRUE(ApiErrorOf(got).sent);
  EXPECT_TRUE(absl::IsCancelled(watched)) << watched;
  const absl::Status later = client->Get(kPod, kPatience).status();
  EXPECT_TRUE(absl::IsCancelled(later)) << later;
  EXPECT_FALSE(ApiErrorOf(later).sent);
}

TEST(HttpApiClient, ManyCallsAtOnceEachGetTheirOwnAnswer) {
  ScriptedServer server([](ServerConnection& connection) {
    while (const std::optional<ServerRequest> request = connection.Read()) {
      connection.Answer(200, "", request->body);
    }
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string body = absl::StrCat("{\"x\":\"", t, "-", i, "\"}");
        const absl::StatusOr<std::string> got =
            client->Create(kPods, body, kPatience);
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_EQ(*got, body);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpubinder
