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

v1::Record OutcomeOf(uint64_t decision, v1::Outcome::Kind kind, int code) {
  v1::Record record;
  v1::Outcome& outcome = *record.mutable_outcome();
  outcome.set_decision(decision);
  outcome.set_effect(1);
  outcome.set_kind(kind);
  outcome.set_code(code);
  outcome.set_message("no");
  return record;
}

TEST(SandboxDisplayTest, WhatIsDecidedAnewAfterAConflictIsSaidOnce) {
  std::istringstream in;
  std::ostringstream out;
  const Console console{.in = in, .out = out, .err = out};
  SandboxDisplay display(console);
  PassResult result;
  result.effects.resize(2);
  v1::Effect& bind = result.effects[1];
  bind.mutable_target()->set_namespace_("a");
  bind.mutable_target()->set_name("c");
  bind.mutable_bind_claim()->set_node_name("n");
  const Snapshot snapshot;
  for (const uint64_t sequence : {7, 9, 11, 13}) {
    v1::Record record;
    record.set_role(v1::LEADER);
    record.set_sequence(sequence);
    display.Pass({result, record, snapshot});
  }
  display.Outcome(OutcomeOf(7, v1::Outcome::REFUSED, 409));
  EXPECT_EQ(out.str(), "");
  display.Outcome(OutcomeOf(9, v1::Outcome::REFUSED, 403));
  display.Outcome(OutcomeOf(11, v1::Outcome::REFUSED, 403));
  display.Outcome(OutcomeOf(13, v1::Outcome::APPLIED, 0));
  display.Outcome(OutcomeOf(13, v1::Outcome::APPLIED, 0));
  EXPECT_EQ(out.str(),
            "  bind     a/c -> n: failed with 403: no\n"
            "  bind     a/c -> n\n");
}

}  // namespace
}  // namespace gpubinder
