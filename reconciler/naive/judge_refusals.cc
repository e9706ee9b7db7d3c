// R: nodes that refuse. What is recorded where, and the call that brings the
// VM back.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

constexpr size_t kMostEntries = 64;

RejectedNode EntryOf(const v1::RejectionEntry& entry) {
  return {
      .node_name = entry.node_name(),
      .node_uid = entry.node_uid(),
      .pod_uid = entry.pod_uid(),
      .resources = {entry.resources().begin(), entry.resources().end()},
      .reason = entry.reason(),
      .fingerprint = entry.fingerprint(),
      .rejected_at = absl::FromUnixSeconds(entry.rejected_at_unix_seconds()),
      .until = absl::FromUnixSeconds(entry.until_unix_seconds())};
}

const RejectedNode* EntryFor(const std::vector<RejectedNode>& entries,
                             const std::string& pod_uid) {
  for (const RejectedNode& entry : entries) {
    if (entry.pod_uid == pod_uid) return &entry;
  }
  return nullptr;
}

bool Writes(const Bench& bench, const std::string& uid,
            const std::string& pod_uid) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.has_record_rejection() && effect.target().uid() == uid &&
        effect.record_rejection().entry().pod_uid() == pod_uid) {
      return true;
    }
  }
  return false;
}

// --- R1

// Up to the first dot and space; what follows is about preemption.
bool SchedulerLacksUnits(const Pod& pod) {
  for (const Condition& condition : pod.conditions) {
    if (condition.type != "PodScheduled" || condition.status != "False" ||
        condition.reason != "Unschedulable") {
      continue;
    }
    const std::string first =
        condition.message.substr(0, condition.message.find(". "));
    return first.find("Insufficient ") != std::string::npos ||
           first.find("Too many pods") != std::string::npos;
  }
  return false;
}

bool IsPinnedAndWaits(const SetState& set) {
  const Pod* pod = set.pinned;
  return pod != nullptr && pod->node_name.empty() && !PinOf(*pod).empty() &&
         !set.vmi->meta.deleting && !pod->meta.deleting;
}

const VirtualMachine* OwnerOf(const World& world,
                              const VirtualMachineInstance& vmi) {
  for (const OwnerReference& owner : vmi.meta.owners) {
    const VirtualMachine* vm = VmByName(world, vmi.meta.name_space, owner.name);
    if (owner.kind == "VirtualMachine" && vm != nullptr &&
        vm->meta.uid == owner.uid) {
      return vm;
    }
  }
  return nullptr;
}

// R4, after a refusal by the scheduler.
std::string CallAfterR1(const SetState& set) {
  if (set.vm == nullptr) {
    for (const OwnerReference& owner : set.vmi->meta.owners) {
      if (owner.controller && owner.kind != "VirtualMachine") {
        return "DeletePod";
      }
    }
    return "";
  }
  const std::string& strategy = set.vm->run_strategy;
  if (strategy == "Always" || strategy == "RerunOnFailure") return "DeletePod";
  if (strategy == "Once") return "DeleteVMI";
  return strategy == "Manual" ? "RestartVM" : "";
}

// The same after one by the kubelet: the VMI has failed already.
std::string CallAfterR2(const VirtualMachine* vm) {
  if (vm == nullptr) return "";
  if (vm->run_strategy == "Once") return "DeleteVMI";
  return vm->run_strategy == "Manual" ? "RestartVM" : "";
}

std::string CallMade(const Bench& bench, const std::string& key) {
  std::string call;
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.set_key() == key && !CallOf(effect).empty()) {
      call = CallOf(effect);
    }
  }
  return call;
}

void JudgeCallBack(Bench& bench, const std::string& key,
                   const std::string& wanted, const VirtualMachine* vm,
                   const std::string& vmi_uid) {
  const std::string call = CallMade(bench, key);
  bool held = false;
  for (const auto& [action, uid] :
       vm == nullptr ? decltype(vm->state_changes)() : vm->state_changes) {
    held = held || (action == "Stop" && uid == vmi_uid);
  }
  const std::string due = wanted == "RestartVM" && held ? "" : wanted;
  if (call != due) {
    bench.Fault(key, "R4 calls '" + due + "', the pass '" + call + "'");
  }
}

void JudgeRefusal(Bench& bench, int index, std::set<std::string>& called) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  if (set.frozen || !IsPinnedAndWaits(set)) return;
  // Whether a set of which every member is being deleted is refused anything is
  // not said.
  if (set.members.empty()) {
    called.insert(set.key);
    return;
  }
  // What is remembered needs the set's memory, which is made first, and made
  // anew when one that is being deleted has gone.
  const GpuClaimSet* memory = MemoryOf(world, set);
  if (memory == nullptr || memory->meta.deleting) return;
  const std::string& uid = set.pinned->meta.uid;
  const RejectedNode* entry = EntryFor(memory->rejected_nodes, uid);
  const bool refused = IsRefused(world, index);
  if (!refused && entry == nullptr) return;
  called.insert(set.key);
  if (entry == nullptr && !Writes(bench, memory->meta.uid, uid)) {
    return bench.Fault(
        set.key, "R1 records a rejection of " + uid + ", the pass does not");
  }
  for (const int member : set.members) {
    const GpuClaim& claim = *world.claims[member].claim;
    if (refused && EntryFor(claim.rejected_nodes, uid) == nullptr &&
        !Writes(bench, claim.meta.uid, uid)) {
      bench.Fault(set.key, "R3 records the rejection on " + claim.meta.name +
                               ", the pass does not");
    }
  }
  // Whether an entry that has ended is an intention still is not said.
  if (!refused && entry->until <= world.now) return;
  JudgeCallBack(bench, set.key, CallAfterR1(set), set.vm, set.vmi->meta.uid);
}

// --- R2

// Nothing may be written for it; nor need it where this pass has moved a part.
bool IsFrozen(const Bench& bench, const std::string& key) {
  if (bench.IsMoved(IndexOf(bench.world, key))) return true;
  for (const auto& [id, effect] : bench.world.snapshot->in_flight) {
    if (effect.set_key() == key) return true;
  }
  auto rate = bench.world.snapshot->write_rates.find(key);
  if (rate != bench.world.snapshot->write_rates.end() &&
      rate->second.until > bench.world.now) {
    return true;
  }
  auto view = bench.views.find(key);
  return view != bench.views.end() && view->second->frozen;
}

void JudgeKubelet(Bench& bench, const KubeletRefusal& refusal,
                  std::set<std::string>& called) {
  const World& world = bench.world;
  const std::string key = refusal.name_space + "/" + refusal.vmi_name;
  const GpuClaimSet* memory = world.snapshot->Of<GpuClaimSet>().Find(
      refusal.name_space, refusal.vmi_name);
  called.insert(key);
  if (memory == nullptr || memory->meta.deleting || IsFrozen(bench, key)) {
    return;
  }
  // Another VM's memory of that name takes nothing of this one.
  if (memory->vmi_uid != refusal.vmi_uid) return;
  const int index = IndexOf(world, key);
  if (index >= 0 && MemoryOf(world, world.sets[index]) != memory) return;
  const std::string& uid = refusal.pod_uid;
  const RejectedNode* entry = EntryFor(memory->rejected_nodes, uid);
  const bool written = Writes(bench, memory->meta.uid, uid);
  if (entry == nullptr && !refusal.recorded && !written) {
    return bench.Fault(
        key, "R2 records a rejection of " + uid + ", the pass does not");
  }
  if (entry != nullptr && entry->until <= world.now && written) {
    bench.Fault(key, "R2 judges " + uid + " once, the pass again");
  }
  for (const ClaimState& state : world.claims) {
    const GpuClaim& claim = *state.claim;
    const bool held = claim.attached_to.has_value() &&
                      claim.attached_to->uid == refusal.vmi_uid;
    if (!held && MadeFor(claim) != refusal.vmi_uid) continue;
    if (claim.meta.deleting || refusal.recorded || entry != nullptr ||
        HasToWait(world, "GPUClaim", claim.meta.name_space, claim.meta.name,
                  claim.meta.uid)) {
      continue;
    }
    if (EntryFor(claim.rejected_nodes, uid) == nullptr &&
        !Writes(bench, claim.meta.uid, uid)) {
      bench.Fault(key, "R2 records the rejection on " + claim.meta.name +
                           ", the pass does not");
    }
  }
  const VirtualMachineInstance* vmi = VmiByUid(world, refusal.vmi_uid);
  if (vmi == nullptr || vmi->meta.deleting) return;
  // Whether it is called before the VMI is seen to have failed is not said.
  if (vmi->phase != "Failed") return;
  const VirtualMachine* vm = OwnerOf(world, *vmi);
  JudgeCallBack(bench, key, CallAfterR2(vm), vm, refusal.vmi_uid);
}

// --- What is written

bool IsCause(const World& world, const SetState* set,
             const std::string& pod_uid) {
  if (world.snapshot->kubelet_refusals.contains(pod_uid)) return true;
  if (set == nullptr) return false;
  if (set->pinned != nullptr && set->pinned->meta.uid == pod_uid &&
      IsRefused(world, static_cast<int>(set - world.sets.data()))) {
    return true;
  }
  const GpuClaimSet* memory = MemoryOf(world, *set);
  return memory != nullptr &&
         EntryFor(memory->rejected_nodes, pod_uid) != nullptr;
}

void JudgeNewEntry(Bench& bench, const std::string& key,
                   const RejectedNode& entry) {
  const World& world = bench.world;
  if (entry.rejected_at != world.now) return;  // written anew
  const absl::Time until = world.now + world.snapshot->config.rejection_ttl;
  if (entry.until != until) bench.Fault(key, "R3: the entry ends otherwise");
  const Node* node = FindNode(world, entry.node_name);
  if (node == nullptr) return;
  if (entry.node_uid != node->meta.uid ||
      entry.fingerprint != FingerprintOf(*node, entry)) {
    bench.Fault(key, "N5: the entry is not of the node as it is");
  }
}

void JudgeList(Bench& bench, const v1::Effect& effect,
               const std::vector<RejectedNode>& before) {
  const std::string key = effect.set_key() + " " + effect.target().name();
  const World& world = bench.world;
  const RejectedNode entry = EntryOf(effect.record_rejection().entry());
  std::vector<RejectedNode> list;
  for (const auto& one : effect.record_rejection().list()) {
    list.push_back(EntryOf(one));
    // The entry of a pod that still waits is the intention, and must be
    // everywhere before the call.
    if (list.back().until <= world.now &&
        (list.back().pod_uid != entry.pod_uid ||
         PodByUid(world, entry.pod_uid) == nullptr)) {
      bench.Fault(key, "inv:R5: an entry that has ended is written");
    }
  }
  if (list.size() > kMostEntries) bench.Fault(key, "holds too many entries");
  if (EntryFor(list, entry.pod_uid) == nullptr) {
    bench.Fault(key, "does not hold the entry that it writes");
  }
  for (const RejectedNode& old : before) {
    const Node* node = FindNode(world, old.node_name);
    if (!IsLive(world, old, node) || old.node_name == entry.node_name) continue;
    const RejectedNode* kept = EntryFor(list, old.pod_uid);
    if (kept == nullptr && before.size() < kMostEntries) {
      bench.Fault(key, "R3: forgets that " + old.node_name + " refused");
    } else if (kept != nullptr &&
               kept->until != std::max(old.until, entry.until)) {
      bench.Fault(key, "R3: " + old.node_name + " ends before the new one");
    }
  }
}

void JudgeRecord(Bench& bench, const v1::Effect& effect) {
  const World& world = bench.world;
  const int index = IndexOf(world, effect.set_key());
  const SetState* of = index < 0 ? nullptr : &world.sets[index];
  const RejectedNode entry = EntryOf(effect.record_rejection().entry());
  if (!IsCause(world, of, entry.pod_uid)) {
    bench.Fault(effect.set_key(),
                "records a rejection of " + entry.pod_uid + " without cause");
  }
  const GpuClaimSet* own = of == nullptr ? nullptr : MemoryOf(world, *of);
  if (own == nullptr ||
      EntryFor(own->rejected_nodes, entry.pod_uid) == nullptr) {
    JudgeNewEntry(bench, effect.set_key(), entry);
  }
  for (const GpuClaimSet* memory : world.memories) {
    if (memory->meta.uid == effect.target().uid()) {
      JudgeList(bench, effect, memory->rejected_nodes);
    }
  }
  for (const ClaimState& state : world.claims) {
    if (state.claim->meta.uid == effect.target().uid() &&
        state.claim != &world.not_yet) {
      JudgeList(bench, effect, state.claim->rejected_nodes);
    }
  }
}

}  // namespace

bool IsRefused(const World& world, int index) {
  const SetState& set = world.sets[index];
  // Whether a node serves what cannot be read is not known.
  if (!IsPinnedAndWaits(set) || set.stuck) return false;
  const Pod& pod = *set.pinned;
  if (!pod.nominated_node.empty() || !SchedulerLacksUnits(pod)) return false;
  for (const SelectorTerm& term : pod.required->terms) {
    if (term.empty()) return false;
  }
  auto since = world.snapshot->refused_since.find(pod.meta.uid);
  if (since == world.snapshot->refused_since.end() ||
      world.now - since->second < world.snapshot->config.refusal_grace) {
    return false;
  }
  const Node* node = FindNode(world, set.pinned_node);
  if (node == nullptr) return false;
  const Ask ask{.set = index, .claims = set.members, .rejections = false};
  for (const Why& why : Obstacles(world, ask, *node)) {
    if (why.reason != v1::INSUFFICIENT_UNITS &&
        why.reason != v1::VOLUME_NOT_REACHABLE) {
      return false;
    }
  }
  return true;
}

bool IsRecorded(const World& world, const SetState& set,
                const std::string& pod_uid) {
  auto fresh = world.new_rejections.find(set.key);
  if (fresh != world.new_rejections.end() &&
      EntryFor(fresh->second, pod_uid) != nullptr) {
    return true;
  }
  const GpuClaimSet* memory = MemoryOf(world, set);
  return memory != nullptr &&
         EntryFor(memory->rejected_nodes, pod_uid) != nullptr;
}

std::string CallOf(const v1::Effect& effect) {
  if (effect.has_delete_pod()) return "DeletePod";
  // M4 ends VMIs too, for another reason.
  if (effect.delete_vmi().reason() == v1::REJECTED_BY_NODE) return "DeleteVMI";
  if (effect.restart_vm().reason() == v1::REJECTED_BY_NODE) return "RestartVM";
  return "";
}

void JudgeRefusals(Bench& bench) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (!effect.has_record_rejection()) continue;
    std::vector<RejectedNode>& list =
        bench.world.new_rejections[effect.set_key()];
    for (const auto& entry : effect.record_rejection().list()) {
      list.push_back(EntryOf(entry));
    }
  }
  std::set<std::string> called;
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    JudgeRefusal(bench, static_cast<int>(s), called);
  }
  for (const auto& [uid, refusal] : bench.world.snapshot->kubelet_refusals) {
    JudgeKubelet(bench, refusal, called);
  }
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.has_record_rejection()) JudgeRecord(bench, effect);
    const std::string call = CallOf(effect);
    if (!call.empty()) bench.called.insert(effect.set_key());
    if (!call.empty() && !called.contains(effect.set_key())) {
      bench.Fault(effect.set_key(), "R4 calls nothing, the pass " + call);
    }
  }
}

}  // namespace gpubinder::naive
