#include "reconciler/model/label_syntax.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

std::string Repeat(int times, char c) { return std::string(times, c); }

TEST(LabelSyntaxTest, QualifiedNamesAreOfTheRightForm) {
  for (const std::string& text :
       {std::string("a"), std::string("A-b_c.d9"), std::string("GPU"),
        std::string("example.com/Name"), std::string("a/b"),
        std::string("kubernetes.io/hostname"), Repeat(63, 'x'),
        absl::StrCat(Repeat(253, 'p'), "/", Repeat(63, 'x'))}) {
    EXPECT_TRUE(IsQualifiedName(text)) << text;
  }
  for (const std::string& text :
       {std::string(""), std::string("-a"), std::string("a-"),
        std::string(".a"), std::string("a_"), std::string("a b"),
        std::string("invalid key"), std::string("/a"), std::string("a/"),
        std::string("a/b/c"), std::string("Example.com/a"),
        std::string("a_b/c"), std::string("a..b/c"), std::string("-a/c"),
        std::string("a.-b/c"), std::string("\xc3\xa9"), Repeat(64, 'x'),
        absl::StrCat(Repeat(254, 'p'), "/x")}) {
    EXPECT_FALSE(IsQualifiedName(text)) << text;
  }
}

TEST(LabelSyntaxTest, LabelValuesMayBeEmptyAndHaveNoPrefix) {
  for (const std::string& text :
       {std::string(""), std::string("a"), std::string("0206"),
        std::string("A-b_c.d"), Repeat(63, 'x')}) {
    EXPECT_TRUE(IsLabelValue(text)) << text;
  }
  for (const std::string& text :
       {std::string("a/b"), std::string("-1"), std::string("+1"),
        std::string("a "), std::string("a."), Repeat(64, 'x')}) {
    EXPECT_FALSE(IsLabelValue(text)) << text;
  }
}

TEST(LabelSyntaxTest, SubdomainsAreLowerCaseLabels) {
  for (const std::string& text :
       {std::string("a"), std::string("a.b-c.9"), Repeat(253, 'x')}) {
    EXPECT_TRUE(IsDnsSubdomain(text)) << text;
  }
  for (const std::string& text :
       {std::string(""), std::string("A"), std::string("a_b"),
        std::string("a."), std::string(".a"), std::string("a-"),
        std::string("a.-b"), Repeat(254, 'x')}) {
    EXPECT_FALSE(IsDnsSubdomain(text)) << text;
  }
}

}  // namespace
}  // namespace gpubinder
