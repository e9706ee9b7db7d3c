#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "k8s/http_api_client.h"
#include "k8s/http_test_client.h"
#include "k8s/identity.h"
#include "k8s/scripted_server.h"
#include "k8s/test_certificates.h"

namespace gpubinder {
namespace {

using ::testing::TempDir;

// libcurl by itself would send the second request again on a new connection.

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

std::function<void(ServerConnection&)> AcceptingToken(std::string token) {
  return [=](ServerConnection& connection) {
    while (const std::optional<ServerRequest> request = connection.Read()) {
      const bool known = absl::StrContains(
          request->head,
          absl::StrCat("\r\nAuthorization: Bearer ", token, "\r\n"));
      connection.Answer(
          known ? 200 : 401, "",
          known ? "{}" : R"({"kind":"Status","reason":"Unauthorized"})");
    }
  };
}

TEST(HttpApiClientToken, IsReadAnewAfterA401) {
  const std::string path = absl::StrCat(TempDir(), "/rotated-token");
  Write(path, "old\n");
  ScriptedServer before(AcceptingToken("old"));
  Identity identity{.server = before.url(), .token_file = path};
  const std::unique_ptr<HttpApiClient> client = ClientOf(identity);
  ASSERT_TRUE(client->Create(kPods, "{}", kPatience).ok());

  ScriptedServer after(AcceptingToken("new"));
  identity.server = after.url();
  const std::unique_ptr<HttpApiClient> other = ClientOf(identity);
  // The same token again: no second try.
  EXPECT_TRUE(
      absl::IsUnauthenticated(other->Create(kPods, "{}", kPatience).status()));
  EXPECT_EQ(after.Requests().size(), 1u);
  Write(path, "new\n");
  EXPECT_TRUE(other->Create(kPods, "{}", kPatience).ok());
  EXPECT_EQ(after.Requests().size(), 3u);
  // It is kept from now on.
  EXPECT_TRUE(WatchAll(*other).status.ok());
  EXPECT_EQ(after.Requests().size(), 4u);
}

TEST(HttpApiClientToken, AWatchToo) {
  const std::string path = absl::StrCat(TempDir(), "/watch-token");
  Write(path, "old");
  ScriptedServer server(AcceptingToken("new"));
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(Identity{.server = server.url(), .token_file = path});
  EXPECT_TRUE(absl::IsUnauthenticated(WatchAll(*client).status));
  Write(path, "new");
  EXPECT_TRUE(WatchAll(*client).status.ok());
}

TEST(HttpApiClientToken, AFileThatCannotBeReadIsSaid) {
  ScriptedServer server(Always(200, "", "{}"));
  const std::unique_ptr<HttpApiClient> client = ClientOf(
      Identity{.server = server.url(), .token_file = "/nonexistent/token"});
  const absl::Status status = client->Get(kPod, kPatience).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "/nonexistent/token"));
  EXPECT_FALSE(ApiErrorOf(status).sent);
}

TEST(HttpApiClientTls, PresentsTheClientsCertificate) {
  TestAuthority authority;
  const TestCertificate user = authority.Issue("binder", "DNS:binder");
  ScriptedServer server(
      Always(200, "", "{}"),
      {.certificate = authority.Issue("server", "IP:127.0.0.1"),
       .client_authority = authority.pem()});
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(Identity{.server = server.url(),
                        .authority = {.data = authority.pem()},
                        .certificate = {.data = user.certificate},
                        .key = {.data = user.key}});
  const absl::StatusOr<std::string> got = client->Get(kPod, kPatience);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(server.Requests()[0].subject, "binder");
}

TEST(HttpApiClientTls, ReadsTheSameFromFiles) {
  TestAuthority authority;
  const TestCertificate user = authority.Issue("binder", "DNS:binder");
  ScriptedServer server(
      Always(200, "", "{}"),
      {.certificate = authority.Issue("server", "IP:127.0.0.1"),
       .client_authority = authority.pem()});
  const std::string stem = absl::StrCat(TempDir(), "/tls-files");
  Write(stem + "-ca", authority.pem());
  Write(stem + "-crt", user.certificate);
  Write(stem + "-key", user.key);
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(Identity{.server = server.url(),
                        .authority = {.file = stem + "-ca"},
                        .certificate = {.file = stem + "-crt"},
                        .key = {.file = stem + "-key"}});
  const absl::StatusOr<std::string> got = client->Get(kPod, kPatience);
  EXPECT_TRUE(got.ok()) << got.status();
}

TEST(HttpApiClientTls, AServerWithoutStreamsGetsMoreConnections) {
  TestAuthority authority;
  absl::Notification answered;
  ScriptedServer server(
      [&](ServerConnection& connection) {
        while (const std::optional<ServerRequest> request = connection.Read()) {
          if (request->method == "GET") answered.WaitForNotification();
          connection.Answer(200, "", "{}");
        }
      },
      ServerTls{.certificate = authority.Issue("server", "IP:127.0.0.1")});
  const std::unique_ptr<HttpApiClient> client = ClientOf(
      Identity{.server = server.url(), .authority = {.data = authority.pem()}});
  std::thread getter([&] { EXPECT_TRUE(client->Get(kPod, kPatience).ok()); });
  while (server.Requests().empty()) std::this_thread::yield();
  EXPECT_TRUE(client->Create(kPods, "{}", kPatience).ok());
  answered.Notify();
  getter.join();
}

TEST(HttpApiClientTls, RefusesAServerOfAnotherAuthorityOrName) {
  TestAuthority authority, other;
  ScriptedServer foreign(
      Always(200, "", "{}"),
      ServerTls{.certificate = other.Issue("server", "IP:127.0.0.1")});
  // Right names in the common name only: that does not count.
  ScriptedServer misnamed(
      Always(200, "", "{}"),
      ServerTls{.certificate = authority.Issue("127.0.0.1", "DNS:api.test")});
  for (const ScriptedServer* server : {&foreign, &misnamed}) {
    const std::unique_ptr<HttpApiClient> client = ClientOf(Identity{
        .server = server->url(), .authority = {.data = authority.pem()}});
    const absl::Status status = client->Create(kPods, "{}", kPatience).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_FALSE(ApiErrorOf(status).sent);
  }
  EXPECT_TRUE(foreign.Requests().empty());
  EXPECT_TRUE(misnamed.Requests().empty());

  const std::unique_ptr<HttpApiClient> named =
      ClientOf(Identity{.server = misnamed.url(),
                        .authority = {.data = authority.pem()},
                        .tls_server_name = "api.test"});
  EXPECT_TRUE(named->Get(kPod, kPatience).ok());
  const std::unique_ptr<HttpApiClient> insecure = ClientOf(
      Identity{.server = foreign.url(), .insecure_skip_tls_verify = true});
  EXPECT_TRUE(insecure->Get(kPod, kPatience).ok());
}

TEST(HttpApiClient, IgnoresProxyVariablesUnlessToldOtherwise) {
  ScriptedServer proxy(Always(502, "", ""));
  ScriptedServer server(Always(200, "", "{}"));
  setenv("http_proxy", proxy.url().c_str(), 1);
  setenv("no_proxy", "", 1);
  EXPECT_TRUE(ClientOf(server)->Get(kPod, kPatience).ok());
  const std::unique_ptr<HttpApiClient> through = ClientOf(
      Identity{.server = server.url(), .proxy = Identity::Proxy::kEnvironment});
  EXPECT_EQ(ApiErrorOf(through->Get(kPod, kPatience).status()).code, 502);
  unsetenv("http_proxy");
  unsetenv("no_proxy");
  const std::unique_ptr<HttpApiClient> named =
      ClientOf(Identity{.server = server.url(),
                        .proxy = Identity::Proxy::kUrl,
                        .proxy_url = proxy.url()});
  EXPECT_EQ(ApiErrorOf(named->Get(kPod, kPatience).status()).code, 502);
  EXPECT_EQ(proxy.Requests().size(), 2u);
}

TEST(HttpApiClient, KeepsThePathPrefixOfTheServer) {
  ScriptedServer server(Always(200, "", "{}"));
  const std::unique_ptr<HttpApiClient> client =
      ClientOf(Identity{.server = server.url() + "/k8s/clusters/c/"});
  ASSERT_TRUE(client->Get(kPod, kPatience).ok());
  EXPECT_TRUE(absl::StartsWith(server.Requests()[0].target,
                               "/k8s/clusters/c/api/v1/namespaces/a/pods/p?"));
}

TEST(HttpApiClient, RefusesAServerThatIsNoUrl) {
  for (const char* server : {"", "127.0.0.1:x", "ftp://h", "https://",
                             "https://u:p@h", "https://h?x=1"}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(
        HttpApiClient::Open(Identity{.server = server}, {}).status()))
        << server;
  }
}

}  // namespace
}  // namespace gpubinder
