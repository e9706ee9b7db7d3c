// Runs testdata/*.scenario: what the binder does, for readers.
//
// The first line says the purpose in a sentence, the second which rules it
// shows. Then commands, one a line; "----" ends a block of them, and what
// they print stands below it, up to the next empty line.
//
//   node NAME H100=8 [ready=False|Unknown [since=5m]] [virt=false|none]
//     [heartbeat=5m] [cordoned] [uncordoned] [taint=KEY=VALUE:EFFECT,...]
//     [labels=K=V,...]
//   class NAME [resource=H100] [max=8] [type=VGPU] [selector=K=V]
//     [tolerate=KEY:EFFECT] [oncordon=Stay] [bare]
//   claim NAME class=NAME [count=2] [node=NODE | lost=REASON] [vmi=NAME]
//     [attached=NAME] [templateof=VMI] [bare] [undated]
//   vm NAME claims=x,h100*2 [strategy=Always] [volumes=PVC,...]
//   vmi NAME claims=... [error=TEXT] [phase=] [node=]
//     [owner=KIND [uncontrolled]] [refused=MESSAGE] [volumes=] [hotplug=]:
//     claims are the VM's where there is one
//   pod NAME vmi=VMI H100=2 [gated | gates=ours,OTHER | pinned=NODE]
//     [node=NODE] [terms=TERMS] [podaffinity] [preferred] [selector=K=V]
//     [scheduler=MESSAGE] [stale] [nominated=NODE] [phase=] [reason=]
//     [volumes=] [schedulingclass=NAME] [migration] [provisioning]
//     [unlisted]: the VMI lists it unless unlisted
//   namespace NAME [terminating]; quota NAME hard=K=V; pvc NAME [volume=PV]
//   pv NAME claim=PVC [terms=TERMS]; schedulingclass NAME [selector=] [terms=]
//   claimset NAME [claims=] [node=] [reason=] [owneruid=]
//   usage NAME [claim=CLAIM | owner=KIND] [kind=] [type=CLASS] [H100=2]
//     [stopped]: a Workload; configmap NAME [data=K=V]
// A second line for the same object changes what it names. All take uid=,
// labels=, finalizers=, deleting, generation= and malformed=FIELD; what has
// conditions takes condition=TYPE/STATUS[/REASON[/MESSAGE]], and condition=TYPE
// to be without it. A name without a slash is in namespace t; H100 is
// nvidia.com/H100; TERMS: see scenario_words.h.
// Claims and classes carry our finalizer unless bare; such a class says Ready.
//
//   delete KIND NAME    as a client does; gone KIND NAME: past finalizers
//   unseen COMMAND      the cluster changes, and no watch tells the binder
//   relist KIND         a complete list; serve KIND and unserve KIND: usage and
//                       configmap are not served before that is said
//   config KEY=VALUE    enabled, rejectionTTL, refusalGrace, ...
//   advance DURATION    moves the clock
//   pass                prints each effect of one pass, in order
//   apply [N refused CODE | N unknown | N lost]...
//                       sends the effects; N counts from 1. Unknown was
//                       applied, lost was not; neither has an answer
//   readback            the objects of unanswered effects are read
//   settle              pass and apply until a pass has no effects
//   crash-after N       N effects were applied; another replica leads
//   explain SET         the verdict, and each node's; claim:x for an order
//   timer               when the pass wants to run again
//   reports             what the pass reports beside its effects
//   confirm [NODE]...   an operator confirms the mass loss
//   show KIND NAME      an object as the server has it
//
// --rewrite regenerates the expected output in the source tree (named by
// BUILD_WORKSPACE_DIRECTORY under `bazel run`); it refuses to when CI is set.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder {
namespace {

constexpr char kFolder[] = "reconciler/model/testdata";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The file as it would be with the output the commands have now.
std::string Rerun(const std::string& text, std::vector<std::string>& mistakes) {
  ScenarioRunner runner;
  std::vector<std::string> result, output;
  bool expected = false;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (expected) {
      expected = !line.empty();
      if (!expected) result.push_back(line);
      continue;
    }
    result.push_back(line);
    if (line == "----") {
      result.insert(result.end(), output.begin(), output.end());
      output.clear();
      expected = true;
    } else if (!line.empty() && line[0] != '#') {
      for (std::string& printed : runner.Run(line)) {
        output.push_back(std::move(printed));
      }
    }
  }
  // A file that ends in expected output.
  if (expected) result.emplace_back();
  mistakes = runner.mistakes();
  return absl::StrJoin(result, "\n");
}

class ScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, PrintsWhatItSays) {
  const std::string text =
      ReadFile(std::filesystem::path(kFolder) / (GetParam() + ".scenario"));
  ASSERT_TRUE(absl::StartsWith(text, "# "));
  ASSERT_TRUE(absl::StrContains(text, "\n# rules: "));
  std::vector<std::string> mistakes;
  EXPECT_EQ(text, Rerun(text, mistakes));
  EXPECT_TRUE(mistakes.empty()) << absl::StrJoin(mistakes, "\n");
}

std::vector<std::string> Names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".scenario") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioTest,
                         testing::ValuesIn(Names(kFolder)),
                         [](const auto& info) { return info.param; });

int Rewrite() {
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (std::getenv("CI") != nullptr || root == nullptr) {
    std::cerr << "--rewrite is for bazel run on a developer's machine\n";
    return 1;
  }
  const std::filesystem::path folder = std::filesystem::path(root) / kFolder;
  for (const std::string& name : Names(folder)) {
    const std::filesystem::path path = folder / (name + ".scenario");
    const std::string before = ReadFile(path);
    std::vector<std::string> mistakes;
    const std::string after = Rerun(before, mistakes);
    for (const std::string& mistake : mistakes) {
      std::cerr << name << ": " << mistake << "\n";
    }
    if (after == before) continue;
    std::ofstream(path) << after;
    std::cerr << "rewrote " << name << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace gpubinder

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rewrite") return gpubinder::Rewrite();
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
