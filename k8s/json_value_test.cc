#include "k8s/json_value.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

using Type = JsonValue::Type;

std::string Rewrite(absl::string_view text) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text);
  if (!document.ok()) return "no JSON";
  return WriteJson(document->root(), PathTree({}));
}

TEST(JsonValueTest, KnowsEachType) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(
      R"({"n":null,"b":true,"i":-7,"w":2.0,"d":2.5,"big":9007199254740993,)"
      R"("u":18446744073709551615,)"
      R"("t":"x","l":[],"o":{}})");
  ASSERT_TRUE(document.ok());
  const JsonValue root = document->root();
  EXPECT_EQ(root.type(), Type::kObject);
  EXPECT_EQ(root.Field("n").type(), Type::kAbsent);
  EXPECT_EQ(root.Field("missing").type(), Type::kAbsent);
  EXPECT_EQ(root.Field("b").type(), Type::kBool);
  EXPECT_TRUE(root.Field("b").boolean());
  EXPECT_EQ(root.Field("i").type(), Type::kInteger);
  EXPECT_EQ(root.Field("i").integer(), -7);
  EXPECT_EQ(root.Field("w").type(), Type::kInteger);
  EXPECT_EQ(root.Field("w").integer(), 2);
  EXPECT_EQ(root.Field("d").type(), Type::kNumber);
  EXPECT_EQ(root.Field("d").number_text(), "2.5");
  // One more than a double can tell from its neighbour.
  EXPECT_EQ(root.Field("big").integer(), 9007199254740993);
  EXPECT_EQ(root.Field("u").type(), Type::kNumber);
  EXPECT_EQ(root.Field("u").number_text(), "18446744073709551615");
  EXPECT_EQ(root.Field("t").text(), "x");
  EXPECT_EQ(root.Field("l").type(), Type::kList);
  EXPECT_EQ(root.Field("t").Field("x").type(), Type::kAbsent);
}

// Names of each way to compare: bytes, two words, and beyond.
TEST(JsonValueTest, FindsNamesOfEverySizeBesideTheirNeighbours) {
  std::vector<std::string> names;
  std::string text = "{";
  for (size_t size = 0; size <= 40; ++size) {
    const std::string name(size, 'n');
    names.push_back(name);
    // Others of that size, each with one byte that differs.
    for (size_t at = 0; at < size; ++at) {
      names.push_back(name);
      names.back()[at] = 'x';
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"", names[i], "\":", i);
  }
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text + "}");
  ASSERT_TRUE(document.ok());
  for (size_t i = 0; i < names.size(); ++i) {
    const JsonValue found = document->root().Field(names[i]);
    ASSERT_EQ(found.type(), Type::kInteger) << names[i];
    EXPECT_EQ(found.integer(), static_cast<int64_t>(i)) << names[i];
  }
  EXPECT_FALSE(document->root().Field("nnnz").present());
  EXPECT_FALSE(document->root().Field(std::string(41, 'n')).present());
}

TEST(JsonValueTest, PassesOverValuesOfEveryType) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(
      R"({"a":null,"b":true,"c":false,"d":-1,"e":18446744073709551615,)"
      R"("f":0.5,"g":"z","h":[],"i":{},"j":[[1,2.5],{"z":0}],)"
      R"("k":{"z":[0,{}]},"z":7,"\u0061":8,"z":9})");
  ASSERT_TRUE(document.ok());
  // The first of a name, and none of the levels below.
  EXPECT_EQ(document->root().Field("z").integer(), 7);
  EXPECT_FALSE(document->root().Field("a").present());
  std::string names;
  document->root().ForEachField([&](absl::string_view name, JsonValue) {
    absl::StrAppend(&names, name);
  });
  EXPECT_EQ(names, "abcdefghijkzaz");
  EXPECT_EQ(document->root().size(), 14u);
  const JsonValue list = document->root().Field("j");
  EXPECT_EQ(list.size(), 2u);
  std::vector<Type> types;
  list.ForEachItem([&](JsonValue item) { types.push_back(item.type()); });
  EXPECT_EQ(types, (std::vector<Type>{Type::kList, Type::kObject}));
  EXPECT_EQ(document->root().Field("k").Field("z").size(), 2u);
  EXPECT_EQ(document->root().Field("g").size(), 0u);
}

TEST(JsonValueTest, WholeNumbersEndWhereInt64Ends) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(
      "[9223372036854775807, 9223372036854775808, 9223372036854775808.0, "
      "-9223372036854775808.0, -0.0]");
  ASSERT_TRUE(document.ok());
  std::vector<Type> types;
  document->root().ForEachItem(
      [&](JsonValue item) { types.push_back(item.type()); });
  EXPECT_EQ(types,
            (std::vector<Type>{Type::kInteger, Type::kNumber, Type::kNumber,
                               Type::kInteger, Type::kInteger}));
}

TEST(JsonValueTest, NumbersNobodyCanHoldBecomeText) {
  EXPECT_EQ(Rewrite("[100000000000000000000]"), R"(["100000000000000000000"])");
  EXPECT_EQ(Rewrite(R"({"a":"1e400","b":-1e400})"),
            R"({"a":"1e400","b":"-1e400"})");
  EXPECT_EQ(Rewrite(R"(["\"1e999\"",1e999])"), R"(["\"1e999\"","1e999"])");
  // A number of the wrong form stays an error beside one that is too large.
  EXPECT_EQ(Rewrite("[1e400, 01]"), "no JSON");
  EXPECT_EQ(Rewrite("[1e400, 1.]"), "no JSON");
  EXPECT_EQ(Rewrite("[01]"), "no JSON");
}

TEST(JsonValueTest, WritesWhatReadsAlikeAgain) {
  EXPECT_EQ(Rewrite(R"( { "a" : [ 1 , 2.50 , true , null , { } , [ ] ] } )"),
            R"({"a":[1,2.5,true,null,{},[]]})");
  EXPECT_EQ(Rewrite(R"(["a\"b\\c\u0001\n\u00e9/\ud83d\ude00"])"),
            "[\"a\\\"b\\\\c\\u0001\\u000a\xc3\xa9/\xf0\x9f\x98\x80\"]");
  EXPECT_EQ(Rewrite("[18446744073709551616.0]"), "[18446744073709551616.0]");
  EXPECT_EQ(Rewrite("\"x\""), "\"x\"");
  EXPECT_EQ(Rewrite("null"), "null");
}

TEST(JsonValueTest, NestingAsDeepAsTheServerAllowsIsRead) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_EQ(Rewrite(deep), deep);
  const std::string deeper =
      std::string(20'000, '[') + std::string(20'000, ']');
  EXPECT_EQ(Rewrite(deeper), "no JSON");
}

TEST(JsonValueTest, RefusesWhatIsNoJson) {
  for (const char* text : {"", " ", "{", "{}x", "{\"a\":}", "nul", "[1,]",
                           "\xff", "{\"a\":1 \"b\":2}"}) {
    EXPECT_EQ(Rewrite(text), "no JSON") << text;
  }
}

TEST(JsonValueTest, DocumentsOfOneThreadDoNotDisturbEachOther) {
  const absl::StatusOr<JsonDocument> first = JsonDocument::Parse("[\"one\"]");
  ASSERT_TRUE(first.ok());
  const absl::StatusOr<JsonDocument> second = JsonDocument::Parse("[\"two\"]");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(WriteJson(first->root(), PathTree({})), "[\"one\"]");
  EXPECT_EQ(WriteJson(second->root(), PathTree({})), "[\"two\"]");
}

TEST(PathTreeTest, LeavesOutWhatItNamesAndNothingElse) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(
      R"({"a":{"x":1,"y":2},"l":[{"x":1,"y":2},[{"x":3}],4],"x":5})");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(WriteJson(document->root(), PathTree({"a>x", "l>x"})),
            R"({"a":{"y":2},"l":[{"y":2},[{}],4],"x":5})");
}

}  // namespace
}  // namespace gpubinder
