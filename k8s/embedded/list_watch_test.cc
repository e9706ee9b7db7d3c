// Lists, pages and watches. Ids name the rules in the fact sheets; "3.8" is
// what a real server (v1.34.4) was seen to do.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/testing_calls.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

std::string MapText(const std::string& name, const std::string& label) {
  return DumpJson({{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"name", name}, {"labels", {{"l", label}}}}}});
}

class ListWatchTest : public testing::Test {
 protected:
  Json Call(const std::string& method, const std::string& target,
            const std::string& body = "", const std::string& type = "json") {
    const TestAnswer answer = transport_({method, target, body, type});
    code_ = answer.code;
    return *ParseJson(answer.body);
  }
  void Make(const std::string& name, const std::string& label) {
    Call("POST", kMaps, MapText(name, label));
    ASSERT_EQ(code_, 201);
  }
  std::string Version() { return absl::StrCat(server_.revision()); }

  // "ADDED a, BOOKMARK", and where the watch stands, in `at`.
  std::string Watch(const std::string& query) {
    const TestAnswer answer =
        transport_({"GET", absl::StrCat(kMaps, "?watch=1&", query)});
    code_ = answer.code;
    std::string text;
    last_ = Json();
    size_t from = 0;
    for (size_t end; (end = answer.body.find('\n', from)) != std::string::npos;
         from = end + 1) {
      const absl::StatusOr<Json> line =
          ParseJson(answer.body.substr(from, end - from));
      EXPECT_TRUE(line.ok());
      last_ = *line;
      absl::StrAppend(&text, text.empty() ? "" : ", ", TextAt(last_, {"type"}));
      const std::string name = TextAt(last_, {"object", "metadata", "name"});
      if (!name.empty()) absl::StrAppend(&text, " ", name);
    }
    return text;
  }

  EmbeddedServer server_{EmbeddedOptions{.event_window = 50}};
  TestTransport transport_ = InProcess(
      [this](const ApiRequest& request) { return server_.Handle(request); });
  int code_ = 0;
  Json last_;
};

TEST_F(ListWatchTest, PagesAreOfOneSnapshot) {  // LS-2
  for (const char* name : {"a", "b", "c", "d", "e"}) Make(name, "1");
  const std::string version = Version();
  Json page = Call("GET", absl::StrCat(kMaps, "?limit=2"));
  EXPECT_EQ(page["items"].size(), 2u);
  EXPECT_EQ(page["metadata"]["remainingItemCount"], 3);
  EXPECT_EQ(page["metadata"]["resourceVersion"], version);
  Call("DELETE", absl::StrCat(kMaps, "/d"));
  Make("f", "1");
  const std::string token = TextAt(page, {"metadata", "continue"});
  page = Call("GET", absl::StrCat(kMaps, "?limit=10&continue=", token));
  ASSERT_EQ(page["items"].size(), 3u);
  EXPECT_EQ(page["items"][1]["metadata"]["name"], "d");
  EXPECT_EQ(page["metadata"]["resourceVersion"], version);
  EXPECT_FALSE(page["metadata"].contains("continue"));
}

TEST_F(ListWatchTest, NoCountRemainsWithASelector) {  // LS-2
  for (const char* name : {"a", "b", "c"}) Make(name, "1");
  const Json page =
      Call("GET", absl::StrCat(kMaps, "?limit=2&labelSelector=l%3D1"));
  EXPECT_TRUE(page["metadata"].contains("continue"));
  EXPECT_FALSE(page["metadata"].contains("remainingItemCount"));
}

TEST_F(ListWatchTest, VersionZeroIgnoresTheLimit) {  // 3.8
  for (const char* name : {"a", "b", "c"}) Make(name, "1");
  const Json page =
      Call("GET", absl::StrCat(kMaps, "?limit=2&resourceVersion=0"));
  EXPECT_EQ(page["items"].size(), 3u);
}

TEST_F(ListWatchTest, AVersionWithALimitIsExact) {
  Make("a", "1");
  const std::string version = Version();
  Make("b", "1");
  EXPECT_EQ(
      Call("GET",
           absl::StrCat(kMaps, "?limit=9&resourceVersion=", version))["items"]
          .size(),
      1u);
  EXPECT_EQ(
      Call("GET", absl::StrCat(kMaps, "?resourceVersion=", version))["items"]
          .size(),
      2u);
  EXPECT_EQ(Call("GET", absl::StrCat(kMaps,
                                     "?resourceVersionMatch=Exact&"
                                     "resourceVersion=",
                                     version))["items"]
                .size(),
            1u);
}

TEST_F(ListWatchTest, ACompactedSnapshotIs410WithATokenThatGoesOn) {  // LS-3
  for (const char* name : {"a", "b", "c"}) Make(name, "1");
  const std::string version = Version();
  Json page = Call("GET", absl::StrCat(kMaps, "?limit=1"));
  const std::string token = TextAt(page, {"metadata", "continue"});
  Make("d", "1");
  server_.CompactEvents(server_.revision());

  page = Call("GET", absl::StrCat(kMaps, "?limit=1&continue=", token));
  EXPECT_EQ(code_, 410);
  EXPECT_EQ(page["reason"], "Expired");
  const std::string fresh = TextAt(page, {"metadata", "continue"});
  page = Call("GET", absl::StrCat(kMaps, "?continue=", fresh));
  EXPECT_EQ(code_, 200);
  EXPECT_EQ(page["items"].size(), 3u);

  page = Call("GET", absl::StrCat(kMaps,
                                  "?resourceVersionMatch=Exact&"
                                  "resourceVersion=",
                                  version));
  EXPECT_EQ(code_, 410);
  EXPECT_EQ(page["message"],
            "The resourceVersion for the provided list is too old.");
}

TEST_F(ListWatchTest, GoesOnFromTheListsVersion) {  // WA-1, WA-4
  Make("a", "1");
  const std::string version = Version();
  Make("b", "1");
  Call("PATCH", absl::StrCat(kMaps, "/a"), "{\"data\":{\"x\":\"y\"}}", "merge");
  Call("DELETE", absl::StrCat(kMaps, "/a"));
  EXPECT_EQ(Watch("resourceVersion=" + version),
            "ADDED b, MODIFIED a, DELETED a");
  // The deleted object is its last state with the version of the delete.
  EXPECT_EQ(last_["object"]["metadata"]["resourceVersion"], Version());
  EXPECT_EQ(last_["object"]["data"]["x"], "y");
}

TEST_F(ListWatchTest, WhatStopsMatchingIsDeleted) {  // WA-11
  Make("a", "1");
  const std::string version = Version();
  Call("PATCH", absl::StrCat(kMaps, "/a"),
       "{\"metadata\":{\"labels\":{\"l\":\"2\"}}}", "merge");
  EXPECT_EQ(Watch("labelSelector=l%3D1&resourceVersion=" + version),
            "DELETED a");
  EXPECT_EQ(last_["object"]["metadata"]["labels"]["l"], "1");
  EXPECT_EQ(last_["object"]["metadata"]["resourceVersion"], Version());
  EXPECT_EQ(Watch("labelSelector=l%3D2&resourceVersion=" + version), "ADDED a");
  EXPECT_EQ(Watch("labelSelector=l%3D3&resourceVersion=" + version), "");
}

TEST_F(ListWatchTest, AVersionThatIsTooOldIsAnErrorEvent) {  // 3.8
  Make("a", "1");
  const std::string version = Version();
  Make("b", "1");
  server_.CompactEvents(server_.revision());
  EXPECT_EQ(Watch("resourceVersion=" + version), "ERROR");
  EXPECT_EQ(code_, 200);
  EXPECT_EQ(last_["object"]["code"], 410);
  EXPECT_EQ(last_["object"]["reason"], "Expired");
  EXPECT_EQ(last_["object"]["message"],
            absl::StrCat("too old resource version: ", version, " (", Version(),
                         ")"));
}

TEST_F(ListWatchTest, TheWindowOfEventsIsBounded) {
  Make("a", "1");
  const std::string version = Version();
  for (int i = 0; i < 49; ++i) Make(absl::StrCat("b", i), "1");
  EXPECT_NE(Watch("resourceVersion=" + version).substr(0, 5), "ERROR");
  Make("c", "1");
  Make("d", "1");
  EXPECT_EQ(Watch("resourceVersion=" + version), "ERROR");
}

TEST_F(ListWatchTest, UnsetVersionSendsAllAndAMark) {  // 3.8
  Make("a", "1");
  EXPECT_EQ(Watch("allowWatchBookmarks=true"), "ADDED a, BOOKMARK");
  EXPECT_EQ(
      last_["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
      "true");
  EXPECT_EQ(Watch("resourceVersion=0&allowWatchBookmarks=true"), "ADDED a");
}

TEST_F(ListWatchTest, StreamsAList) {  // WA-8
  Make("a", "1");
  EXPECT_EQ(Watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                  "allowWatchBookmarks=true"),
            "ADDED a, BOOKMARK");
  EXPECT_EQ(Watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
            "ADDED a");
}

TEST_F(ListWatchTest, TheFutureIsSilent) {  // 3.8
  EXPECT_EQ(Watch("resourceVersion=99999999"), "");
  EXPECT_EQ(code_, 200);
}

TEST_F(ListWatchTest, FieldSelectorsOfPods) {
  const char* const pods = "/api/v1/namespaces/default/pods";
  Call("POST", pods, PodText("p", "g.example/a", 1));
  Call("POST", pods, PodText("q", "", 1));
  const auto count = [&](const std::string& selector) {
    return Call("GET", absl::StrCat(pods, "?fieldSelector=", selector))["items"]
        .size();
  };
  EXPECT_EQ(count("metadata.name%3Dp"), 1u);
  EXPECT_EQ(count("spec.nodeName%3D"), 2u);
  EXPECT_EQ(count("status.phase!%3DPending"), 0u);
  EXPECT_EQ(count("metadata.name%3Dp,status.phase%3DPending"), 1u);
}

TEST_F(ListWatchTest, LabelSelectors) {
  Make("a", "1");
  Make("b", "2");
  const auto count = [&](const std::string& selector) {
    return Call("GET",
                absl::StrCat(kMaps, "?labelSelector=", selector))["items"]
        .size();
  };
  EXPECT_EQ(count("l"), 2u);
  EXPECT_EQ(count("!l"), 0u);
  EXPECT_EQ(count("l%20in%20(1,3)"), 1u);
  EXPECT_EQ(count("l%20notin%20(1,3)"), 1u);
  EXPECT_EQ(count("l!%3D1"), 1u);
  EXPECT_EQ(count("l%3D%3D1,l"), 1u);
}

TEST(Watch, EndsCleanlyAtItsTimeoutAndWithItsServer) {
  auto server = std::make_unique<EmbeddedServer>(EmbeddedOptions{});
  ASSERT_TRUE(server->ListenHttp(0).ok());
  const TestTransport transport = OverHttp(server->port());
  const TestAnswer answer = transport(
      {"GET", absl::StrCat(kMaps,
                           "?watch=1&resourceVersion=1&timeoutSeconds=1"
                           "&allowWatchBookmarks=true")});
  EXPECT_EQ(answer.code, 200);
  // WA-5: a bookmark before the end, so that the client goes on from there.
  EXPECT_NE(answer.body.find("\"BOOKMARK\""), std::string::npos);
  std::thread client([&] {
    try {
      transport({"GET", absl::StrCat(kMaps, "?watch=1&timeoutSeconds=600")});
    } catch (const std::exception&) {
      // The connection is cut: what a client sees of a server that stops.
    }
  });
  server.reset();
  client.join();
}

}  // namespace
}  // namespace gpubinder::embedded
