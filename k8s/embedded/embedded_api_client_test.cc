#include "k8s/embedded/embedded_api_client.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_calls.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(5);

ResourcePath Maps(const std::string& name) {
  return {.version = "v1",
          .plural = "configmaps",
          .name_space = "default",
          .name = name};
}
const char kMap[] = R"({"metadata":{"name":"m"}})";

TEST(EmbeddedApiClient, ReadsAndWrites) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client = server.NewClient("u", {});
  ASSERT_TRUE(client->Create(Maps(""), kMap, kTimeout).ok());
  ASSERT_TRUE(client
                  ->Patch(Maps("m"), PatchType::kMerge, R"({"data":{"a":"b"}})",
                          kTimeout)
                  .ok());
  ASSERT_TRUE(client
                  ->Patch(Maps("m"), PatchType::kJson,
                          R"([{"op":"add","path":"/data/c","value":"d"}])",
                          kTimeout)
                  .ok());
  const absl::StatusOr<std::string> got = client->Get(Maps("m"), kTimeout);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*ParseJson(*got))["data"], Json({{"a", "b"}, {"c", "d"}}));
  ASSERT_TRUE(client->Replace(Maps("m"), kMap, kTimeout).ok());
  const absl::StatusOr<std::string> list =
      client->List(Maps(""), {.field_selector = "metadata.name=m"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ((*ParseJson(*list))["items"].size(), 1u);
  ASSERT_TRUE(client->Delete(Maps("m"), "{}", kTimeout).ok());
  EXPECT_EQ(client->Get(Maps("m"), kTimeout).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(EmbeddedApiClient, TellsConflictFromAlreadyExists) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client = server.NewClient("u", {});
  ASSERT_TRUE(client->Create(Maps(""), kMap, kTimeout).ok());
  EXPECT_EQ(client->Create(Maps(""), kMap, kTimeout).status().code(),
            absl::StatusCode::kAlreadyExists);
  const absl::Status stale =
      client
          ->Patch(Maps("m"), PatchType::kMerge,
                  R"({"metadata":{"resourceVersion":"1"}})", kTimeout)
          .status();
  EXPECT_EQ(stale.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ApiErrorOf(stale).code, 409);
  EXPECT_EQ(ApiErrorOf(stale).reason, "Conflict");
  EXPECT_TRUE(ApiErrorOf(stale).sent);
}

TEST(EmbeddedApiClient, PollsAWatchWithoutWaiting) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client = server.NewClient("u", {});
  const std::string version = std::to_string(server.revision());
  ASSERT_TRUE(client->Create(Maps(""), kMap, kTimeout).ok());
  ASSERT_TRUE(client
                  ->Create({.version = "v1", .plural = "nodes"},
                           NodeText("n", 1), kTimeout)
                  .ok());
  std::vector<std::string> types;
  std::string last;
  const absl::Status status = client->Watch(
      Maps(""), {.resource_version = version, .timeout = absl::ZeroDuration()},
      [&](absl::string_view line) {
        const Json event = *ParseJson(line);
        types.push_back(TextAt(event, {"type"}));
        last = TextAt(event, {"object", "metadata", "resourceVersion"});
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(types, (std::vector<std::string>{"ADDED", "BOOKMARK"}));
  EXPECT_EQ(last, std::to_string(server.revision()))
      << "the bookmark is past the node";
}

TEST(EmbeddedApiClient, AWatchWaitsAndStopEndsIt) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client = server.NewClient("u", {});
  const std::unique_ptr<ApiClient> other = server.NewClient("u", {});
  int lines = 0;
  std::thread writer;
  const absl::Status status = client->Watch(
      Maps(""), {.resource_version = "", .timeout = absl::Hours(1)},
      [&](absl::string_view line) {
        ++lines;
        if (absl::StrContains(line, "\"BOOKMARK\"")) {
          writer = std::thread(
              [&] { (void)other->Create(Maps(""), kMap, kTimeout); });
        } else {
          client->Stop();
        }
        return true;
      });
  writer.join();
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(client->Get(Maps("m"), kTimeout).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(EmbeddedApiClient, ARefusedCallIsNeverSeen) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client =
      server.NewClient("u", [](const ApiRequest&) {
        return Fault{Fault::Kind::kRefuse, {.code = 503}};
      });
  const uint64_t before = server.revision();
  EXPECT_EQ(client->Create(Maps(""), kMap, kTimeout).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.revision(), before);
}

TEST(EmbeddedApiClient, ALostAnswerLeavesTheWrite) {
  EmbeddedServer server({});
  const std::unique_ptr<ApiClient> client =
      server.NewClient("u", [](const ApiRequest& request) {
        if (request.method != "POST") return Fault{};
        return Fault{Fault::Kind::kLoseAnswer, {.sent = true}};
      });
  EXPECT_EQ(client->Create(Maps(""), kMap, kTimeout).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(client->Get(Maps("m"), kTimeout).ok());
}

TEST(EmbeddedServer, TheSameSeedGivesTheSameIds) {
  std::string uids[2];
  for (std::string& uid : uids) {
    EmbeddedServer server({.seed = 7});
    const absl::StatusOr<std::string> made =
        server.NewClient("u", {})->Create(Maps(""), kMap, kTimeout);
    ASSERT_TRUE(made.ok());
    uid = TextAt(*ParseJson(*made), {"metadata", "uid"});
  }
  EXPECT_EQ(uids[0].size(), 36u);
  EXPECT_EQ(uids[0], uids[1]);
}

TEST(EmbeddedServer, StandInsActOnAThreadOfTheirOwn) {
  EmbeddedServer server({});
  server.StartStandIns(absl::Milliseconds(10));
  const std::unique_ptr<ApiClient> client = server.NewClient("u", {});
  ASSERT_TRUE(client
                  ->Create({.version = "v1", .plural = "nodes"},
                           NodeText("n", 1), kTimeout)
                  .ok());
  ASSERT_TRUE(
      client
          ->Create({.version = "v1", .plural = "pods", .name_space = "default"},
                   PodText("p", "", 1), kTimeout)
          .ok());
  bool running = false;
  const absl::Status status = client->Watch(
      {.version = "v1", .plural = "pods", .name_space = "default"},
      {.timeout = absl::Seconds(30)}, [&](absl::string_view line) {
        running = absl::StrContains(line, "\"phase\":\"Running\"");
        return !running;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(running);
  server.StopStandIns();
}

}  // namespace
}  // namespace gpubinder::embedded
