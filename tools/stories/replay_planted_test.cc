// A build that breaks ties the other way runs the passes of a journal that the
// normal build has recorded, and finds the first that comes out differently.
//
// This binary has reconciler/model/choice.cc compiled into it with the planted
// change; the rest of it, and the recording gpubinder, are as ever.

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/commands.h"
#include "tools/console.h"
#include "tools/stories/child_process.h"

namespace gpubinder {
namespace {

using testing::HasSubstr;

TEST(ReplayPlantedTest, APlantedTieBreakIsFoundAndShown) {
  TestFolder folder;
  const std::string journal = folder.path() + "/journal";
  const ChildEnd recorded =
      RunChild({{GpubinderPath(), "sandbox", "--once", "-f",
                 "tools/stories/tie.yaml", "--journal", journal},
                {}});
  ASSERT_EQ(recorded.code, 0) << recorded.output;
  ASSERT_THAT(recorded.output, HasSubstr("Placed"));

  const ChildEnd normal = RunChild({{GpubinderPath(), "replay", journal}, {}});
  EXPECT_EQ(normal.code, 0) << normal.output;
  EXPECT_THAT(normal.output, HasSubstr("all equal"));

  std::istringstream in;
  std::ostringstream out, err;
  const std::vector<const char*> args = {journal.c_str()};
  EXPECT_EQ(RunReplay(args, {in, out, err}), kExitNo) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("gives another result"));
  // The machine's claim was bound to a; the planted build takes b.
  EXPECT_THAT(out.str(), HasSubstr("-     node_name: \"a\""));
  EXPECT_THAT(out.str(), HasSubstr("+     node_name: \"b\""));
}

}  // namespace
}  // namespace gpubinder
