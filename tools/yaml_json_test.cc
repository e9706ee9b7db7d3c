#include "tools/yaml_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

constexpr size_t kBytes = 1 << 20;

// The JSON of each document, one a line, or the error.
std::string Json(absl::string_view yaml) {
  const absl::StatusOr<std::vector<YamlDocument>> documents =
      YamlToJson(yaml, kBytes);
  if (!documents.ok()) return std::string(documents.status().message());
  std::string text;
  for (const YamlDocument& document : *documents) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", document.json);
  }
  return text;
}

// What the reader of Kubernetes (YAML 1.1, its core types) makes of them.
TEST(YamlJsonTest, PlainScalarsMeanWhatTheyMeanToKubernetes) {
  const std::pair<const char*, const char*> cases[] = {
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"OFF", "false"},
      {"n", "false"},
      {"tRue", "\"tRue\""},
      {"~", "null"},
      {"Null", "null"},
      {"12", "12"},
      {"+12", "12"},
      {"-0", "0"},
      {"0x10", "16"},
      {"-0x10", "-16"},
      {"0b101", "5"},
      {"017", "15"},
      {"0o17", "15"},
      {"089", "89"},
      {"1_000", "1000"},
      {"18446744073709551615", "18446744073709551615"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1.50", "1.5"},
      {"1.0", "1"},
      {".5", "0.5"},
      {"-2.", "-2"},
      {"1e3", "1000"},
      {"1.5e-3", "0.0015"},
      {"1e400", "\"1e400\""},
      {"100m", "\"100m\""},
      {"4Gi", "\"4Gi\""},
      {"1:30", "\"1:30\""},
      {"2026-01-31T12:00:00Z", "\"2026-01-31T12:00:00Z\""},
      {"2026-01-31", "\"2026-01-31\""},
      {"1.2.3", "\"1.2.3\""},
      {"0xg", "\"0xg\""},
      {"a\\b", R"("a\\b")"},
  };
  for (const auto& [yaml, want] : cases) {
    EXPECT_EQ(Json(absl::StrCat("k: ", yaml)),
              absl::StrCat("{\"k\":", want, "}"))
        << yaml;
  }
}

TEST(YamlJsonTest, QuotedScalarsAreTexts) {
  EXPECT_EQ(Json("a: 'yes'\nb: \"12\"\nc: !!str 1.5\nd: |\n  x\n  y\n"),
            R"({"a":"yes","b":"12","c":"1.5","d":"x\ny\n"})");
  EXPECT_EQ(Json(R"(a: "tab\t quote\" nul\0 é")"),
            R"({"a":"tab\u0009 quote\" nul\u0000 é"})");
}

TEST(YamlJsonTest, KeysAreTexts) {
  EXPECT_EQ(Json("1: a\non: b\n\"x\": c"), R"({"1":"a","true":"b","x":"c"})");
  EXPECT_EQ(Json("? [a]\n: b"),
            "document 1, line 1, column 3: found a key that is a list or a "
            "map");
  EXPECT_EQ(Json("~: b"),
            "document 1, line 1, column 1: found a key that is null, want a "
            "text");
}

TEST(YamlJsonTest, DocumentsThatAreEmptyCountAndAreLeftOut) {
  const absl::StatusOr<std::vector<YamlDocument>> documents =
      YamlToJson("---\n# nothing\n---\na: 1\n---\n---\n[]\n", kBytes);
  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[0].number, 2);
  EXPECT_EQ((*documents)[0].json, "{\"a\":1}");
  EXPECT_EQ((*documents)[1].number, 4);
  EXPECT_EQ(Json("# nothing\n"), "");
}

TEST(YamlJsonTest, AnchorsAliasesAndMergeKeys) {
  EXPECT_EQ(Json("a: &x [1, {b: 2}]\nc: *x\n*y : 1\nd: &y k").substr(0, 11),
            "document 1,");  // an alias of what comes later
  EXPECT_EQ(Json("a: &x [1]\nc: *x"), R"({"a":[1],"c":[1]})");
  EXPECT_EQ(Json("base: &b {x: 1, w: 2}\nk: {<<: *b, w: 3, z: 4}"),
            R"({"base":{"x":1,"w":2},"k":{"w":3,"z":4,"x":1}})");
  EXPECT_EQ(Json("k: {<<: [{x: 1}, {x: 2, w: 2}]}"), R"({"k":{"x":1,"w":2}})");
  EXPECT_EQ(Json("k: {\"<<\": 1}"), R"({"k":{"<<":1}})");
  EXPECT_EQ(Json("k: {<<: 1}"),
            "document 1, line 1, column 9: found a merge of what is no map");
  EXPECT_EQ(Json("&a [*a]"),
            "document 1, line 1, column 5: an alias stands inside of what it "
            "stands for");
}

TEST(YamlJsonTest, WhatJsonLacksIsAnError) {
  EXPECT_EQ(Json("a: 1\nb: 2\na: 3"),
            "document 1, line 3, column 1: the key \"a\" stands twice in a "
            "map");
  EXPECT_EQ(Json("---\na: 1\n---\nb: .inf"),
            "document 2, line 4, column 4: found the number .inf, which JSON "
            "lacks");
  EXPECT_EQ(Json("a: !thing b"),
            "document 1, line 1, column 4: found the unknown tag !thing");
  EXPECT_EQ(Json("a: !!int b"),
            "document 1, line 1, column 4: \"b\" does not go with the tag "
            "tag:yaml.org,2002:int");
  EXPECT_EQ(Json("a: [1").substr(0, 11), "document 1,");
}

TEST(YamlJsonTest, AliasesCannotMakeADocumentGrowWithoutEnd) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) absl::StrAppend(&bomb, "*a", i - 1, ", ");
    absl::StrAppend(&bomb, "x]\n");
  }
  EXPECT_TRUE(Json(bomb).ends_with("grows too large")) << Json(bomb);
}

TEST(YamlJsonTest, DepthIsBounded) {
  EXPECT_EQ(Json(std::string(100000, '[')).substr(0, 11), "document 1,");
  std::string lists;
  for (int i = 0; i < 100000; ++i) lists += "- ";
  EXPECT_TRUE(Json(lists).ends_with("nested too deep")) << Json(lists);
  // Each alias adds a level, however flat the text is.
  std::string chain = "- &a0 x\n";
  for (int i = 1; i < 2000; ++i) {
    absl::StrAppend(&chain, "- &a", i, " [*a", i - 1, "]\n");
  }
  EXPECT_TRUE(Json(chain).ends_with("nested too deep")) << Json(chain);
}

}  // namespace
}  // namespace gpubinder
