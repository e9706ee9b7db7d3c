#include "k8s/raw_json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

struct Split {
  absl::StatusOr<ListPage> page;
  std::vector<RawObject> items;
};

Split SplitAll(const std::string& text) {
  std::vector<RawObject> items;
  absl::StatusOr<ListPage> page = SplitList(
      text, [&](RawObject item) { items.push_back(std::move(item)); });
  return {std::move(page), std::move(items)};
}

TEST(SplitList, KeepsEachItemsBytes) {
  const std::string first =
      R"({"spec": {"x":"}]\"," }, "metadata":{"uid":"u1",)"
      R"("labels":{"name":"no"},"name":"a","resourceVersion":"7",)"
      R"("namespace":"n"}})";
  const std::string second =
      R"({"metadata":{"name":"b","uid":"u2","resourceVersion":"8"},"x":1e99})";
  const Split split = SplitAll(
      R"({"kind":"List","items":[)" + first + " ,\n" + second +
      "\n],\"metadata\":{\"resourceVersion\":\"41\",\"continue\":\"c\"}}\n");
  ASSERT_TRUE(split.page.ok()) << split.page.status();
  EXPECT_EQ(split.page->resource_version, "41");
  EXPECT_EQ(split.page->continue_token, "c");
  ASSERT_EQ(split.items.size(), 2u);
  EXPECT_EQ(split.items[0].json, first);
  EXPECT_EQ(split.items[0].name, "a");
  EXPECT_EQ(split.items[0].name_space, "n");
  EXPECT_EQ(split.items[0].uid, "u1");
  EXPECT_EQ(split.items[0].resource_version, "7");
  EXPECT_EQ(split.items[1].json, second);
  EXPECT_EQ(split.items[1].name, "b");
  EXPECT_EQ(split.items[1].name_space, "");
}

TEST(SplitList, TakesNullAndNoItems) {
  for (const char* items : {"null", "[]", " [ ] "}) {
    const Split split = SplitAll(
        std::string(R"({"metadata":{"resourceVersion":"5"},"items":)") + items +
        "}");
    ASSERT_TRUE(split.page.ok()) << split.page.status();
    EXPECT_EQ(split.page->resource_version, "5");
    EXPECT_EQ(split.page->continue_token, "");
    EXPECT_TRUE(split.items.empty());
  }
}

TEST(SplitList, RefusesWhatIsNoList) {
  const std::vector<std::string> texts = {
      "",
      "[]",
      "null",
      "<html>busy</html>",
      R"({"metadata":{"resourceVersion":"5"}})",
      R"({"metadata":{},"items":[]})",
      R"({"metadata":{"resourceVersion":5},"items":[]})",
      R"({"metadata":{"resourceVersion":"5"},"items":{}})",
      R"({"metadata":{"resourceVersion":"5"},"items":[1]})",
      R"({"metadata":{"resourceVersion":"5"},"items":[{}]})",
      R"({"metadata":{"resourceVersion":"5"},"items":[)"
      R"({"metadata":{"name":"a","resourceVersion":"1"}}]})",
      R"({"metadata":{"resourceVersion":"5"},"items":[)"
      R"({"metadata":{"name":"a","uid":3,"resourceVersion":"1"}}]})",
      R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a)",
      R"({"metadata":{"resourceVersion":"5"},"items":[]} {})",
      "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[],\"x\":\"\xff\"}",
  };
  for (const std::string& text : texts) {
    EXPECT_TRUE(absl::IsDataLoss(SplitAll(text).page.status())) << text;
  }
}

// Each prefix of a page is refused, and none is read past its end.
TEST(SplitList, RefusesEveryPrefix) {
  const std::string whole =
      R"({"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"1"}},)"
      R"({"metadata":{"name":"b","uid":"v","resourceVersion":"2"}}],)"
      R"("metadata":{"resourceVersion":"5"}})";
  ASSERT_TRUE(SplitAll(whole).page.ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(SplitAll(whole.substr(0, size)).page.ok()) << size;
  }
}

TEST(ReadWatchLine, TakesEachType) {
  const std::string object =
      R"({"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u",)"
      R"("resourceVersion":"9"},"status":{}})";
  const std::vector<std::pair<std::string, WatchLine::Type>> types = {
      {"ADDED", WatchLine::Type::kAdded},
      {"MODIFIED", WatchLine::Type::kModified},
      {"DELETED", WatchLine::Type::kDeleted}};
  for (const auto& [name, type] : types) {
    const absl::StatusOr<WatchLine> line =
        ReadWatchLine(R"({"type":")" + name + R"(","object":)" + object + "}");
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->type, type);
    EXPECT_EQ(line->object.json, object);
    EXPECT_EQ(line->object.name, "p");
    EXPECT_EQ(line->object.name_space, "n");
    EXPECT_EQ(line->object.uid, "u");
    EXPECT_EQ(line->object.resource_version, "9");
  }
}

TEST(ReadWatchLine, TakesTheObjectBeforeTheType) {
  const absl::StatusOr<WatchLine> line = ReadWatchLine(
      R"({"object":{"metadata":{"name":"p","uid":"u","resourceVersion":"9"}},)"
      R"("type":"ADDED"})");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->object.name, "p");
}

TEST(ReadWatchLine, TakesBookmarkAndError) {
  const absl::StatusOr<WatchLine> bookmark = ReadWatchLine(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",)"
      R"("metadata":{"resourceVersion":"12","creationTimestamp":null}}})");
  ASSERT_TRUE(bookmark.ok()) << bookmark.status();
  EXPECT_EQ(bookmark->type, WatchLine::Type::kBookmark);
  EXPECT_EQ(bookmark->object.resource_version, "12");

  const absl::StatusOr<WatchLine> error = ReadWatchLine(
      R"x({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",)x"
      R"x("metadata":{},"status":"Failure","message":"too old resource )x"
      R"x(version: 747 (902)","reason":"Expired","code":410}})x");
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_EQ(error->type, WatchLine::Type::kError);
  EXPECT_EQ(error->error.code, 410);
  EXPECT_EQ(error->error.reason, "Expired");
  EXPECT_EQ(error->error.message, "too old resource version: 747 (902)");
}

TEST(ReadWatchLine, RefusesWhatIsNoEvent) {
  const std::vector<std::string> lines = {
      "",
      "{}",
      R"({"type":"ADDED"})",
      R"({"type":"ADDED","object":{}})",
      R"({"type":"ADDED","object":[]})",
      R"({"type":"SYNC","object":{"metadata":{"name":"p","uid":"u",)"
      R"("resourceVersion":"9"}}})",
      R"({"type":"BOOKMARK","object":{"metadata":{}}})",
      R"({"type":"ADDED","object":{"metadata":{"name":"p")",
  };
  for (const std::string& line : lines) {
    EXPECT_TRUE(absl::IsDataLoss(ReadWatchLine(line).status())) << line;
  }
}

TEST(TakeStatusObject, ReadsReasonMessageAndRetry) {
  ApiError error{.code = 504};
  TakeStatusObject(
      R"({"kind":"Status","message":"m","reason":"Timeout","code":500,)"
      R"("details":{"retryAfterSeconds":4}})",
      error);
  EXPECT_EQ(error.code, 504);  // the answer's own code wins
  EXPECT_EQ(error.reason, "Timeout");
  EXPECT_EQ(error.message, "m");
  EXPECT_EQ(error.retry_after, absl::Seconds(4));
}

TEST(TakeStatusObject, KeepsOtherTextAsTheMessage) {
  ApiError error{.code = 404};
  TakeStatusObject("404 page not found\n", error);
  EXPECT_EQ(error.message, "404 page not found");
  EXPECT_EQ(error.reason, "");
  TakeStatusObject(std::string(1000, 'x'), error);
  EXPECT_EQ(error.message, std::string(256, 'x'));
}

// The message becomes part of a record, which must be UTF-8.
TEST(TakeStatusObject, KeepsOfOtherTextWhatIsUtf8) {
  ApiError error{.code = 502};
  TakeStatusObject("Pas trouv\xe9", error);
  EXPECT_EQ(error.message, "Pas trouv?");
  TakeStatusObject(std::string(255, 'x') + "\xc3\xa9", error);
  EXPECT_EQ(error.message, std::string(255, 'x'));
}

TEST(IsJsonObject, RefusesWhatOnlyLooksLikeOne) {
  EXPECT_TRUE(IsJsonObject(R"( {"a":[1,true,null,"x"]} )"));
  for (const char* text :
       {"", "[]", "3", "{", "{}x", "{\"a\":tru}", "{\"a\":1}{\"b\":2}"}) {
    EXPECT_FALSE(IsJsonObject(text)) << text;
  }
}

}  // namespace
}  // namespace gpubinder
