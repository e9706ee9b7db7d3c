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
                                             {"-o=json"},
                                             {"-ojson"}}) {
    const Parsed parsed = Parse(args);
    EXPECT_TRUE(parsed.status.ok()) << parsed.status;
    EXPECT_EQ(parsed.output, "json");
  }
  EXPECT_EQ(Parse({"--output="}).output, "");
  EXPECT_EQ(Parse({"--output=a=b"}).output, "a=b");
  EXPECT_EQ(Parse({"-oa=b"}).output, "a=b");
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
  const Parsed parsed = Parse({"--fail-on-waiting", "falsehood"});
  EXPECT_TRUE(parsed.check);
  EXPECT_EQ(parsed.flags.operands, std::vector<std::string>{"falsehood"});
  EXPECT_EQ(Parse({"--fail-on-waiting", "no"}).status.message(),
            "flag --fail-on-waiting: found \"no\" behind it, want "
            "--fail-on-waiting=true or --fail-on-waiting=false");
}

TEST(FlagsTest, AnAddressHasAHostAndAPort) {
  for (const char* legal : {"127.0.0.1:9797", "localhost:1", "[::1]:65535"}) {
    std::string address;
    EXPECT_TRUE(IntoAddress(&address)(legal).ok()) << legal;
    EXPECT_EQ(address, legal);
  }
  for (const char* bad : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", ":1",
                          "127.0.0.1:99999", "127.0.0.1:x", "::1", "a::1"}) {
    std::string address = "before";
    EXPECT_EQ(IntoAddress(&address)(bad).message(),
              "found \"" + std::string(bad) +
                  "\", want HOST:PORT with a port from 1 to 65535");
    EXPECT_EQ(address, "before");
  }
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
  EXPECT_EQ(Parse({"-output", "x"}).status.message(),
            "unknown flag -output, did you mean --output");
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
