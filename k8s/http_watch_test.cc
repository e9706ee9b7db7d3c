#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "k8s/http_api_client.h"
#include "k8s/http_test_client.h"
#include "k8s/scripted_server.h"

namespace gpubinder {
namespace {

TEST(HttpApiClientWatch, JoinsLinesOverChunks) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    for (const char* chunk :
         {"{\"a\":1}\n{\"b", "\":", "2}\n\n{\"c\":3}\n{\"half\":"}) {
      connection.SendChunk(chunk);
    }
    connection.EndChunks();
    Hold(connection);
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  const Watched watched = WatchAll(*client);
  EXPECT_TRUE(watched.status.ok()) << watched.status;
  EXPECT_EQ(watched.lines,
            (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"}));
  const ServerRequest request = server.Requests()[0];
  EXPECT_EQ(request.target,
            "/api/v1/pods?watch=1&resourceVersion=7&allowWatchBookmarks=true"
            "&timeoutSeconds=30");
  EXPECT_FALSE(absl::StrContains(request.head, "Accept-Encoding"));
}

TEST(HttpApiClientWatch, DeliversEachLineAsItComes) {
  absl::Notification first_seen;
  ScriptedServer server([&](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    connection.SendChunk("{\"a\":1}\n");
    first_seen.WaitForNotification();
    connection.SendChunk("{\"b\":2}\n");
    connection.EndChunks();
    Hold(connection);
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  int lines = 0;
  const absl::Status status =
      client->Watch(kPods, {.timeout = kPatience}, [&](absl::string_view) {
        if (++lines == 1) first_seen.Notify();
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(lines, 2);
}

TEST(HttpApiClientWatch, TellsACutFromAnEnd) {
  ScriptedServer server([&](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    connection.SendChunk("{\"a\":1}\n{\"half");
  });
  const Watched watched = WatchAll(*ClientOf(server));
  EXPECT_TRUE(absl::IsDeadlineExceeded(watched.status)) << watched.status;
  EXPECT_EQ(ApiErrorOf(watched.status).code, 0);
  EXPECT_EQ(watched.lines, std::vector<std::string>{"{\"a\":1}"});
}

TEST(HttpApiClientWatch, ASilentServerIsGivenUpAfterItsTime) {
  ScriptedServer server([&](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    connection.SendChunk("{\"a\":1}\n");
    Hold(connection);
  });
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(server, {.watch_slack = kShort});
  const Watched watched = WatchAll(*client, absl::Milliseconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(watched.status)) << watched.status;
  EXPECT_EQ(ApiErrorOf(watched.status).code, 0);
  EXPECT_EQ(watched.lines, std::vector<std::string>{"{\"a\":1}"});
}

TEST(HttpApiClientWatch, EndsWhenTheCallerHasEnough) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    connection.SendChunk("{\"a\":1}\n{\"b\":2}\n");
    Hold(connection);
  });
  const std::unique_ptr<HttpApiClient> client = ClientOf(server);
  int lines = 0;
  EXPECT_TRUE(client
                  ->Watch(kPods, {.timeout = kPatience},
                          [&](absl::string_view) {
                            ++lines;
                            return false;
                          })
                  .ok());
  EXPECT_EQ(lines, 1);
}

TEST(HttpApiClientWatch, PassesErrorEventsOnAndMapsRefusals) {
  const std::string event =
      R"({"type":"ERROR","object":{"kind":"Status","code":410}})";
  ScriptedServer expired(Always(200, "", event + "\n"));
  EXPECT_EQ(WatchAll(*ClientOf(expired)).lines,
            std::vector<std::string>{event});

  ScriptedServer busy(
      Always(429, "Retry-After: 2\r\n",
             R"({"kind":"Status","reason":"TooManyRequests","message":"m"})"));
  const Watched watched = WatchAll(*ClientOf(busy));
  EXPECT_TRUE(absl::IsUnavailable(watched.status)) << watched.status;
  EXPECT_EQ(ApiErrorOf(watched.status).retry_after, absl::Seconds(2));
  EXPECT_TRUE(watched.lines.empty());
}

TEST(HttpApiClientWatch, RefusesALineWithoutEnd) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    while (connection.SendChunk(std::string(1000, 'x'))) {
    }
  });
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(server, {.max_object_bytes = 50000});
  const Watched watched = WatchAll(*client);
  EXPECT_TRUE(absl::IsDataLoss(watched.status)) << watched.status;
}

TEST(HttpApiClientWatch, ACallerTooSlowLosesTheWatchNotTheMemory) {
  absl::Notification server_is_done;
  ScriptedServer server([&](ServerConnection& connection) {
    connection.Read();
    connection.BeginChunks();
    while (connection.SendChunk("{\"a\":1}\n")) {
    }
    server_is_done.Notify();
  });
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(server, {.max_waiting_watch_bytes = 100000});
  const absl::Status status =
      client->Watch(kPods, {.timeout = kPatience}, [&](absl::string_view) {
        server_is_done.WaitForNotification();
        return true;
      });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace gpubinder
