#include "webhook/json_patch.h"

#include "gtest/gtest.h"

namespace gpubinder {
namespace {

TEST(JsonPatch, MakesAListThatIsAbsentInOneOperation) {
  JsonPatch patch;
  patch.Append({.steps = {"spec", "schedulingGates"}, .present = 1},
               {{{"name", "a"}}, {{"name", "b"}}});
  EXPECT_EQ(patch.Text(), R"([{"op":"add","path":"/spec/schedulingGates",)"
                          R"("value":[{"name":"a"},{"name":"b"}]}])");
}

TEST(JsonPatch, MakesTheParentsThatAreMissing) {
  JsonPatch patch;
  patch.Append({.steps = {"spec", "domain", "devices", "gpus"}, .present = 2},
               {{{"name", "g"}}});
  EXPECT_EQ(patch.Text(), R"([{"op":"add","path":"/spec/domain/devices",)"
                          R"("value":{"gpus":[{"name":"g"}]}}])");
  JsonPatch all;
  all.Append({.steps = {"a", "b", "c"}, .present = 0}, {{{"n", int64_t{7}}}});
  EXPECT_EQ(all.Text(),
            R"([{"op":"add","path":"/a","value":{"b":{"c":[{"n":7}]}}}])");
}

TEST(JsonPatch, AppendsToAListThatIsThere) {
  JsonPatch patch;
  patch.Append({.steps = {"l"}, .present = 1}, {{{"x", "1"}}, {{"y", "2"}}});
  EXPECT_EQ(patch.Text(), R"([{"op":"add","path":"/l/-","value":{"x":"1"}},)"
                          R"({"op":"add","path":"/l/-","value":{"y":"2"}}])");
}

TEST(JsonPatch, DoesNotMakeAParentTwice) {
  JsonPatch patch;
  patch.Append({.steps = {"spec", "a", "l"}, .present = 0}, {{{"n", "1"}}});
  patch.Append({.steps = {"spec", "m"}, .present = 0}, {{{"n", "2"}}});
  patch.Append({.steps = {"spec", "b", "l"}, .present = 0}, {{{"n", "3"}}});
  EXPECT_EQ(patch.Text(),
            R"([{"op":"add","path":"/spec","value":{"a":{"l":[{"n":"1"}]}}},)"
            R"({"op":"add","path":"/spec/m","value":[{"n":"2"}]},)"
            R"({"op":"add","path":"/spec/b","value":{"l":[{"n":"3"}]}}])");
}

TEST(JsonPatch, IsEmptyWithoutItems) {
  JsonPatch patch;
  patch.Append({.steps = {"l"}, .present = 0}, {});
  EXPECT_TRUE(patch.empty());
  EXPECT_EQ(patch.Text(), "");
}

TEST(JsonPatch, EscapesSteps) {
  EXPECT_EQ(EscapePointerStep("a/b~c"), "a~1b~0c");
  EXPECT_EQ(EscapePointerStep("~1"), "~01");
  JsonPatch patch;
  patch.Append({.steps = {"a/b", "c~d"}, .present = 1}, {{{"n", "v"}}});
  EXPECT_EQ(patch.Text(),
            R"([{"op":"add","path":"/a~1b/c~0d","value":[{"n":"v"}]}])");
}

TEST(JsonPatch, ReplacesBytesThatAreNoText) {
  JsonPatch patch;
  patch.Append({.steps = {"l"}, .present = 0}, {{{"n", "a\xff"}}});
  EXPECT_EQ(patch.Text(),
            "[{\"op\":\"add\",\"path\":\"/l\","
            "\"value\":[{\"n\":\"a\xef\xbf\xbd\"}]}]");
}

}  // namespace
}  // namespace gpubinder
