#include "k8s/embedded/patch_apply.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

Json Parsed(const std::string& text) {
  const absl::StatusOr<Json> parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// The API server's dialect of JSON Patch (evanphx, v4 line). An empty `after`
// means that the patch fails and nothing changes.
struct PatchCase {
  std::string id, before, patch, after;
};

std::vector<PatchCase> AddCases() {
  return {
      {"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
       R"({"a":1,"b":2})"},
      {"add needs the parent", R"({})",
       R"([{"op":"add","path":"/b/c","value":2}])", ""},
      {"a parent that is null counts as missing", R"({"b":null})",
       R"([{"op":"add","path":"/b/c","value":2}])", ""},
      {"add at the length appends", R"([1])",
       R"([{"op":"add","path":"/1","value":2}])", R"([1,2])"},
      {"add beyond the length fails", R"([1])",
       R"([{"op":"add","path":"/2","value":2}])", ""},
      {"add before", R"([1])", R"([{"op":"add","path":"/0","value":2}])",
       R"([2,1])"},
      {"a dash appends", R"([1])", R"([{"op":"add","path":"/-","value":2}])",
       R"([1,2])"},
      {"leading zeros are read", R"([1,2])",
       R"([{"op":"remove","path":"/01"}])", R"([1])"},
      {"a negative index counts from the end", R"([1,2,3])",
       R"([{"op":"remove","path":"/-1"}])", R"([1,2])"},
      {"remove what is missing fails", R"({})",
       R"([{"op":"remove","path":"/a"}])", ""},
      {"remove beyond the list fails", R"([1])",
       R"([{"op":"remove","path":"/1"}])", ""},
      {"replace adds a missing member", R"({})",
       R"([{"op":"replace","path":"/a","value":1}])", R"({"a":1})"},
      {"replace at a bad index fails", R"([1])",
       R"([{"op":"replace","path":"/1","value":1}])", ""},
      {"test finds equal objects in any order", R"({"a":{"x":1,"y":[2]}})",
       R"([{"op":"test","path":"/a","value":{"y":[2],"x":1}}])",
       R"({"a":{"x":1,"y":[2]}})"},
      {"test of another value fails", R"({"a":1})",
       R"([{"op":"test","path":"/a","value":2}])", ""},
      {"test tells 1 from 1.0", R"({"a":1})",
       R"([{"op":"test","path":"/a","value":1.0}])", ""},
      {"test of a missing member against null passes", R"({})",
       R"([{"op":"test","path":"/a","value":null}])", R"({})"},
  };
}

std::vector<PatchCase> OtherCases() {
  return {
      {"test of a missing member without value passes", R"({})",
       R"([{"op":"test","path":"/a"}])", R"({})"},
      {"test below a missing parent fails", R"({})",
       R"([{"op":"test","path":"/a/b","value":null}])", ""},
      {"slash and tilde are escaped", R"({"m":{}})",
       R"([{"op":"add","path":"/m/nvidia.com~1gpu~0x","value":1}])",
       R"({"m":{"nvidia.com/gpu~x":1}})"},
      {"move", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])",
       R"({"b":1})"},
      {"copy", R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])",
       R"({"a":1,"b":1})"},
      {"one failure undoes all", R"({})",
       R"([{"op":"add","path":"/a","value":1},{"op":"remove","path":"/z"}])",
       ""},
      {"an unknown operation fails", R"({})", R"([{"op":"zz","path":"/a"}])",
       ""},
  };
}

void ExpectPatches(const std::vector<PatchCase>& cases) {
  for (const PatchCase& one : cases) {
    SCOPED_TRACE(one.id);
    Json document = Parsed(one.before);
    const absl::Status status = ApplyJsonPatch(Parsed(one.patch), document);
    if (one.after.empty()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_EQ(document, Parsed(one.before));
    } else {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(document, Parsed(one.after));
    }
  }
}

TEST(ApplyJsonPatch, FollowsTheDialect) {
  ExpectPatches(AddCases());
  ExpectPatches(OtherCases());
}

TEST(ApplyJsonPatch, RefusesWhatIsNoList) {
  Json document = Json::object();
  EXPECT_EQ(ApplyJsonPatch(Json::object(), document).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ApplyJsonPatch(Json::array({1}), document).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ApplyJsonPatch, RefusesMoreThanTenThousandOperations) {
  Json patch = Json::array();
  for (int i = 0; i < 10001; ++i) {
    patch.push_back({{"op", "add"}, {"path", "/a"}, {"value", 1}});
  }
  Json document = Json::object();
  EXPECT_EQ(ApplyJsonPatch(patch, document).code(),
            absl::StatusCode::kInvalidArgument);
  patch.erase(0);
  EXPECT_TRUE(ApplyJsonPatch(patch, document).ok());
}

TEST(ApplyMergePatch, ReplacesListsAndDropsNulls) {  // PA-4
  Json document = Parsed(R"({"a":{"x":1,"y":2},"l":[1,2]})");
  ASSERT_TRUE(
      ApplyMergePatch(Parsed(R"({"a":{"x":null},"l":[3],"n":null})"), document)
          .ok());
  EXPECT_EQ(document, Parsed(R"({"a":{"y":2},"l":[3]})"));
}

TEST(ApplyStrategicMergePatch, MergesListsByTheirKeys) {  // PA-5
  Json document = Parsed(
      R"({"spec":{"schedulingGates":[{"name":"a"},{"name":"b"}],
                  "tolerations":[{"key":"x"}]}})");
  ASSERT_TRUE(ApplyStrategicMergePatch(Parsed(R"({"spec":{"schedulingGates":[
                      {"$patch":"delete","name":"a"}],
                      "tolerations":[{"key":"y"}]}})"),
                                       document)
                  .ok());
  EXPECT_EQ(document, Parsed(R"({"spec":{"schedulingGates":[{"name":"b"}],
                                         "tolerations":[{"key":"y"}]}})"));
}

TEST(ParseJson, BoundsTheDepth) {
  EXPECT_TRUE(ParseJson(std::string(128, '[') + std::string(128, ']')).ok());
  EXPECT_FALSE(ParseJson(std::string(129, '[') + std::string(129, ']')).ok());
  EXPECT_TRUE(ParseJson("\"" + std::string(1000, '[') + "\"").ok());
  EXPECT_FALSE(ParseJson("{\"a\":1} x").ok());
}

}  // namespace
}  // namespace gpubinder::embedded
