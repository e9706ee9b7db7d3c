// M4 and M5: which VMIs are ended to free what their node cannot keep, and
// the safety valve.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

struct Wish {
  std::set<v1::Reason> reasons;
  bool unsure = false;
};

Wish WishOf(const Bench& bench, int index) {
  const World& world = bench.world;
  const SetState& set = world.sets[index];
  const std::vector<int> bound = InPhase(world, set, "Bound");
  std::vector<int> held = bound;
  // One that can never start keeps its Lost claims waiting for ever.
  if (bound.empty() && set.pinned->node_name.empty()) {
    held = InPhase(world, set, "Lost");
  }
  if (held.empty()) return {};
  const Grounds grounds = GroundsAgainst(world, set, held, set.pinned_node);
  Wish wish{.reasons = grounds.reasons, .unsure = grounds.unsure};
  const std::set<v1::Reason> more = OfPinned(world, set, set.pinned_node, true);
  wish.reasons.insert(more.begin(), more.end());
  const Node* node = FindNode(world, set.pinned_node);
  // Whether the grace of a node that is gone holds for a pod that has not
  // started is not said; nor what a node means that cannot be read.
  if (set.pinned->node_name.empty() &&
      (node == nullptr || !node->meta.problems.empty())) {
    wish.unsure = true;
  }
  // The repair's, the refusal's, or nobody's.
  if ((!bound.empty() &&
       NodesOf(world, bound) != std::set<std::string>{set.pinned_node}) ||
      bench.IsMoved(index) || bench.IsRefused(set) || set.stuck) {
    wish.unsure = true;
  }
  return wish;
}

// Of the VMIs on the node, those that are on their way out.
Bounds EndingOn(const World& world, const std::string& node, int but) {
  Bounds count;
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (vmi == world.sets[but].vmi) continue;
    bool there = vmi->node_name == node, pinned_there = there;
    for (const auto& [uid, of] : vmi->active_pods) {
      const Pod* pod = PodByUid(world, uid);
      pinned_there =
          pinned_there || of == node ||
          (pod != nullptr && (pod->node_name == node || PinOf(*pod) == node));
    }
    if (!pinned_there) continue;
    bool asked = false;
    for (const GpuClaimSet* memory : world.memories) {
      asked = asked || memory->ended_vmi == vmi->meta.uid;
    }
    // One that has ended and is being deleted may count or not.
    if (vmi->meta.deleting && there && !Ended(*vmi)) {
      count.Add(Keeps::kNo);
    } else if (vmi->meta.deleting || asked) {
      count.Add(Keeps::kUnsure);
    }
  }
  return count;
}

Bounds EndedLately(const World& world) {
  Bounds count;
  for (const auto& [uid, at] : world.snapshot->endings) {
    const absl::Duration age = world.now - at;
    count.Add(age < kValveSpan    ? Keeps::kNo
              : age == kValveSpan ? Keeps::kUnsure
                                  : Keeps::kYes);
  }
  return count;
}

struct EndingEffects {
  int intention = -1, call = -1;
};

EndingEffects FindEnding(const Bench& bench, const SetState& set) {
  EndingEffects found;
  for (size_t i = 0; i < bench.result->effects.size(); ++i) {
    const v1::Effect& effect = bench.result->effects[i];
    if (effect.set_key() != set.key) continue;
    if (effect.write_claim_set().has_ended_vmi() &&
        !effect.write_claim_set().ended_vmi().empty()) {
      found.intention = static_cast<int>(i);
    }
    if (IsEndingCall(effect)) found.call = static_cast<int>(i);
  }
  return found;
}

// Always, Once, Halted and no VM: the VMI is deleted.
bool IsRestarted(const SetState& set) {
  return set.vm != nullptr && (set.vm->run_strategy == "RerunOnFailure" ||
                               set.vm->run_strategy == "Manual");
}

bool HoldsStop(const SetState& set) {
  return std::any_of(set.vm->state_changes.begin(), set.vm->state_changes.end(),
                     [&](const auto& change) {
                       return change.first == "Stop" &&
                              change.second == set.vmi->meta.uid;
                     });
}

// A VM that is being deleted gets no write, and ends its VMI itself.
bool IsAnswered(const SetState& set) {
  return IsRestarted(set) &&
         (HoldsStop(set) || set.vm->meta.deleting.has_value());
}

void JudgeCall(Bench& bench, const SetState& set, const v1::Effect& effect) {
  const v1::Target& target = effect.target();
  if (effect.has_restart_vm() != IsRestarted(set)) {
    return bench.Fault(set.key, "M4 ends its VMI by another call");
  }
  if (effect.has_restart_vm()) {
    if (target.uid() != set.vm->meta.uid ||
        target.resource_version() != set.vm->meta.resource_version ||
        effect.restart_vm().vmi_uid() != set.vmi->meta.uid) {
      bench.Fault(set.key, "RestartVM is not bound to VM version and VMI uid");
    }
  } else if (target.uid() != set.vmi->meta.uid) {
    bench.Fault(set.key, "deletes another VMI than its own");
  }
}

// Asked for before: repeated for as long as it has had no effect; in the next
// pass where this one has moved a part of the set.
void JudgeRepeat(Bench& bench, int index, const EndingEffects& found) {
  const SetState& set = bench.world.sets[index];
  const bool due = !IsAnswered(set);
  if (found.intention >= 0) bench.Fault(set.key, "is asked to end twice");
  if (found.call >= 0 && !due) {
    bench.Fault(set.key, "is ended though its VM ends it");
  }
  // Whether a mass loss holds a call back that was decided before is not said.
  if (found.call < 0 && due && !bench.IsMoved(index) &&
      !bench.result->mass_loss) {
    bench.Fault(set.key, "M4 repeats the call, the pass does not");
  }
}

void JudgeValve(Bench& bench, int index, const Wish& wish,
                const EndingEffects& found, Bounds& lately,
                std::map<std::string, int64_t>& on_node) {
  const SetState& set = bench.world.sets[index];
  const Config& config = bench.world.snapshot->config;
  Bounds there = EndingOn(bench.world, set.pinned_node, index);
  there.least += on_node[set.pinned_node];
  there.most += on_node[set.pinned_node];
  // Each counts once: its memory may have been refused or taken over since.
  auto ended = bench.world.snapshot->endings.find(set.vmi->meta.uid);
  const bool counts = ended != bench.world.snapshot->endings.end() &&
                      bench.world.now - ended->second < kValveSpan;
  const bool must_not = there.least >= config.max_endings_per_node ||
                        (!counts && lately.least >= config.max_endings) ||
                        bench.result->mass_loss;
  const bool may = there.most < config.max_endings_per_node &&
                   (counts || lately.most < config.max_endings);
  const GpuClaimSet* memory = MemoryOf(bench.world, set);
  const bool remembered =
      memory != nullptr && memory->vmi_uid == set.vmi->meta.uid;
  if (found.intention >= 0) {
    if (must_not) bench.Fault(set.key, "is ended, the valve is shut");
    if (memory == nullptr) bench.Fault(set.key, "is ended without a memory");
    if (!counts) ++lately.least, ++lately.most;
    ++on_node[set.pinned_node];
  } else if (!must_not && may && remembered && !wish.unsure) {
    bench.Fault(set.key, "M4 ends its VMI, the pass does not");
  }
}

}  // namespace

bool IsToEnd(const World& world, const SetState& set) {
  return set.gated == nullptr && WasAskedToEnd(world, set);
}

bool IsEndingCall(const v1::Effect& effect) {
  return (effect.has_delete_vmi() &&
          effect.delete_vmi().reason() != v1::REJECTED_BY_NODE) ||
         (effect.has_restart_vm() &&
          effect.restart_vm().reason() != v1::REJECTED_BY_NODE);
}

std::set<v1::Reason> OfPinned(const World& world, const SetState& set,
                              const std::string& name, bool pod_rules) {
  const Node* found = FindNode(world, name);
  if (found == nullptr || set.pinned == nullptr || set.pinned_node != name ||
      !set.pinned->node_name.empty()) {
    return {};
  }
  Node node = *found;
  node.meta.labels["kubevirt.io/schedulable"] = "true";
  // A SchedulingClass that is not there says nothing of the node.
  Pod pod = *set.pinned;
  auto named = pod.meta.annotations.find(kSchedulingClassAnnotation);
  if (named != pod.meta.annotations.end() &&
      (!pod_rules || world.snapshot->Of<SchedulingClass>().Find(
                         "", named->second) == nullptr)) {
    pod.meta.annotations.erase(kSchedulingClassAnnotation);
  }
  if (!pod_rules) {
    pod.node_selector.clear();
    pod.required.reset();
  }
  std::vector<int> claims = InPhase(world, set, "Bound");
  if (claims.empty()) claims = InPhase(world, set, "Lost");
  const Ask ask{.set = static_cast<int>(&set - world.sets.data()),
                .claims = claims,
                .pod_rules = &pod,
                .rejections = false};
  std::set<v1::Reason> reasons;
  for (const Why& why : Obstacles(world, ask, node)) {
    if (why.reason == v1::NODE_BEING_DELETED) reasons.insert(v1::NODE_GONE);
    if (why.reason == v1::UNTOLERATED_TAINT) reasons.insert(v1::NODE_TAINTED);
    if (why.reason == v1::CLASS_SELECTOR_MISMATCH ||
        why.reason == v1::POD_SELECTOR_MISMATCH ||
        why.reason == v1::POD_AFFINITY_MISMATCH ||
        why.reason == v1::SCHEDULING_CLASS_MISMATCH) {
      reasons.insert(v1::NODE_MISMATCH);
    }
  }
  return reasons;
}

void JudgeEndings(Bench& bench) {
  std::map<std::string, int64_t> on_node;
  Bounds lately = EndedLately(bench.world);
  int last = -1;
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    const int index = static_cast<int>(s);
    const SetState& set = bench.world.sets[s];
    const EndingEffects found = FindEnding(bench, set);
    if (set.frozen) continue;
    if (set.pinned == nullptr || set.vmi->meta.deleting) {
      if (found.call >= 0 || found.intention >= 0) {
        bench.Fault(set.key, "is ended, no rule says so");
      }
      continue;
    }
    if (found.call >= 0) {
      JudgeCall(bench, set, bench.result->effects[found.call]);
    }
    const Wish wish = WishOf(bench, index);
    if (!wish.reasons.empty() && !wish.unsure) {
      bench.said[index] = {.reasons = {*wish.reasons.begin()}};
    }
    if (WasAskedToEnd(bench.world, set)) {
      JudgeRepeat(bench, index, found);
      continue;
    }
    if (wish.reasons.empty() && !wish.unsure) {
      if (found.call >= 0 || found.intention >= 0) {
        bench.Fault(set.key, "is ended, its node keeps it");
      }
      continue;
    }
    // A VM that is restarted already, for a refusal, is not asked again.
    const bool is_called = found.call >= 0 || IsAnswered(set);
    if ((found.intention >= 0 ? !is_called : found.call >= 0) ||
        (found.call >= 0 && found.call < found.intention) ||
        (found.call >= 0 && found.call < last)) {
      bench.Fault(set.key, "its ending comes out of turn");
    }
    last = std::max(last, found.call);
    JudgeValve(bench, index, wish, found, lately, on_node);
  }
}

}  // namespace gpubinder::naive
