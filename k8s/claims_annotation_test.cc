#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/object_codec.h"

namespace gpubinder {
namespace {

std::string ErrorOf(absl::string_view text) {
  const ClaimsAnnotation claims = ParseClaimsAnnotation(text);
  EXPECT_TRUE(claims.present);
  if (!claims.error.empty()) {
    EXPECT_TRUE(claims.entries.empty());
  }
  return claims.error;
}

std::string List(int entries) {
  std::string list = "[";
  for (int i = 0; i < entries; ++i) {
    absl::StrAppend(&list, i > 0 ? "," : "", R"({"claimName":"c)", i, "\"}");
  }
  return list + "]";
}

TEST(ClaimsAnnotationTest, ReadsClaimsAndTemplatesInOrder) {
  const ClaimsAnnotation claims = ParseClaimsAnnotation(
      R"([{"claimName":"a"},)"
      R"({"claimTemplate":{"className":"h100","count":2}},)"
      R"({"claimTemplate":{"className":"l40s"}}])");
  EXPECT_EQ(claims.error, "");
  const std::vector<ClaimEntry> want = {
      {.claim_name = "a"},
      {.class_name = "h100", .units = 2},
      {.class_name = "l40s", .units = 1},
  };
  EXPECT_EQ(claims.entries, want);
}

TEST(ClaimsAnnotationTest, OneToSixteenEntriesAreLegal) {
  EXPECT_EQ(ErrorOf(List(1)), "");
  EXPECT_EQ(ErrorOf(List(16)), "");
  EXPECT_EQ(ErrorOf(List(17)), "found more than 16 entries");
  EXPECT_EQ(ErrorOf("[]"), "found an empty list, want 1 to 16 entries");
}

TEST(ClaimsAnnotationTest, NullIsAbsent) {
  EXPECT_EQ(ErrorOf(R"([{"claimName":"a","claimTemplate":null}])"), "");
  EXPECT_EQ(ErrorOf(R"([{"claimTemplate":{"className":"c","count":null}}])"),
            "");
}

struct BadCase {
  const char* text;
  const char* error;
};

class BadAnnotationTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadAnnotationTest, NamesTheEntryAndWhatIsWrong) {
  EXPECT_EQ(ErrorOf(GetParam().text), GetParam().error) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Entries, BadAnnotationTest,
    testing::Values(
        BadCase{R"({"claimName":"a"})",
                "found an object, want a list of 1 to 16 entries"},
        BadCase{"null", "found null, want a list of 1 to 16 entries"},
        BadCase{R"(["a"])", "entry 0: found the text \"a\", want an object"},
        BadCase{R"([{"claimName":"a"},{}])",
                "entry 1: found neither of claimName and claimTemplate, want "
                "one"},
        BadCase{R"([{"claimName":"a","claimTemplate":{"className":"c"}}])",
                "entry 0: found both of claimName and claimTemplate, want one"},
        BadCase{R"([{"claimName":"a"},{"claimName":"b"},{"claimName":"a"}])",
                "entry 2: claim \"a\" is entry 0 too"},
        BadCase{R"([{"claimName":"a","x":1}])", "entry 0: unknown field \"x\""},
        BadCase{R"([{"claimTemplate":{"className":"c","Count":1}}])",
                "entry 0: unknown field \"Count\""},
        BadCase{R"([{"claimName":"a","claimName":"b"}])",
                "entry 0: field \"claimName\" is there twice"},
        BadCase{R"([{"claimName":""}])",
                "entry 0: claimName: found the text \"\", want a name"},
        BadCase{R"([{"claimName":7}])",
                "entry 0: claimName: found the number 7, want a name"},
        BadCase{R"([{"claimTemplate":"c"}])",
                "entry 0: claimTemplate: found the text \"c\", want an object"},
        BadCase{R"([{"claimTemplate":{"count":1}}])",
                "entry 0: claimTemplate has no className"},
        BadCase{R"([{"claimTemplate":{"className":"c","count":0}}])",
                "entry 0: claimTemplate.count: found the number 0, want a "
                "whole number of 1 or more"},
        BadCase{R"([{"claimTemplate":{"className":"c","count":1.5}}])",
                "entry 0: claimTemplate.count: found the number 1.5, want a "
                "whole number of 1 or more"},
        BadCase{R"([{"claimTemplate":{"className":"c","count":"1"}}])",
                "entry 0: claimTemplate.count: found the text \"1\", want a "
                "whole number of 1 or more"}));

// The error becomes part of a record, which must be UTF-8.
TEST(ClaimsAnnotationTest, LongFieldNameIsCutAtAWholeCharacter) {
  const std::string name(63, 'a');
  EXPECT_EQ(ErrorOf(absl::StrCat("[{\"", name, "\xc3\xa9\":1}]")),
            absl::StrCat("entry 0: unknown field \"", name, "\""));
}

TEST(ClaimsAnnotationTest, TextThatIsNoJsonIsAnError) {
  for (const char* text : {"", "a", "[", "[{\"claimName\":\"a\"}] x"}) {
    EXPECT_EQ(ErrorOf(text).substr(0, 9), "no JSON: ") << text;
  }
}

}  // namespace
}  // namespace gpubinder
