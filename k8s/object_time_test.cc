// Times in objects: the form that the API server writes is read apart from the
// general one, and both have to agree on what is a time.

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/object_codec.h"

namespace gpubinder {
namespace {

TEST(ObjectTimeTest, TimesAtTheEdgesAreReadOrRefused) {
  const auto created = [](absl::string_view text) {
    const absl::StatusOr<Object> object = DecodeObject(
        Kind::kNamespace,
        absl::StrCat(R"({"metadata":{"creationTimestamp":")", text, "\"}}"));
    EXPECT_TRUE(object.ok());
    return MetaOf(*object).problems.empty()
               ? absl::ToUnixSeconds(MetaOf(*object).created)
               : -1;
  };
  EXPECT_EQ(created("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(created("2000-02-29T23:59:59Z"), 951'868'799);
  EXPECT_EQ(created("2100-03-01T00:00:00Z"), 4'107'542'400);
  // A leap second is the first one of the next minute.
  EXPECT_EQ(created("2016-12-31T23:59:60Z"), 1'483'228'800);
  for (const char* text :
       {"2100-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T0a:00:00Z",
        "2026/01/01T00:00:00Z", "2026-01-01T00-00-00Z"}) {
    EXPECT_EQ(created(text), -1) << text;
  }
}

}  // namespace
}  // namespace gpubinder
