// Test only: a story is told to a whole cluster in the process: server,
// stand-ins, admission and the real binder with a journal of its own. Every
// revision of the server is held against the invariants, and at the end every
// pass runs again from the journal.
//
//   TEST_F(Story, AMachineStarts) {
//     AddNode("a", {{kH100, 4}});
//     Create(Kind::kVirtualMachine, MachineObject("web", "Always", ...));
//     ASSERT_TRUE(Await([&] { return RunsOn("web", "a"); }));
//   }

#ifndef TOOLS_STORIES_STORY_H_
#define TOOLS_STORIES_STORY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/kind.h"
#include "tools/sandbox_cluster.h"
#include "tools/stories/objects.h"
#include "tools/stories/server_invariants.h"

namespace gpubinder {

class Story : public testing::Test {
 protected:
  Story();
  ~Story() override;
  // Starts a cluster with the tenant's namespace and the class h100.
  void SetUp() override;
  // Ends it, runs its passes again, and reports what was broken.
  void TearDown() override;

  // Writes that must succeed. What others ask for (nodes, classes, claims) a
  // pass has seen when they return.
  void Create(Kind kind, const nlohmann::json& object);
  void Merge(Kind kind, const std::string& name, const nlohmann::json& patch);
  void Delete(Kind kind, const std::string& name);
  void AddNode(const std::string& name,
               const std::map<std::string, int64_t>& units);
  // `status` as its writer would set it.
  void MergeStatus(Kind kind, const std::string& name,
                   const nlohmann::json& patch);

  // The object, of the tenant's namespace where its kind has one; null when
  // it is not there.
  nlohmann::json Get(Kind kind, const std::string& name);
  std::vector<nlohmann::json> List(Kind kind);
  // The launchers of the VM's VMI that have not ended.
  std::vector<nlohmann::json> Launchers(const std::string& vm);
  bool RunsOn(const std::string& vm, const std::string& node);
  bool IsGated(const std::string& vm);
  bool IsBoundTo(const std::string& claim, const std::string& node);
  std::string ReasonOf(const std::string& vm);  // its set's
  // Reasons of the Warnings on every VMI of that name, in order.
  std::vector<std::string> Warnings(const std::string& vm);

  // Looks after each revision of the server. False: not within the limit.
  bool Await(const std::function<bool()>& holds);
  // Until nobody has anything left to do but heartbeats.
  bool AwaitQuiet();

  SandboxCluster& cluster() { return *cluster_; }
  // Writes so far, by anyone, of what the binder writes to: all but Leases,
  // nodes, pods that are no launchers, and Events about these.
  uint64_t writes_to_gpu_things() const;
  // Passes so far.
  uint64_t passes() const { return passes_; }

 private:
  void See(const embedded::StoreEvent& event);
  void SeePass(const FinishedPass& pass);
  void AwaitSeen(Kind kind, const std::string& name);
  void CheckReplay();

  ServerInvariants invariants_;
  mutable absl::Mutex mutex_;
  absl::CondVar revised_;
  // Of the server, and passes.
  uint64_t revisions_ ABSL_GUARDED_BY(mutex_) = 0;
  // Nodes, classes and claims that a pass has seen.
  std::set<std::pair<Kind, std::string>> seen_ ABSL_GUARDED_BY(mutex_);
  uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> passes_ = 0;
  std::string folder_;
  std::unique_ptr<SandboxCluster> cluster_;
};

}  // namespace gpubinder

#endif  // TOOLS_STORIES_STORY_H_
