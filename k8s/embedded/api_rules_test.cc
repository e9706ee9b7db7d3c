// The table of api_rules.h, in the process and over HTTP.

#include "k8s/embedded/api_rules.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/testing_calls.h"

namespace gpubinder::embedded {
namespace {

constexpr char kPods[] = "/api/v1/namespaces/t/pods";
constexpr char kMaps[] = "/api/v1/namespaces/t/configmaps";
constexpr char kClaims[] =
    "/apis/gpu.cozystack.io/v1alpha1/namespaces/t/gpuclaims";
constexpr char kUnknownField[] =
    R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClaim",
        "metadata":{"name":"c"},"spec":{"className":"h","zzz":1}})";

void ExpectRule(const Rule& rule, const TestTransport& transport) {
  SCOPED_TRACE(rule.id);
  for (const TestCall& call : rule.before) {
    const TestAnswer answer = transport(call);
    ASSERT_LT(answer.code, 300)
        << call.method << " " << call.target << ": " << answer.body;
  }
  const TestAnswer answer = transport(rule.call);
  EXPECT_EQ(answer.code, rule.code) << answer.body;
  for (const std::string& part : rule.said) {
    EXPECT_NE(answer.body.find(part), std::string::npos)
        << part << "\nis not in\n"
        << answer.body;
  }
}

TEST(ApiRules, HoldInTheProcess) {
  for (const Rule& rule : AllApiRules()) {
    EmbeddedServer server({});
    const TestTransport transport = InProcess(
        [&](const ApiRequest& request) { return server.Handle(request); });
    ASSERT_EQ(
        transport({"POST", "/api/v1/namespaces", NamespaceText("t")}).code,
        201);
    ExpectRule(rule, transport);
  }
}

TEST(ApiRules, HoldOverHttp) {
  for (const Rule& rule : AllApiRules()) {
    EmbeddedServer server({});
    ASSERT_TRUE(server.ListenHttp(0).ok());
    const TestTransport transport = OverHttp(server.port());
    ASSERT_EQ(
        transport({"POST", "/api/v1/namespaces", NamespaceText("t")}).code,
        201);
    ExpectRule(rule, transport);
  }
}

// The same table against a real API server: GPUBINDER_API_PORT is the port of
// a `kubectl proxy` to one that has our CRDs and KubeVirt's.
TEST(ApiRules, HoldOnARealServer) {
  const char* const port = std::getenv("GPUBINDER_API_PORT");
  if (port == nullptr) GTEST_SKIP() << "GPUBINDER_API_PORT is not set";
  const TestTransport transport = OverHttp(std::atoi(port));
  int number = 0;
  for (const Rule& rule : AllApiRules()) {
    const std::string name = absl::StrCat("rule-", getpid(), "-", ++number);
    ASSERT_EQ(
        transport({"POST", "/api/v1/namespaces", NamespaceText(name)}).code,
        201);
    ExpectRule(rule, [&](TestCall call) {
      call.target = absl::StrReplaceAll(
          call.target,
          {{"/namespaces/t/", absl::StrCat("/namespaces/", name, "/")}});
      return transport(call);
    });
    transport({"DELETE", absl::StrCat("/api/v1/namespaces/", name)});
  }
}

TEST(HttpFront, SendsWarningsAndRetryAfterAsHeaders) {
  EmbeddedServer server({});
  ASSERT_TRUE(server.ListenHttp(0).ok());
  const TestTransport transport = OverHttp(server.port());
  transport({"POST", "/api/v1/namespaces", NamespaceText("t")});
  EXPECT_EQ(transport({"POST", kClaims, kUnknownField}).headers,
            "299 - \"unknown field \\\"spec.zzz\\\"\"|");
  EXPECT_EQ(transport({"GET", absl::StrCat(kPods, "?resourceVersion=99999999")})
                .headers,
            "|1");
}

TEST(HttpFront, RefusesABodyOverTheLimit) {
  EmbeddedServer server({});
  ASSERT_TRUE(server.ListenHttp(0).ok());
  const TestTransport transport = OverHttp(server.port());
  EXPECT_EQ(
      transport({"POST", kMaps, std::string(3 * 1024 * 1024 + 1, ' ')}).code,
      413);
}

TEST(HttpFront, SaysWhichPortIsTaken) {
  EmbeddedServer one({}), other({});
  ASSERT_TRUE(one.ListenHttp(0).ok());
  const absl::Status status = other.ListenHttp(one.port());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(other.port(), 0);
}

}  // namespace
}  // namespace gpubinder::embedded
