// Test only: the invariants that hold in every revision of the server,
// whatever the binder was told and whenever it was killed. Judged from the
// objects as the server has them; nothing of the model is used.
//
//   ServerInvariants invariants;
//   server.ObserveRevisions([&](const StoreEvent& e) { invariants.See(e); });
//   ...
//   EXPECT_THAT(invariants.Broken(), IsEmpty());
//   EXPECT_THAT(invariants.BrokenAtTheEnd(), IsEmpty());
//
// The letters are those of the specification's list of invariants:
//   C1 booked units per node and resource <= allocatable, but after a fall
//   P1 a launcher is ungated only with our pin in every non-empty term
//   P2 when it becomes ungated, every claim of its set is Bound to that node
//   P4 our gate is there at most once; the others stay, in their order
//   R1 a refused launcher is deleted after the refusal is in every status
//   G5 a claim never goes from a VMI that lives to another
//   L3 template claims: computed name, owned by the VMI's uid
//   E1 Warnings on a VMI = changes of its reason to one that is no success
//   E2 the reason that stands is the last Warning's
// Not judged: the excuses for pods that ran before the binder came.

#ifndef TOOLS_STORIES_SERVER_INVARIANTS_H_
#define TOOLS_STORIES_SERVER_INVARIANTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "k8s/embedded/store.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder {

// Thread-safe.
class ServerInvariants {
 public:
  // Each revision once, in order, from the first node on.
  void See(const embedded::StoreEvent& event);
  // One line for each breach seen so far, letter first, with its revision.
  std::vector<std::string> Broken() const;
  // Those of a cluster that has settled.
  std::vector<std::string> BrokenAtTheEnd() const;

 private:
  // Of one node and one resource.
  using Place = std::pair<std::string, std::string>;
  // What the binder said of a VMI, in order.
  struct Said {
    std::vector<std::string> warnings, reasons;
  };

  void SeeClaim(const embedded::StoreEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SeePod(const embedded::StoreEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SeeSet(const embedded::StoreEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SeeWarning(const embedded::StoreEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckAttachment(const nlohmann::json& before,
                       const nlohmann::json& after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckUngated(const nlohmann::json& pod, const std::string& node)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckDeletedLauncher(const nlohmann::json& pod)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const nlohmann::json& Find(absl::string_view resource,
                             absl::string_view name_space,
                             absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The members of the set of a launcher's VMI; null for one not there.
  std::vector<embedded::JsonPtr> MembersOf(const nlohmann::json& pod) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t Allocatable(const Place& place) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Where a Bound claim's units count; no node when it is not Bound.
  Place PlaceOf(const nlohmann::json& claim) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Lives(absl::string_view vmi_uid) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Say(absl::string_view breach) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<embedded::StoreKey, embedded::JsonPtr> objects_
      ABSL_GUARDED_BY(mutex_);
  std::map<Place, int64_t> booked_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Said> said_ ABSL_GUARDED_BY(mutex_);  // by VMI uid
  uint64_t revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> broken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpubinder

#endif  // TOOLS_STORIES_SERVER_INVARIANTS_H_
