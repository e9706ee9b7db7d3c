#include "tools/stories/story.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "journal/journal.h"
#include "k8s/embedded/json_value.h"
#include "k8s/kinds.h"
#include "reconciler/audit.h"
#include "reconciler/replay.h"

namespace gpubinder {
using embedded::At;
using embedded::Json;
using embedded::Member;
using embedded::ParseJson;
using embedded::TextAt;

namespace {

constexpr absl::Duration kCall = absl::Seconds(10);
// Far above what a story takes, so that a slow machine fails no test.
constexpr absl::Duration kLimit = absl::Seconds(60);
constexpr absl::Duration kQuiet = absl::Milliseconds(300);

ResourcePath PathOf(Kind kind, const std::string& name) {
  ResourcePath path = ResourcePathOf(kind);
  path.name = name;
  if (PlaceOf(kind).namespaced) path.name_space = kTenant;
  return path;
}

bool ConcernsGpus(const embedded::StoreEvent& event) {
  const std::string& resource = event.key.resource;
  if (resource == "leases.coordination.k8s.io" || resource == "nodes") {
    return false;
  }
  if (resource == "events") {
    const std::string kind = TextAt(*event.object, {"involvedObject", "kind"});
    return kind != "Pod" && kind != "Node";
  }
  return resource != "pods" ||
         At(*event.object, {"metadata", "labels", "kubevirt.io"}).is_string();
}

std::vector<Json> ItemsOf(const absl::StatusOr<std::string>& list) {
  EXPECT_TRUE(list.ok()) << list.status();
  std::vector<Json> items;
  if (!list.ok()) return items;
  const absl::StatusOr<Json> parsed = ParseJson(*list);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  for (const Json& item : Member(*parsed, "items")) items.push_back(item);
  return items;
}

}  // namespace

Story::Story() = default;
Story::~Story() = default;

void Story::SetUp() {
  folder_ = testing::TempDir() + "story-XXXXXX";
  ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  SandboxOptions options{
      .journal_directory = folder_ + "/journal",
      .start_backoff = absl::Milliseconds(50),
      .on_pass = [this](const FinishedPass& pass) { SeePass(pass); },
      .on_revision = [this](const embedded::StoreEvent& event) { See(event); }};
  options.config.refusal_grace = absl::Milliseconds(50);
  absl::StatusOr<std::unique_ptr<SandboxCluster>> cluster =
      SandboxCluster::Start(std::move(options));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  cluster_ = *std::move(cluster);
  Create(Kind::kNamespace, NamespaceObject(kTenant));
  Create(Kind::kGpuClass, ClassObject("h100", kH100));
}

void Story::TearDown() {
  if (cluster_ == nullptr) return;
  EXPECT_TRUE(AwaitQuiet());
  cluster_.reset();
  EXPECT_EQ(absl::StrJoin(invariants_.Broken(), "\n"), "");
  EXPECT_EQ(absl::StrJoin(invariants_.BrokenAtTheEnd(), "\n"), "");
  CheckReplay();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Story::CheckReplay() {
  const absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::OpenReadOnly(folder_ + "/journal");
  ASSERT_TRUE(journal.ok()) << journal.status();
  const absl::StatusOr<ReplayResult> replayed = Replay(**journal, {});
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->first_difference, "") << replayed->differing_pass;
  EXPECT_EQ(replayed->skipped, 0u);
  EXPECT_GT(replayed->passes, 0u);
}

void Story::See(const embedded::StoreEvent& event) {
  invariants_.See(event);
  absl::MutexLock lock(&mutex_);
  ++revisions_;
  if (ConcernsGpus(event)) ++writes_;
  revised_.SignalAll();
}

void Story::SeePass(const FinishedPass& pass) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, row] : pass.snapshot.nodes().by_name()) {
    seen_.emplace(Kind::kNode, pass.snapshot.nodes()[row].meta.name);
  }
  for (const auto& [key, row] : pass.snapshot.classes().by_name()) {
    seen_.emplace(Kind::kGpuClass, pass.snapshot.classes()[row].meta.name);
  }
  for (const auto& [key, row] : pass.snapshot.claims().by_name()) {
    seen_.emplace(Kind::kGpuClaim, pass.snapshot.claims()[row].meta.name);
  }
  ++passes_;
  ++revisions_;
  revised_.SignalAll();
}

// Kinds are watched apart: what is made next must not be seen before.
void Story::AwaitSeen(Kind kind, const std::string& name) {
  EXPECT_TRUE(Await([&] {
    absl::MutexLock lock(&mutex_);
    return seen_.contains({kind, name});
  })) << name;
}

uint64_t Story::writes_to_gpu_things() const {
  absl::MutexLock lock(&mutex_);
  return writes_;
}

bool Story::Await(const std::function<bool()>& holds) {
  const absl::Time end = absl::Now() + kLimit;
  while (true) {
    uint64_t seen;
    {
      absl::MutexLock lock(&mutex_);
      seen = revisions_;
    }
    if (holds()) return true;
    absl::MutexLock lock(&mutex_);
    while (revisions_ == seen) {
      if (revised_.WaitWithDeadline(&mutex_, end)) return false;
    }
  }
}

bool Story::AwaitQuiet() { return cluster_->AwaitQuiet(kQuiet, kLimit); }

void Story::Create(Kind kind, const Json& object) {
  ResourcePath path = PathOf(kind, "");
  const auto made = cluster_->client().Create(path, object.dump(), kCall);
  EXPECT_TRUE(made.ok()) << object.dump() << ": " << made.status();
  if (kind == Kind::kNode || kind == Kind::kGpuClass ||
      kind == Kind::kGpuClaim) {
    AwaitSeen(kind, TextAt(object, {"metadata", "name"}));
  }
}

void Story::Merge(Kind kind, const std::string& name, const Json& patch) {
  const auto done = cluster_->client().Patch(
      PathOf(kind, name), PatchType::kMerge, patch.dump(), kCall);
  EXPECT_TRUE(done.ok()) << name << ": " << done.status();
}

void Story::MergeStatus(Kind kind, const std::string& name, const Json& patch) {
  ResourcePath path = PathOf(kind, name);
  path.subresource = "status";
  const auto done = cluster_->client().Patch(
      path, PatchType::kMerge, Json({{"status", patch}}).dump(), kCall);
  EXPECT_TRUE(done.ok()) << name << ": " << done.status();
}

void Story::Delete(Kind kind, const std::string& name) {
  const auto done = cluster_->client().Delete(PathOf(kind, name), "{}", kCall);
  EXPECT_TRUE(done.ok()) << name << ": " << done.status();
}

void Story::AddNode(const std::string& name,
                    const std::map<std::string, int64_t>& units) {
  Create(Kind::kNode, NodeObject(name, units));
}

Json Story::Get(Kind kind, const std::string& name) {
  const auto found = cluster_->client().Get(PathOf(kind, name), kCall);
  if (!found.ok()) {
    EXPECT_TRUE(absl::IsNotFound(found.status())) << found.status();
    return Json();
  }
  return *ParseJson(*found);
}

std::vector<Json> Story::List(Kind kind) {
  return ItemsOf(cluster_->client().List(PathOf(kind, ""), {}));
}

std::vector<Json> Story::Launchers(const std::string& vm) {
  const std::string vmi =
      TextAt(Get(Kind::kVirtualMachineInstance, vm), {"metadata", "uid"});
  std::vector<Json> launchers;
  for (const Json& pod : List(Kind::kPod)) {
    const std::string phase = TextAt(pod, {"status", "phase"});
    if (!vmi.empty() && phase != "Failed" && phase != "Succeeded" &&
        TextAt(pod, {"metadata", "labels", "kubevirt.io/created-by"}) == vmi) {
      launchers.push_back(pod);
    }
  }
  return launchers;
}

bool Story::RunsOn(const std::string& vm, const std::string& node) {
  const Json vmi = Get(Kind::kVirtualMachineInstance, vm);
  return TextAt(vmi, {"status", "phase"}) == "Running" &&
         TextAt(vmi, {"status", "nodeName"}) == node;
}

bool Story::IsGated(const std::string& vm) {
  const std::vector<Json> pods = Launchers(vm);
  if (pods.size() != 1) return false;
  for (const Json& gate : At(pods[0], {"spec", "schedulingGates"})) {
    if (TextAt(gate, {"name"}) == "gpu.cozystack.io/claims") return true;
  }
  return false;
}

bool Story::IsBoundTo(const std::string& claim, const std::string& node) {
  const Json found = Get(Kind::kGpuClaim, claim);
  return TextAt(found, {"status", "phase"}) == "Bound" &&
         TextAt(found, {"status", "nodeName"}) == node;
}

std::string Story::ReasonOf(const std::string& vm) {
  return TextAt(Get(Kind::kGpuClaimSet, vm), {"status", "reason"});
}

std::vector<std::string> Story::Warnings(const std::string& vm) {
  std::vector<std::string> reasons;
  for (const Json& event : ItemsOf(cluster_->client().List(
           {.version = "v1", .plural = "events", .name_space = kTenant}, {}))) {
    if (TextAt(event, {"source", "component"}) == "gpubinder" &&
        TextAt(event, {"involvedObject", "name"}) == vm) {
      reasons.push_back(TextAt(event, {"reason"}));
    }
  }
  return reasons;
}

}  // namespace gpubinder
