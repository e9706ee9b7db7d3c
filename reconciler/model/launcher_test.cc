#include "reconciler/model/launcher.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {
namespace {

void Add(const Object& object, Snapshot& snapshot) {
  v1::Record record;
  *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
  Fold(record, object, snapshot);
}

SelectorTerm PinTerm(const std::string& node) {
  return {.fields = {{.key = "metadata.name", .op = "In", .values = {node}}}};
}

Pod PodOf(const std::string& name, int created) {
  Pod pod;
  pod.meta = {.name_space = "t",
              .name = name,
              .uid = name,
              .created = absl::FromUnixSeconds(created)};
  return pod;
}

// What FindLauncher says of these pods, all listed.
Launcher Find(const std::vector<Pod>& pods, const std::string& vmi_node = "") {
  static Snapshot snapshot;
  snapshot = Snapshot();
  VirtualMachineInstance vmi;
  vmi.meta.name_space = "t";
  vmi.node_name = vmi_node;
  for (const Pod& pod : pods) {
    Add(pod, snapshot);
    vmi.active_pods[pod.meta.uid] = pod.node_name;
  }
  return FindLauncher(vmi, snapshot);
}

struct Case {
  const char* what;
  Pod pod;
  LauncherState state;
  const char* node;
  bool by_us;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  auto add = [&](const char* what, Pod pod, LauncherState state,
                 const char* node, bool by_us) {
    cases.push_back({what, std::move(pod), state, node, by_us});
  };
  Pod gated = PodOf("p", 1);
  gated.gates = {"other", kGate};
  add("our gate, whatever stands before it", gated, LauncherState::kGated, "",
      false);
  Pod dying = gated;
  dying.meta.deleting = absl::FromUnixSeconds(2);
  add("gated and being deleted starts nothing", dying, LauncherState::kNone, "",
      false);
  Pod loose = PodOf("p", 1);
  add("ungated without pin or node", loose, LauncherState::kLoose, "", false);
  Pod pinned = PodOf("p", 1);
  pinned.required = NodeSelector{.terms = {PinTerm("a")}};
  add("pinned by us", pinned, LauncherState::kPinned, "a", true);
  Pod partly = pinned;
  partly.required->terms.push_back({});
  add("an empty term asks for nothing", partly, LauncherState::kPinned, "a",
      true);
  Pod one_of_two = pinned;
  one_of_two.required->terms.push_back(
      {.expressions = {{.key = "k", .op = "Exists"}}});
  add("the pin stands in one of two terms only", one_of_two,
      LauncherState::kLoose, "", false);
  Pod two_nodes = pinned;
  two_nodes.required->terms.push_back(PinTerm("b"));
  add("two terms name two nodes", two_nodes, LauncherState::kLoose, "", false);
  Pod one_term = pinned;
  one_term.required->terms[0].fields.push_back(PinTerm("b").fields[0]);
  add("one term names two nodes", one_term, LauncherState::kLoose, "", false);
  Pod running = PodOf("p", 1);
  running.node_name = "c";
  add("on a node without a pin of ours", running, LauncherState::kPinned, "c",
      false);
  Pod ending = running;
  ending.meta.deleting = absl::FromUnixSeconds(2);
  add("a pod on a node stands until it has ended", ending,
      LauncherState::kPinned, "c", false);
  Pod ended = running;
  ended.phase = "Failed";
  add("an ended pod stands for nothing", ended, LauncherState::kNone, "",
      false);
  Pod target = running;
  target.meta.labels[kMigrationLabel] = "job";
  add("a migration target", target, LauncherState::kNone, "", false);
  return cases;
}

TEST(FindLauncherTest, TellsHowFarAPodHasCome) {
  for (const Case& c : Cases()) {
    const Launcher launcher = Find({c.pod}, "vmis-node");
    EXPECT_EQ(launcher.state, c.state) << c.what;
    EXPECT_EQ(launcher.node, c.node) << c.what;
    EXPECT_EQ(launcher.pinned_by_us, c.by_us) << c.what;
  }
}

TEST(FindLauncherTest, AMigratedPodIsTheLauncherAndKeepsItsLabel) {
  Pod target = PodOf("target", 5);
  target.node_name = "b";
  target.meta.labels[kMigrationLabel] = "job";
  Pod source = PodOf("source", 1);
  source.node_name = "a";
  source.phase = "Succeeded";
  const Launcher launcher = Find({source, target}, "b");
  EXPECT_EQ(launcher.state, LauncherState::kPinned);
  EXPECT_EQ(launcher.node, "b");
}

TEST(FindLauncherTest, ThePinnedOneStandsBeforeTheGatedAndTheOlderFirst) {
  Pod gated = PodOf("gated", 1);
  gated.gates = {kGate};
  Pod younger = PodOf("younger", 3);
  younger.gates = {kGate};
  // Rows are numbered in the order of arrival.
  EXPECT_EQ(Find({gated, younger}).pod, std::optional<Row>(0));
  EXPECT_EQ(Find({younger, gated}).pod, std::optional<Row>(1));
  Pod running = PodOf("running", 9);
  running.node_name = "a";
  EXPECT_EQ(Find({gated, running}).node, "a");
}

TEST(FindLauncherTest, APinToOneOfTwoNodesIsNoPin) {
  Pod pod = PodOf("p", 1);
  pod.required = NodeSelector{.terms = {PinTerm("a")}};
  pod.required->terms[0].fields[0].values.push_back("b");
  EXPECT_EQ(Find({pod}).state, LauncherState::kLoose);
}

TEST(FindLauncherTest, TheGatedOneStandsBeforeTheLoose) {
  Pod loose = PodOf("loose", 1);
  Pod gated = PodOf("gated", 2);
  gated.gates = {kGate};
  EXPECT_EQ(Find({loose, gated}).state, LauncherState::kGated);
  EXPECT_EQ(Find({gated, loose}).state, LauncherState::kGated);
}

TEST(FindLauncherTest, AListedPodOfAnotherNamespaceIsNone) {
  Pod pod = PodOf("p", 1);
  pod.meta.name_space = "elsewhere";
  pod.node_name = "a";
  EXPECT_EQ(Find({pod}).state, LauncherState::kNone);
}

Pod OnNode(const std::string& name) {
  Pod pod = PodOf(name, 1);
  pod.node_name = "a";
  return pod;
}

VirtualMachineInstance Listing(const std::string& name,
                               const std::vector<std::string>& pods) {
  VirtualMachineInstance vmi;
  vmi.meta = {.name_space = "t", .name = name, .uid = "uid-" + name};
  for (const std::string& pod : pods) vmi.active_pods[pod] = "a";
  return vmi;
}

// "pod VMI" of each pod on a node of the namespace t; "-": no VMI.
std::vector<std::string> ListedBy(const Snapshot& snapshot) {
  std::vector<std::string> text;
  for (const PodOnNode& found : PodsOnNodes("t", snapshot)) {
    text.push_back(absl::StrCat(
        snapshot.pods()[found.pod].meta.name, " ",
        found.vmi.has_value() ? snapshot.vmis()[*found.vmi].meta.name : "-"));
  }
  return text;
}

using Words = std::vector<std::string>;

TEST(PodsOnNodesTest, AreThoseThatHaveANodeAndHaveNotEnded) {
  Snapshot snapshot;
  Add(PodOf("waits", 1), snapshot);
  Pod ended = OnNode("ended");
  ended.phase = "Failed";
  Add(ended, snapshot);
  Pod elsewhere = OnNode("elsewhere");
  elsewhere.meta.name_space = "u";
  Add(elsewhere, snapshot);
  Add(OnNode("q"), snapshot);
  Add(OnNode("p"), snapshot);
  EXPECT_EQ(ListedBy(snapshot), (Words{"p -", "q -"}));
}

TEST(PodsOnNodesTest, AVmisAreThoseThatItListsWhateverTheirOwnersSay) {
  const OwnerReference web = {.kind = "VirtualMachineInstance",
                              .name = "web",
                              .uid = "uid-web",
                              .controller = true};
  OwnerReference loose = web, set = web, other = web;
  loose.controller = false;
  set.kind = "ReplicaSet";
  other.name = "other";
  other.uid = "uid-other";
  Snapshot snapshot;
  Add(Listing("other", {}), snapshot);
  Add(Listing("web", {"p"}), snapshot);
  Pod pod = OnNode("p");
  Add(pod, snapshot);
  EXPECT_EQ(ListedBy(snapshot), Words{"p web"});
  int version = 1;
  for (const OwnerReference& owner : {web, loose, set, other}) {
    pod.meta.owners = {owner};
    pod.meta.resource_version = absl::StrCat(++version);
    Add(pod, snapshot);
    EXPECT_EQ(ListedBy(snapshot), Words{"p web"}) << version;
  }
  Pod forged = OnNode("forged");
  forged.meta.owners = {web};
  Add(forged, snapshot);
  EXPECT_EQ(ListedBy(snapshot), (Words{"forged -", "p web"}));
}

TEST(PodsOnNodesTest, AVmiOfAnotherNamespaceListsNone) {
  Snapshot snapshot;
  VirtualMachineInstance vmi = Listing("web", {"p"});
  vmi.meta.name_space = "u";
  Add(vmi, snapshot);
  Add(OnNode("p"), snapshot);
  EXPECT_EQ(ListedBy(snapshot), Words{"p -"});
}

TEST(PodsOnNodesTest, AVmiHasThemUntilItListsThemNoMoreThoughItHasEnded) {
  Snapshot snapshot;
  Add(OnNode("p"), snapshot);
  VirtualMachineInstance vmi = Listing("web", {"p"});
  Add(vmi, snapshot);
  vmi.meta.resource_version = "2";
  vmi.phase = "Failed";
  Add(vmi, snapshot);
  EXPECT_EQ(ListedBy(snapshot), Words{"p web"});
  vmi.meta.resource_version = "3";
  vmi.active_pods.erase("p");
  Add(vmi, snapshot);
  EXPECT_EQ(ListedBy(snapshot), Words{"p -"});
}

// The first by name, whichever comes last, and the other once that has gone.
TEST(PodsOnNodesTest, OfTwoVmisThatListAPodTheOrderOfArrivalDecidesNothing) {
  const VirtualMachineInstance a = Listing("a", {"p"}), b = Listing("b", {"p"});
  const Pod pod = OnNode("p");
  for (const std::vector<Object>& order :
       {std::vector<Object>{a, b, pod}, std::vector<Object>{b, a, pod},
        std::vector<Object>{pod, a, b}, std::vector<Object>{pod, b, a}}) {
    Snapshot snapshot;
    for (const Object& object : order) Add(object, snapshot);
    EXPECT_EQ(ListedBy(snapshot), Words{"p a"});
    v1::Record gone;
    *gone.mutable_object() = EventOf(v1::ObjectEvent::DELETED, a);
    Fold(gone, a, snapshot);
    EXPECT_EQ(ListedBy(snapshot), Words{"p b"});
  }
}

}  // namespace
}  // namespace gpubinder
