#include "reconciler/model/invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"
#include "reconciler/model/pod_request.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/selector.h"
#include "reconciler/model/taint.h"
#include "reconciler/model/writable_text.h"

namespace gpubinder {
namespace {

// A claim as the effects leave it.
struct After {
  const GpuClaim* claim = nullptr;
  std::string phase, node;
};

class Checker {
 public:
  Checker(const Snapshot& snapshot, const PassResult& result)
      : snapshot_(snapshot), result_(result) {}

  std::vector<std::string> Run() {
    for (const auto& [key, row] : snapshot_.claims().by_name()) {
      const GpuClaim& claim = snapshot_.claims()[row];
      claims_[claim.meta.uid] = {&claim, claim.phase, claim.node_name};
    }
    before_ = claims_;
    for (const v1::Effect& effect : result_.effects) {
      CheckTarget(effect);
      CheckTexts(effect);
      CheckPods(effect);
      CheckCalls(effect);
      if (effect.has_bind_claim()) CheckNode(effect);
      Note(effect);
    }
    CheckUnits();
    CheckSets();
    CheckViews();
    return std::move(broken_);
  }

 private:
  void Say(const char* letter, const v1::Effect& effect,
           absl::string_view what) {
    broken_.push_back(absl::StrCat(letter, ": ", effect.target().kind(), " ",
                                   effect.target().name(), ": ", what));
  }

  template <typename T>
  const T* Target(const v1::Effect& effect) const {
    return snapshot_.Of<T>().Find(effect.target().namespace_(),
                                  effect.target().name());
  }

  // F4: every write but a create carries uid and version. L6: an object that
  // is being deleted gets no write but the removal of our finalizer.
  void CheckTarget(const v1::Effect& effect) {
    const v1::Target& target = effect.target();
    if (target.uid().empty() != target.resource_version().empty()) {
      Say("F4", effect, "uid without version, or the reverse");
    }
    if (effect.has_remove_finalizer() || effect.has_emit_warning()) return;
    auto deleting = [](const auto* object) {
      return object != nullptr && object->meta.deleting.has_value();
    };
    const bool gone =
        (target.kind() == "GPUClaim" && deleting(Target<GpuClaim>(effect))) ||
        (target.kind() == "GPUClass" && deleting(Target<GpuClass>(effect))) ||
        (target.kind() == "GPUClaimSet" &&
         deleting(Target<GpuClaimSet>(effect))) ||
        (target.kind() == "Pod" && deleting(Target<Pod>(effect))) ||
        (target.kind() == "VirtualMachineInstance" &&
         deleting(Target<VirtualMachineInstance>(effect)));
    if (gone) Say("L6", effect, "a write to an object being deleted");
  }

  // E6: bounded, valid text with a reason of the closed list.
  void CheckTexts(const v1::Effect& effect) {
    auto check = [&](v1::Reason reason, const std::string& message) {
      if (ReasonName(reason).empty()) Say("E6", effect, "no reason");
      if (!IsWritableText(message)) {
        Say("E6", effect, "the message is too long or no UTF-8");
      }
    };
    if (effect.has_set_condition()) {
      check(effect.set_condition().reason(), effect.set_condition().message());
    } else if (effect.has_lose_claim()) {
      check(effect.lose_claim().reason(), effect.lose_claim().message());
    } else if (effect.has_emit_warning()) {
      check(effect.emit_warning().reason(), effect.emit_warning().note());
    }
  }

  const VirtualMachineInstance* ListingVmi(const ObjectMeta& pod) const {
    for (const auto& [key, row] : snapshot_.vmis().by_name()) {
      const VirtualMachineInstance& vmi = snapshot_.vmis()[row];
      if (vmi.meta.name_space != pod.name_space) continue;
      if (vmi.active_pods.contains(pod.uid)) return &vmi;
    }
    return nullptr;
  }

  // P5, P8: only pods that a VMI lists, never a migration target. P1, P4: a
  // pin is for a pod that holds our gate and no other.
  void CheckPods(const v1::Effect& effect) {
    if (!effect.has_pin_pod() && !effect.has_delete_pod()) return;
    const Pod* pod = Target<Pod>(effect);
    if (pod == nullptr) return Say("P5", effect, "no such pod");
    const VirtualMachineInstance* vmi = ListingVmi(pod->meta);
    if (vmi == nullptr) return Say("P5", effect, "no VMI lists the pod");
    if (pod->meta.labels.contains(kMigrationLabel) && !vmi->node_name.empty() &&
        pod->node_name != vmi->node_name) {
      Say("P8", effect, "a migration target");
    }
    if (!effect.has_pin_pod()) return;
    if (pod->gates != std::vector<std::string>{kGate}) {
      Say("P4", effect, "pinned without our gate alone");
    }
    CheckPinnedClaims(effect, *vmi);
  }

  // P2: once the gate goes, every claim of the set is Bound to that node.
  void CheckPinnedClaims(const v1::Effect& effect,
                         const VirtualMachineInstance& vmi) {
    for (const SetView& view : result_.sets) {
      if (!view.set.vmi.has_value() ||
          snapshot_.vmis()[*view.set.vmi].meta.uid != vmi.meta.uid) {
        continue;
      }
      for (const Row row : view.set.members) {
        const After& after = claims_[snapshot_.claims()[row].meta.uid];
        if (after.phase != "Bound" ||
            after.node != effect.pin_pod().node_name()) {
          Say("P2", effect, "pinned before its claims are there");
        }
      }
    }
  }

  // R1: the rejection is written everywhere before what brings the VM back
  // is called. P6: only a pinned pod is deleted.
  void CheckCalls(const v1::Effect& effect) {
    if (!effect.has_delete_pod() && !effect.has_delete_vmi() &&
        !effect.has_restart_vm()) {
      return;
    }
    if (effect.has_delete_pod()) {
      const Pod* pod = Target<Pod>(effect);
      if (pod != nullptr && !pod->gates.empty()) {
        Say("P6", effect, "deletes a pod that waits at a gate");
      }
    }
    const v1::Reason reason = effect.has_delete_vmi()
                                  ? effect.delete_vmi().reason()
                                  : effect.restart_vm().reason();
    if (!effect.has_delete_pod() && reason != v1::REJECTED_BY_NODE) {
      return CheckEnding(effect);
    }
    for (const SetView& view : result_.sets) {
      // A kubelet's refusal is told to what the VMI holds, till it lapses (R2).
      if (view.set.key() != effect.set_key() ||
          (!effect.has_delete_pod() &&
           view.set.launcher.state != LauncherState::kPinned)) {
        continue;
      }
      for (const Row row : view.set.members) {
        const GpuClaim& claim = snapshot_.claims()[row];
        if (claim.rejected_nodes.empty() &&
            !rejected_.contains(claim.meta.uid)) {
          Say("R1", effect, "called before the rejection is written");
        }
      }
    }
  }

  // P7: ended only with a pinned pod, after its uid was written to the set's
  // memory, and never in a mass loss.
  void CheckEnding(const v1::Effect& effect) {
    const std::string& uid = effect.has_restart_vm()
                                 ? effect.restart_vm().vmi_uid()
                                 : effect.target().uid();
    bool pinned = false, written = ended_.contains(uid);
    for (const SetView& view : result_.sets) {
      if (view.set.key() != effect.set_key()) continue;
      pinned = view.set.launcher.state == LauncherState::kPinned;
      const GpuClaimSet* memory =
          snapshot_.claim_sets().Find(view.set.name_space, view.set.name);
      written = written || (memory != nullptr && memory->ended_vmi == uid);
    }
    if (!pinned) Say("P7", effect, "ends a VMI without a pinned pod");
    if (!written) Say("P7", effect, "ended before that is written");
    if (result_.mass_loss) Say("P7", effect, "ended in a mass loss");
  }

  // C4, plainly: who is placed anew goes to a node that is there, Ready, not
  // cordoned, and that the class accepts. Who follows a pod that is there
  // already is excused.
  void CheckNode(const v1::Effect& effect) {
    if (FollowsPod(effect)) return;
    const GpuClaim* claim = Target<GpuClaim>(effect);
    const Node* node =
        snapshot_.nodes().Find("", effect.bind_claim().node_name());
    if (claim == nullptr) return Say("C4", effect, "no such claim");
    const GpuClass* found = snapshot_.classes().Find("", claim->class_name);
    if (node == nullptr || found == nullptr) {
      return Say("C4", effect, "no such node or class");
    }
    bool ready = false, cordoned = node->unschedulable;
    for (const Condition& condition : node->conditions) {
      ready |= condition.type == "Ready" && condition.status == "True";
    }
    for (const Taint& taint : node->taints) {
      cordoned = cordoned || taint.key == kTaintUnschedulable;
    }
    const bool accepts = FirstUntolerated(node->taints, found->tolerations,
                                          TaintScope::kScheduling) == nullptr &&
                         MatchesLabels(found->node_selector, node->meta.labels);
    if (!ready || node->meta.deleting.has_value() || !accepts ||
        (cordoned && !StoodThere(effect))) {
      Say("C4", effect, "the node does not serve the class");
    }
  }

  // The VM's pod is on that node, or pinned to it.
  bool FollowsPod(const v1::Effect& effect) const {
    for (const SetView& view : result_.sets) {
      if (view.set.key() != effect.set_key() ||
          !view.set.launcher.pod.has_value()) {
        continue;
      }
      const Pod& pod = snapshot_.pods()[*view.set.launcher.pod];
      return pod.gates.empty() &&
             view.set.launcher.node == effect.bind_claim().node_name();
    }
    return false;
  }

  bool StoodThere(const v1::Effect& effect) const {
    for (const SetView& view : result_.sets) {
      if (view.set.key() != effect.set_key()) continue;
      for (const Row row : view.set.members) {
        if (snapshot_.claims()[row].node_name ==
            effect.bind_claim().node_name()) {
          return true;
        }
      }
    }
    return false;
  }

  // G4 by the way: all that one pass binds of a set goes to one node.
  void Note(const v1::Effect& effect) {
    const std::string& uid = effect.target().uid();
    if (effect.has_bind_claim()) {
      const std::string& node = effect.bind_claim().node_name();
      claims_[uid].phase = "Bound";
      claims_[uid].node = node;
      auto [at, first] = bound_to_.emplace(effect.set_key(), node);
      if (!first && at->second != node) Say("G4", effect, "two nodes");
      follows_[{node, effect.bind_claim().resource_name()}] |=
          FollowsPod(effect);
    } else if (effect.has_lose_claim()) {
      claims_[uid].phase = "Lost";
      claims_[uid].node.clear();
    } else if (effect.has_record_rejection()) {
      rejected_.insert(uid);
    } else if (effect.write_claim_set().has_ended_vmi()) {
      ended_.insert(effect.write_claim_set().ended_vmi());
    }
  }

  int64_t UnitsOf(const GpuClaim& claim) const {
    return claim.meta.problems.empty() ? claim.units : 64;
  }
  std::string ResourceOf(const GpuClaim& claim) const {
    if (!claim.resource_name.empty()) return claim.resource_name;
    const GpuClass* found = snapshot_.classes().Find("", claim.class_name);
    return found == nullptr ? "" : found->resource_name;
  }

  // C2: what is booked, with what the pass books, what it moves counted on
  // both nodes and what is in flight, is within allocatable, or the pass
  // booked nothing there.
  void CheckUnits() {
    using Place = std::pair<std::string, std::string>;
    std::map<Place, int64_t> sums;
    std::set<Place> grew;
    for (const auto& [uid, after] : claims_) {
      const GpuClaim& claim = *after.claim;
      const After& before = before_[uid];
      const std::string resource = ResourceOf(claim);
      if (before.phase == "Bound") {
        sums[{before.node, resource}] += UnitsOf(claim);
      }
      if (after.phase == "Bound" && after.node != before.node) {
        sums[{after.node, resource}] += UnitsOf(claim);
        grew.insert({after.node, resource});
      }
      AddInFlight(uid, after, sums);
    }
    for (const Place& place : grew) {
      const Node* node = snapshot_.nodes().Find("", place.first);
      if (node == nullptr || follows_[place]) continue;
      auto has = node->allocatable.find(place.second);
      const int64_t allocatable = has == node->allocatable.end()
                                      ? 0
                                      : AllocatableUnits(has->second).value;
      if (sums[place] > allocatable) {
        broken_.push_back(absl::StrCat("C2: ", place.first, " ", place.second,
                                       ": ", sums[place], " of ", allocatable));
      }
    }
  }

  void AddInFlight(
      const std::string& uid, const After& after,
      std::map<std::pair<std::string, std::string>, int64_t>& sums) {
    for (const auto& [id, effect] : snapshot_.in_flight) {
      if (!effect.has_bind_claim() || effect.target().uid() != uid ||
          effect.bind_claim().node_name() == after.node) {
        continue;
      }
      sums[{effect.bind_claim().node_name(),
            effect.bind_claim().resource_name()}] += UnitsOf(*after.claim);
    }
  }

  // G1: no set that stood whole becomes part Bound and part Lost. C10: a
  // frozen set is not touched.
  void CheckSets() {
    for (const SetView& view : result_.sets) {
      int lost = 0, bound = 0, was_bound = 0;
      std::set<std::string> nodes;
      for (const Row row : view.set.members) {
        const std::string& uid = snapshot_.claims()[row].meta.uid;
        lost += claims_[uid].phase == "Lost";
        bound += claims_[uid].phase == "Bound";
        was_bound += before_[uid].phase == "Bound";
        nodes.insert(before_[uid].node);
      }
      const bool whole = nodes.size() == 1 &&
                         was_bound == static_cast<int>(view.set.members.size());
      if (whole && lost > 0 && bound > 0) {
        broken_.push_back(
            absl::StrCat("G1: ", view.set.key(), " is left partly Lost"));
      }
      for (const v1::Effect& effect : result_.effects) {
        if (view.frozen && effect.set_key() == view.set.key()) {
          Say("C10", effect, "a write to a frozen set");
        }
      }
    }
  }

  // E4: where nodes were judged, each stands once in the explanation.
  void CheckViews() {
    for (const SetView& view : result_.sets) {
      if (view.verdict.judged.empty()) continue;
      std::vector<std::string> named, all;
      view.verdict.judged.ForEachNode(
          [&](const std::string& node, size_t) { named.push_back(node); });
      for (const auto& [key, row] : snapshot_.nodes().by_name()) {
        all.push_back(snapshot_.nodes()[row].meta.name);
      }
      std::sort(named.begin(), named.end());
      std::sort(all.begin(), all.end());
      if (named != all) {
        broken_.push_back(
            absl::StrCat("E4: ", view.set.key(), " does not name each node"));
      }
    }
  }

  const Snapshot& snapshot_;
  const PassResult& result_;
  std::map<std::string, After> claims_, before_;  // by uid
  std::map<std::string, std::string> bound_to_;   // set to node
  std::map<std::pair<std::string, std::string>, bool> follows_;
  std::set<std::string> rejected_;  // claim uids, by this pass
  std::set<std::string> ended_;     // VMI uids, by this pass
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> BrokenInvariants(const Snapshot& snapshot,
                                          const PassResult& result) {
  return Checker(snapshot, result).Run();
}

}  // namespace gpubinder
