#include "tools/json_yaml.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/yaml_json.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonYamlTest, BlocksAsKubectlPrintsThem) {
  EXPECT_EQ(YamlText(Json::parse(
                R"({"a":1,"b":{"c":[{"d":"x","e":[]},"z"]},"f":{},"g":null})")),
            "a: 1\n"
            "b:\n"
            "  c:\n"
            "  - d: x\n"
            "    e: []\n"
            "  - z\n"
            "f: {}\n"
            "g: null\n");
}

TEST(JsonYamlTest, TextsThatMeanSomethingElseAreQuoted) {
  EXPECT_EQ(YamlText(Json::parse(
                R"(["yes","12","1e3","~","n1","a: b","- x","","2026-01-01"])")),
            "- \"yes\"\n- \"12\"\n- \"1e3\"\n- \"~\"\n- n1\n- \"a: b\"\n"
            "- \"- x\"\n- \"\"\n- \"2026-01-01\"\n");
}

TEST(JsonYamlTest, OurReaderReadsBackWhatWasWritten) {
  const char* const texts[] = {
      R"([[1,[2,{"a":[[]]}]],{"b":{"c":null}}])",
      R"({"on":"off","x y":["\u0000\n\t\"\\","é", "#", "a #b", "&a", "*a"]})",
      R"({"k":["NULL","0x10","1_0","+1",".5","True","<<","=","%","@","`"]})",
      R"([true,false,-1,1.5,18446744073709551615])",
  };
  for (const char* text : texts) {
    const absl::StatusOr<std::vector<YamlDocument>> read =
        YamlToJson(YamlText(Json::parse(text)), 10000);
    ASSERT_TRUE(read.ok()) << read.status() << YamlText(Json::parse(text));
    EXPECT_EQ(Json::parse((*read)[0].json), Json::parse(text)) << text;
  }
}

}  // namespace
}  // namespace gpubinder
