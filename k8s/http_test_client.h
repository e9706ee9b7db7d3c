// For tests of HttpApiClient: clients of a ScriptedServer, and scripts that
// several of them use.

#ifndef K8S_HTTP_TEST_CLIENT_H_
#define K8S_HTTP_TEST_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "k8s/http_api_client.h"
#include "k8s/identity.h"
#include "k8s/scripted_server.h"

namespace gpubinder {

// Far above what a loaded machine needs: a test that waits this long fails.
inline constexpr absl::Duration kPatience = absl::Seconds(30);
inline constexpr absl::Duration kShort = absl::Milliseconds(500);

inline const ResourcePath kPod = {
    .version = "v1", .plural = "pods", .name_space = "a", .name = "p"};
inline const ResourcePath kPods = {.version = "v1", .plural = "pods"};

inline std::unique_ptr<HttpApiClient> ClientOf(Identity identity,
                                               HttpApiOptions options = {}) {
  absl::StatusOr<std::unique_ptr<HttpApiClient>> client =
      HttpApiClient::Open(identity, std::move(options));
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

inline std::unique_ptr<HttpApiClient> ClientOf(const ScriptedServer& server,
                                               HttpApiOptions options = {}) {
  return ClientOf(Identity{.server = server.url()}, std::move(options));
}

// Waits until the client closes.
inline void Hold(ServerConnection& connection) {
  while (connection.Read().has_value()) {
  }
}

// Answers every request so.
inline std::function<void(ServerConnection&)> Always(int code,
                                                     std::string headers,
                                                     std::string body) {
  return [=](ServerConnection& connection) {
    while (connection.Read()) connection.Answer(code, headers, body);
  };
}

struct Watched {
  absl::Status status;
  std::vector<std::string> lines;
};

inline Watched WatchAll(HttpApiClient& client,
                        absl::Duration timeout = kPatience) {
  Watched watched;
  watched.status =
      client.Watch(kPods, {.resource_version = "7", .timeout = timeout},
                   [&](absl::string_view line) {
                     watched.lines.emplace_back(line);
                     return true;
                   });
  return watched;
}

}  // namespace gpubinder

#endif  // K8S_HTTP_TEST_CLIENT_H_
