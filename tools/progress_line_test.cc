#include "tools/progress_line.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/commands.h"

namespace gpubinder {
namespace {

// What a terminal's line shows in the end.
std::string Shown(const std::string& written) {
  std::string line;
  size_t at = 0;
  for (const char c : written) {
    if (c == '\r') {
      at = 0;
      continue;
    }
    line.resize(std::max(line.size(), at + 1), ' ');
    line[at++] = c;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

class ProgressLineTest : public testing::Test {
 protected:
  std::istringstream in_;
  std::ostringstream out_, err_;
  Console terminal_{.in = in_, .out = out_, .err = err_, .watched = true};
};

TEST_F(ProgressLineTest, TheNextTakesThePlaceOfTheLast) {
  ProgressLine line(terminal_);
  line.Say("reading a long file");
  line.Say("pass\t1");
  EXPECT_EQ(Shown(err_.str()), "pass?1");
}

TEST_F(ProgressLineTest, NothingIsLeftBehind) {
  { ProgressLine(terminal_).Say(std::string(200, 'x')); }
  EXPECT_EQ(Shown(err_.str()), "");
  // It did not wrap.
  EXPECT_EQ(err_.str().find(std::string(80, 'x')), std::string::npos);
  EXPECT_NE(err_.str().find(std::string(79, 'x')), std::string::npos);
}

TEST_F(ProgressLineTest, WhoDoesNotWatchIsToldNothing) {
  const Console pipe{.in = in_, .out = out_, .err = err_};
  { ProgressLine(pipe).Say("reading"); }
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ProgressLineTest, PlanSaysWhatItIsAtAndWipesIt) {
  const char* args[] = {"-f", "tools/testdata/order.yaml",
                        "--now=2026-01-31T12:00:00Z"};
  EXPECT_EQ(RunPlan(args, terminal_), kExitDone);
  EXPECT_NE(err_.str().find("reading tools/testdata/order.yaml"),
            std::string::npos);
  EXPECT_NE(err_.str().find("pass 1 decides"), std::string::npos);
  EXPECT_NE(err_.str().find("pass 1: change 0 of "), std::string::npos);
  EXPECT_EQ(Shown(err_.str()), "");
}

}  // namespace
}  // namespace gpubinder
