// Case A15: thousands of VMs wait where nothing fits, and what does not fit
// changes all the time. Who waits is told once for each change of the reason,
// in a text of bounded length; other counts, and another leader, are no news.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "proto/decision.pb.h"
#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder {
namespace {

constexpr int kKindsOfUnfitness = 40;
constexpr int kFixedKind = 7;  // of ten: a deletion is not taken back
constexpr size_t kLongestText = 1024;

// What makes a node of the kind unfit: its units, something else, or both. All
// is said anew, since a node goes from kind to kind.
std::string Unfitness(int kind) {
  static const char* const kUnits[] = {"1", "none", "junk", "8"};
  const int other = kind % 10;
  const bool fits_else = kind / 10 == 3 && other == 0;
  return absl::StrCat("H100=", fits_else ? "7" : kUnits[kind / 10],
                      other == 1 ? " cordoned" : " uncordoned",
                      other == 2 ? " ready=False" : " ready=True",
                      other == 3 ? " virt=false" : " virt=true",
                      other == 4   ? " taint=a=b:NoSchedule"
                      : other == 9 ? " taint=a=b:NoSchedule,c=d:NoExecute"
                                   : " taint=",
                      other == 5 ? " labels=pool=web" : " labels=pool=gpu",
                      other == 6 ? ",zone=far" : ",zone=near",
                      other == kFixedKind ? " deleting" : "",
                      other == 8 ? " malformed=spec.taints" : " malformed=");
}

// "3 nodes" and "1 node" are one wording.
std::string Wording(const std::string& text) {
  std::string wording;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!digit) {
      wording += text[i];
    } else if (wording.empty() || wording.back() != '#') {
      wording += '#';
    }
  }
  return wording;
}

// A set's name with its namespace. The first two have a budget.
std::string SetName(int set) {
  return absl::StrCat(set < 2 ? "poor/s" : "t/s", set);
}

// 25 names: what is said of them all is longer than a text may be.
std::string VolumesThatAreMissing() {
  std::vector<std::string> volumes;
  for (int v = 0; v < 25; ++v) {
    volumes.push_back(absl::StrCat("a-volume-that-nobody-has-made-so-far-", v));
  }
  return absl::StrJoin(volumes, ",");
}

struct Size {
  int nodes, sets, passes, changes_a_pass;
};

class FloodTest : public testing::Test {
 protected:
  void Build(Size size, Replays replays) {
    size_ = size;
    replays_ = replays;
    runner_.emplace(replays);
    for (int n = 0; n < size.nodes; ++n) {
      kinds_.push_back(n % kKindsOfUnfitness);
      DescribeNode(n);
    }
    Do("class h100 selector=pool=gpu");
    Do("quota poor/q hard=requests.gpu.cozystack.io/h100=16");
    for (int s = 0; s < size.sets; ++s) {
      const std::string name = SetName(s);
      const std::string vm = name.substr(name.find('/') + 1);
      Do(absl::StrCat("vm ", name, " claims=", vm));
      Do(absl::StrCat("vmi ", name));
      Do(absl::StrCat("claim ", name, " class=h100 count=8"));
      Do(absl::StrCat("pod ", name, " vmi=", vm, " H100=8 gated",
                      " selector=zone=near volumes=",
                      s % 20 == 9 ? VolumesThatAreMissing() : ""));
    }
  }
  void Do(const std::string& command) { runner_->Run(command); }
  void DescribeNode(int node) {
    Do(absl::StrCat("node n", node, " ", Unfitness(kinds_[node])));
  }
  // The next nodes become unfit for another reason each, by which no kind
  // is left without any.
  void ChangeCounts() {
    for (int i = 0; i < size_.changes_a_pass; ++i, ++changed_) {
      const int node = changed_ % size_.nodes;
      int& kind = kinds_[node];
      if (kind % 10 == kFixedKind) continue;
      kind = (kind + (kind % 10 == kFixedKind - 1 ? 2 : 1)) % kKindsOfUnfitness;
      DescribeNode(node);
    }
  }
  // Returns the number of effects, and notes what they say.
  int PassAndApply() {
    if (replays_ == Replays::kNever) {
      runner_->RunJudgedPass();
    } else {
      Do("pass");
    }
    for (const v1::Effect& effect : runner_->decided().effects()) Note(effect);
    const int effects = runner_->effects();
    Do("apply");
    return effects;
  }
  void Note(const v1::Effect& effect) {
    const std::string& text = effect.has_emit_warning()
                                  ? effect.emit_warning().note()
                                  : effect.set_condition().message();
    longest_ = std::max(longest_, text.size());
    if (!effect.has_emit_warning()) return;
    ++warnings_[effect.set_key()];
    wordings_[effect.set_key()].insert(Wording(text));
  }
  int Warnings() const {
    int sum = 0;
    for (const auto& [set, warnings] : warnings_) sum += warnings;
    return sum;
  }
  void SettleAtFirst() {
    EXPECT_GT(PassAndApply(), size_.sets);
    EXPECT_EQ(PassAndApply(), 0);
    EXPECT_EQ(Warnings(), size_.sets);
  }
  // The counts change in each pass, the leader in the middle, and the budget
  // of two sets goes and comes back.
  void Flood() {
    for (int pass = 0; pass < size_.passes; ++pass) {
      ChangeCounts();
      if (pass == size_.passes / 4) SetBudget(0);
      if (pass == size_.passes / 2) Do("crash-after 0");
      if (pass == size_.passes * 3 / 4) SetBudget(16);
      const bool quiet =
          pass != size_.passes / 4 && pass != size_.passes * 3 / 4;
      EXPECT_EQ(PassAndApply() == 0, quiet) << "pass " << pass;
    }
  }
  void SetBudget(int units) {
    Do(absl::StrCat("quota poor/q hard=requests.gpu.cozystack.io/h100=",
                    units));
  }
  void ExpectOneWarningForEachChange() {
    EXPECT_EQ(Warnings(), size_.sets + 4);
    for (int set = 0; set < size_.sets; ++set) {
      EXPECT_EQ(warnings_[SetName(set)], set < 2 ? 3 : 1) << SetName(set);
      EXPECT_EQ(wordings_[SetName(set)].size(), set < 2 ? 2u : 1u);
    }
    // Some texts had to be cut.
    EXPECT_LE(longest_, kLongestText);
    EXPECT_GT(longest_, kLongestText - 100);
  }
  void TearDown() override {
    runner_->ReplayJournal();
    EXPECT_EQ(absl::StrJoin(runner_->mistakes(), "\n"), "");
  }

  std::optional<ScenarioRunner> runner_;

 private:
  Size size_ = {};
  Replays replays_ = Replays::kNever;
  std::vector<int> kinds_;  // by node
  int changed_ = 0;
  std::map<std::string, int> warnings_;  // by set
  std::map<std::string, std::set<std::string>> wordings_;
  size_t longest_ = 0;
};

// Nodes, kinds and passes are the case's; of its 2,000 sets a hundredth, since
// each is told for itself and some 40 groups of nodes are explained to each in
// each pass. FLOOD_SETS=2000 is the whole case, and takes minutes.
TEST_F(FloodTest, WaitingSetsAreWarnedOnceWhateverTheCounts) {
  const char* sets = std::getenv("FLOOD_SETS");
  Build({.nodes = 4000,
         .sets = sets == nullptr ? 20 : std::stoi(sets),
         .passes = 200,
         .changes_a_pass = 20},
        Replays::kNever);
  SettleAtFirst();
  Flood();
  ExpectOneWarningForEachChange();
}

// Smaller, and the naive model judges every pass.
TEST_F(FloodTest, ForEachOfAFewTheSecondModelSaysSoToo) {
  Build({.nodes = 80, .sets = 40, .passes = 20, .changes_a_pass = 20},
        Replays::kAtTheEnd);
  SettleAtFirst();
  Flood();
  ExpectOneWarningForEachChange();
}

}  // namespace
}  // namespace gpubinder
