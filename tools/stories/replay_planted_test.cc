// A build that breaks ties the other way runs the passes of a journal that the
// normal build has recorded, and finds the first that comes out differently.
//
// This binary has reconciler/model/choice.cc compiled into it with its planted
// bug, which the environment variable of the target picks; the rest of it, and
// the recording gpubinder, are as ever.

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/commands.h"
#include "tools/console.h"
#include "tools/stories/child_process.h"

namespace gpubinder {
namespace {

using testing::HasSubstr;
using testing::Not;

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

  const ChildEnd audited = RunChild({{GpubinderPath(), "audit", journal}, {}});
  EXPECT_EQ(audited.code, 0) << audited.output;
  EXPECT_THAT(audited.output, HasSubstr("no faults"));

  // The record is right, so the naive model has nothing against it.
  std::ostringstream faults;
  EXPECT_EQ(RunAudit(args, {in, faults, err}), kExitNo) << err.str();
  EXPECT_THAT(faults.str(), HasSubstr("J3: the pass gives another result"));
  EXPECT_THAT(faults.str(), Not(HasSubstr("naive model")));
}

TEST(PlanCheckTest, APlantedTieBreakIsNamedByTheNaiveModel) {
  // An order of one unit: by O1 it goes to a, the first by name of two nodes
  // that are alike.
  std::istringstream in(
      "apiVersion: gpu.cozystack.io/v1alpha1\n"
      "kind: GPUClaim\n"
      "metadata: {name: x, namespace: tenant-a}\n"
      "spec: {className: h100}\n");
  std::ostringstream out, err;
  const std::vector<const char*> args = {"-f", "tools/stories/tie.yaml", "-f",
                                         "-", "--check"};
  EXPECT_EQ(RunPlan(args, {in, out, err}), kExitDisagrees);
  EXPECT_THAT(err.str(), HasSubstr("gpubinder plan: check: pass "));
  EXPECT_THAT(err.str(), HasSubstr("O1 binds x to a, the pass to b"));
}

}  // namespace
}  // namespace gpubinder
