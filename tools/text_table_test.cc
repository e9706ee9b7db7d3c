#include "tools/text_table.h"

#include <string>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

TEST(TextTableTest, ColumnsAlignAndNothingEndsInASpace) {
  EXPECT_EQ(TextTable({{.cells = {{.text = "NAME"},
                                  {.text = "N", .right = true},
                                  {.text = "X"}}},
                       {.cells = {{.text = "a"},
                                  {.text = "12", .right = true},
                                  {.text = ""}},
                        .below = "why"}},
                      TextStyle::kPlain),
            "  NAME   N  X\n"
            "  a     12\n"
            "      why\n");
}

TEST(TextTableTest, LongCellsAreCutSoThatARowFits) {
  const std::string table =
      TextTable({{.cells = {{.text = std::string(90, 'a')},
                            {.text = "short"},
                            {.text = std::string(90, 'b')}},
                  .below = std::string(300, 'c')}},
                TextStyle::kPlain);
  const std::vector<std::string> lines = absl::StrSplit(table, '\n');
  EXPECT_EQ(lines[0].size(), 100u);
  EXPECT_NE(lines[0].find("a...  short  b"), std::string::npos) << lines[0];
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100u);
}

TEST(TextTableTest, CharactersAreNotCutInside) {
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xc3\xa4";
  const std::string table =
      TextTable({{.cells = {{.text = umlauts}}}}, TextStyle::kPlain);
  EXPECT_TRUE(table.ends_with("\xc3\xa4...\n"));
  EXPECT_EQ(table.size(), 2 + 2 * 95 + 4u);
}

TEST(TextTableTest, ColourOnlyWhenAskedAndAroundTheTextAlone) {
  const std::vector<TextRow> rows = {
      {.cells = {{.text = "ok", .colour = TextColour::kGood}, {.text = "x"}}}};
  EXPECT_EQ(TextTable(rows, TextStyle::kPlain), "  ok  x\n");
  EXPECT_EQ(TextTable(rows, TextStyle::kColour), "  \x1b[32mok\x1b[0m  x\n");
}

TEST(TextTableTest, ControlCharactersOfOthersAreNotShown) {
  EXPECT_EQ(
      TextTable({{.cells = {{.text = "a\x1b[2Jb\nc"}}}}, TextStyle::kPlain),
      "  a [2Jb c\n");
}

TEST(TextTableTest, TextWrapsAtSpaces) {
  EXPECT_EQ(WrapText("one two  three", 7),
            (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(WrapText("abcdefghij k", 4),
            (std::vector<std::string>{"abcd", "efgh", "ij k"}));
}

TEST(TextTableTest, AMessageDoesNotSayItsReasonTwice) {
  EXPECT_EQ(MessageLessReason("NoNodeFits: 1 node NodeCordoned", "NoNodeFits"),
            "1 node NodeCordoned");
  EXPECT_EQ(MessageLessReason("FeatureDisabled", "FeatureDisabled"), "");
  EXPECT_EQ(MessageLessReason("ClassNotFound class x", "ClassNotFound"),
            "ClassNotFound class x");
}

}  // namespace
}  // namespace gpubinder
