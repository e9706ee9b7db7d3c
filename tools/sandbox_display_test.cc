#include "tools/sandbox_display.h"

#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gpubinder {
namespace {

TEST(WrappedLineTest, AShortLineIsIndented) {
  EXPECT_EQ(WrappedLine("bind     a/b -> n"), "  bind     a/b -> n\n");
}

TEST(WrappedLineTest, ALongLineGoesOnBelowItsText) {
  std::string line = "waits    a/b:";
  for (int i = 0; i < 20; ++i) absl::StrAppend(&line, " 1 node Cordoned,");
  const std::string text = WrappedLine(line);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_GT(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("  waits    a/b: 1 node"));
  EXPECT_EQ(lines[1].find_first_not_of(' '), 13u) << text;
  for (const std::string& part : lines) EXPECT_LE(part.size(), 100u) << part;
}

embedded::StoreEvent Denial(const std::string& vm) {
  return {
      .key = {.resource = "events"},
      .object = std::make_shared<const nlohmann::json>(nlohmann::json{
          {"reason", "FailedCreate"},
          {"message",
           "Error creating virtual machine instance: admission "
           "webhook \"x\" denied the request: ClaimNotFound: y"},
          {"involvedObject",
           {{"kind", "VirtualMachine"}, {"namespace", "a"}, {"name", vm}}}})};
}

TEST(SandboxDisplayTest, ADenialIsSaidOnceForEachVm) {
  std::istringstream in;
  std::ostringstream out;
  const Console console{.in = in, .out = out, .err = out};
  SandboxDisplay display(console);
  display.Revision(Denial("v"));
  display.Revision(Denial("v"));
  display.Revision(Denial("w"));
  EXPECT_EQ(out.str(),
            "  denied   a/v: ClaimNotFound: y\n"
            "  denied   a/w: ClaimNotFound: y\n");
}

}  // namespace
}  // namespace gpubinder
