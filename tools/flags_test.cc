#include "tools/flags.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

struct Parsed {
  absl::Status status;
  ParsedFlags flags;
  std::string output;
  std::vector<std::string> files;
  bool check = false;
};

std::vector<Flag> TestFlags(Parsed* parsed) {
  return {{.name = "output",
           .letter = 'o',
           .value = "FORM",
           .help = "form of the answer",
           .set = IntoText(&parsed->output)},
          {.name = "file",
           .letter = 'f',
           .value = "FILE",
           .help = "a file",
           .set = IntoList(&parsed->files)},
          {.name = "failOnWaiting",
           .help = "a switch",
           .set = IntoSwitch(&parsed->check)}};
}

Parsed Parse(std::vector<const char*> args) {
  Parsed parsed;
  const absl::StatusOr<ParsedFlags> flags =
      ParseFlags(args, TestFlags(&parsed));
  parsed.status = flags.status();
  if (flags.ok()) parsed.flags = *flags;
  return parsed;
}

TEST(FlagsTest, ValuesStandBehindAnEqualsSignOrInTheNextArgument) {
  for (const std::vector<const char*>& args :
       std::vector<std::vector<const char*>>{{"--output=json"},
                                             {"--output", "json"},
                                             {"-o", "json"},
                                             {"-o=json"}}) {
    const Parsed parsed = Parse(args);
    EXPECT_TRUE(parsed.status.ok()) << parsed.status;
    EXPECT_EQ(parsed.output, "json");
  }
  EXPECT_EQ(Parse({"--output="}).output, "");
  EXPECT_EQ(Parse({"--output=a=b"}).output, "a=b");
}

TEST(FlagsTest, AListIsGivenAgainAndAgainInItsOrder) {
  EXPECT_EQ(Parse({"-f", "b", "--file=a", "-f", "-"}).files,
            (std::vector<std::string>{"b", "a", "-"}));
}

TEST(FlagsTest, CaseAndDashesOfANameDoNotMatter) {
  for (const char* name : {"--failOnWaiting", "--fail-on-waiting",
                           "--fail_on_waiting", "--failonwaiting=true"}) {
    EXPECT_TRUE(Parse({name}).check) << name;
  }
  EXPECT_FALSE(Parse({"--fail-on-waiting=false"}).check);
}

TEST(FlagsTest, ASwitchTakesNoNextArgument) {
  const Parsed parsed = Parse({"--fail-on-waiting", "false"});
  EXPECT_TRUE(parsed.check);
  EXPECT_EQ(parsed.flags.operands, std::vector<std::string>{"false"});
}

TEST(FlagsTest, TwoDashesEndTheFlags) {
  EXPECT_EQ(Parse({"a", "--", "--output", "-"}).flags.operands,
            (std::vector<std::string>{"a", "--output", "-"}));
}

TEST(FlagsTest, HelpWins) {
  EXPECT_TRUE(Parse({"--help", "--no-such-flag"}).flags.help);
  EXPECT_TRUE(Parse({"-h"}).flags.help);
}

TEST(FlagsTest, ErrorsNameTheFlagAndWhatIsLegal) {
  EXPECT_EQ(Parse({"--ouptut", "x"}).status.message(),
            "unknown flag --ouptut, did you mean --output");
  EXPECT_EQ(Parse({"--zzzzzzzz=1"}).status.message(),
            "unknown flag --zzzzzzzz, see --help");
  EXPECT_EQ(Parse({"-x"}).status.message(), "unknown flag -x, see --help");
  EXPECT_EQ(Parse({"--output"}).status.message(),
            "flag --output needs a value: FORM");
  EXPECT_EQ(Parse({"--fail-on-waiting=yes"}).status.message(),
            "flag --fail-on-waiting: found \"yes\", want true or false");
}

TEST(FlagsTest, HelpFitsAHundredColumns) {
  Parsed parsed;
  std::vector<Flag> flags = TestFlags(&parsed);
  for (int i = 0; i < 40; ++i) flags[0].help += " and more words";
  for (const absl::string_view line : absl::StrSplit(FlagsHelp(flags), '\n')) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

}  // namespace
}  // namespace gpubinder
