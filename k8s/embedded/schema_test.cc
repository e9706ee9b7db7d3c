#include "k8s/embedded/schema.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "k8s/embedded/crd_resources.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

void ExpectKnownRules(const Json& schema) {
  for (const Json& rule : Member(schema, "x-kubernetes-validations")) {
    EXPECT_TRUE(IsKnownRule(TextAt(rule, {"rule"})))
        << TextAt(rule, {"rule"}) << " needs its C++ in schema.cc";
  }
  if (!schema.is_structured()) return;
  for (const Json& part : schema) ExpectKnownRules(part);
}

TEST(CheckSchema, KnowsEveryRuleOfOurCrds) {
  const std::vector<Resource> ours = ResourcesOfOurCrds();
  EXPECT_EQ(ours.size(), 3u);
  for (const Resource& resource : ours) ExpectKnownRules(*resource.schema);
  EXPECT_FALSE(IsKnownRule("self.a > 1"));
}

TEST(PruneAndDefault, SetsDefaultsWithinDefaults) {  // CD-2
  const Json schema = *ParseJson(
      R"({"type":"object","properties":{"status":{"type":"object",
          "default":{},"properties":{"phase":{"default":"Pending"}}}}})");
  Json object = *ParseJson(R"({"metadata":{"any":1},"zzz":1})");
  EXPECT_EQ(PruneAndDefault(schema, object), std::vector<std::string>{"zzz"});
  EXPECT_EQ(object, *ParseJson(
                        R"({"metadata":{"any":1},
                            "status":{"phase":"Pending"}})"));
}

TEST(CheckSchema, KeysOfAMapListAreUnique) {  // CD-3
  const Json schema = *ParseJson(
      R"({"type":"array","x-kubernetes-list-type":"map",
          "x-kubernetes-list-map-keys":["type"],
          "items":{"type":"object"}})");
  EXPECT_TRUE(
      CheckSchema(schema, *ParseJson(R"([{"type":"a"},{"type":"b"}])"), Json())
          .empty());
  const FieldErrors errors =
      CheckSchema(schema, *ParseJson(R"([{"type":"a"},{"type":"a"}])"), Json());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "Duplicate value: {\"type\":\"a\"}");
}

}  // namespace
}  // namespace gpubinder::embedded
