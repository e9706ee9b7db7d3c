#include "k8s/identity.h"

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/bearer_token.h"

namespace gpubinder {
namespace {

using ::testing::TempDir;

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

// A kubeconfig whose cluster and user are these lines of YAML flow.
std::string Config(const std::string& cluster, const std::string& user) {
  return absl::StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: two\n"
      "contexts:\n"
      "- {name: one, context: {cluster: other, user: other}}\n"
      "- {name: two, context: {cluster: c, user: u, namespace: n}}\n"
      "clusters:\n- {name: other, cluster: {server: 'https://no'}}\n"
      "- {name: c, cluster: {",
      cluster,
      "}}\n"
      "users:\n- {name: other, user: {token: no}}\n"
      "- {name: u, user: {",
      user, "}}\n");
}

TEST(ParseKubeconfig, TakesTheCurrentContext) {
  const absl::StatusOr<Identity> identity = ParseKubeconfig(
      Config("server: 'https://h:6443/', certificate-authority-data: Q0E=, "
             "certificate-authority: unused, tls-server-name: api.test",
             "client-certificate-data: Q1JU, client-key-data: S0VZ"),
      "/etc/k");
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->server, "https://h:6443");
  EXPECT_EQ(identity->authority.data, "CA");
  EXPECT_EQ(identity->authority.file, "");
  EXPECT_EQ(identity->certificate.data, "CRT");
  EXPECT_EQ(identity->key.data, "KEY");
  EXPECT_EQ(identity->tls_server_name, "api.test");
  EXPECT_FALSE(identity->insecure_skip_tls_verify);
  EXPECT_EQ(identity->proxy, Identity::Proxy::kEnvironment);
  EXPECT_EQ(identity->token, "");
}

TEST(ParseKubeconfig, PutsRelativePathsAgainstItsFolder) {
  const absl::StatusOr<Identity> identity = ParseKubeconfig(
      Config("server: 'https://h', certificate-authority: pki/ca.crt, "
             "insecure-skip-tls-verify: true, proxy-url: 'http://p:3128', "
             "disable-compression: true",
             "client-certificate: /abs/u.crt, client-key: u.key, "
             "tokenFile: t/token, token: fixed"),
      "/etc/k");
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->authority.file, "/etc/k/pki/ca.crt");
  EXPECT_EQ(identity->certificate.file, "/abs/u.crt");
  EXPECT_EQ(identity->key.file, "/etc/k/u.key");
  EXPECT_EQ(identity->token_file, "/etc/k/t/token");
  EXPECT_EQ(identity->token, "fixed");
  EXPECT_TRUE(identity->insecure_skip_tls_verify);
  EXPECT_TRUE(identity->disable_compression);
  EXPECT_EQ(identity->proxy, Identity::Proxy::kUrl);
  EXPECT_EQ(identity->proxy_url, "http://p:3128");
}

TEST(ParseKubeconfig, SaysWhatItCannotTake) {
  struct Case {
    std::string text, want;
  };
  const std::string server = "server: 'https://h'";
  const std::vector<Case> cases = {
      {"", "not a mapping"},
      {"[1", "not a kubeconfig in YAML"},
      {"apiVersion: v1", "current-context is not set"},
      {"current-context: x", "contexts has no entry named \"x\""},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]",
       "clusters has no entry named \"c\""},
      {Config("x: y", ""), "the cluster has no server"},
      {Config("server: [1]", ""), "not a kubeconfig in YAML"},
      {Config(server + ", certificate-authority-data: '*'", ""),
       "certificate-authority-data is not base64"},
      {Config(server, "exec: {command: aws}"), "exec, which is not supported"},
      {Config(server, "auth-provider: {name: gcp}"),
       "auth-provider, which is not supported"},
      {Config(server, "username: a, password: hunter2"),
       "username, which is not supported"},
      {Config(server, "as: root"), "as, which is not supported"},
      {Config(server, "client-certificate: a"), "no client-key"},
      {Config(server, "client-key: a"), "no client-certificate"},
  };
  for (const Case& c : cases) {
    const absl::Status status = ParseKubeconfig(c.text, "/").status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), c.want)) << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "hunter2"));
  }
}

TEST(FindIdentity, NamesTheKubeconfigThatCannotBeRead) {
  const absl::Status status = FindIdentity("/nonexistent/config", {}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "/nonexistent/config"));
  const std::string path = absl::StrCat(TempDir(), "/bad-config");
  Write(path, "a: b");
  EXPECT_TRUE(
      absl::StrContains(FindIdentity(path, {}).status().message(), path));
}

TEST(FindIdentity, SaysWhenThereIsNeitherKubeconfigNorCluster) {
  const absl::Status status = FindIdentity("", PodSettings{}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(),
            "not in a cluster: KUBERNETES_SERVICE_HOST is not set; give "
            "--kubeconfig to run outside");
}

TEST(FindIdentity, TakesThePodsServiceAccount) {
  const std::string folder = absl::StrCat(TempDir(), "/service-account");
  mkdir(folder.c_str(), 0700);
  PodSettings settings{
      .host = "fd00::1", .port = "443", .service_account_folder = folder};
  std::remove((folder + "/token").c_str());
  EXPECT_TRUE(absl::StrContains(FindIdentity("", settings).status().message(),
                                folder + "/token"));
  Write(folder + "/token", "t");
  Write(folder + "/ca.crt", "c");
  const absl::StatusOr<Identity> identity = FindIdentity("", settings);
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->server, "https://[fd00::1]:443");
  EXPECT_EQ(identity->token_file, folder + "/token");
  EXPECT_EQ(identity->authority.file, folder + "/ca.crt");
  EXPECT_EQ(identity->proxy, Identity::Proxy::kNone);
  EXPECT_FALSE(identity->insecure_skip_tls_verify);
  settings.host = "10.0.0.1";
  EXPECT_EQ(FindIdentity("", settings)->server, "https://10.0.0.1:443");
}

TEST(ReadSmallFile, RefusesFoldersAndLargeFiles) {
  EXPECT_FALSE(ReadSmallFile(TempDir()).ok());
  const std::string path = absl::StrCat(TempDir(), "/large");
  Write(path, std::string((size_t{1} << 20) + 1, 'x'));
  EXPECT_TRUE(
      absl::StrContains(ReadSmallFile(path).status().message(), "over 1 MiB"));
}

class BearerTokenTest : public ::testing::Test {
 protected:
  absl::Time now_ = absl::UnixEpoch();
  const std::string path_ = absl::StrCat(TempDir(), "/token");
};

TEST_F(BearerTokenTest, IsReadAnewEachMinute) {
  Write(path_, "one\n");
  BearerToken token("", path_, [&] { return now_; });
  EXPECT_EQ(*token.Current(), "one");
  Write(path_, "two\n");
  now_ += absl::Seconds(59);
  EXPECT_EQ(*token.Current(), "one");
  now_ += absl::Seconds(1);
  EXPECT_EQ(*token.Current(), "two");
}

TEST_F(BearerTokenTest, OutlivesItsFile) {
  Write(path_, "one");
  BearerToken token("", path_, [&] { return now_; });
  EXPECT_EQ(*token.Current(), "one");
  for (const char* text : {"", " \n", "a b", "a\r\nX-Header: b"}) {
    Write(path_, text);
    now_ += absl::Minutes(2);
    EXPECT_EQ(*token.Current(), "one");
    EXPECT_FALSE(token.Renewed("one"));
  }
  std::remove(path_.c_str());
  now_ += absl::Minutes(2);
  EXPECT_EQ(*token.Current(), "one");
}

TEST_F(BearerTokenTest, WithoutAFirstReadingIsAnError) {
  std::remove(path_.c_str());
  BearerToken token("unused", path_, [&] { return now_; });
  EXPECT_TRUE(absl::IsUnauthenticated(token.Current().status()));
  Write(path_, "one");
  EXPECT_EQ(*token.Current(), "one");
}

TEST_F(BearerTokenTest, FixedIsNeverRenewed) {
  BearerToken token("fixed", "", [&] { return now_; });
  EXPECT_EQ(*token.Current(), "fixed");
  EXPECT_FALSE(token.Renewed("fixed"));
  EXPECT_EQ(*BearerToken("", "", [&] { return now_; }).Current(), "");
}

}  // namespace
}  // namespace gpubinder
