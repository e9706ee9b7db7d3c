// Attachments (A), and what every write must obey.

#include <algorithm>

#include "reconciler/model/config.h"
#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

// An Attachment that rules A1 and A2 want: of a VMI, to nobody, or unchanged.
struct Hold {
  bool change = false;
  std::string uid;  // empty: released
  bool unsure = false;
};
Hold HoldOf(const World& world, int index) {
  const GpuClaim& claim = *world.claims[index].claim;
  auto taken = world.attached.find(index);
  const bool named = taken != world.attached.end();
  if (claim.meta.deleting) return {};
  if (!claim.attached_to.has_value()) {
    if (!named) return {};
    return {.change = true,
            .uid = taken->second->meta.uid,
            .unsure = taken->second->meta.deleting.has_value()};
  }
  const Attachment& held = *claim.attached_to;
  const VirtualMachineInstance* holder = HolderOf(world, claim);
  if (holder != nullptr) {
    return {.change = held.uid.empty(), .uid = holder->meta.uid};
  }
  if (named) {
    return {.change = true,
            .uid = taken->second->meta.uid,
            .unsure = taken->second->meta.name != held.name};
  }
  if (!held.uid.empty()) return {.change = true};
  if (VmiByName(world, claim.meta.name_space, held.name) != nullptr) {
    return {.change = true};
  }
  auto seen = world.snapshot->attached_since.find(claim.meta.uid);
  if (seen == world.snapshot->attached_since.end()) return {.unsure = true};
  const absl::Time since = std::max(held.since, seen->second);
  return {.change =
              world.now - since >= world.snapshot->config.attachment_grace};
}

void JudgeHold(Bench& bench, int index) {
  const World& world = bench.world;
  const ClaimState& state = world.claims[index];
  if (state.claim == &world.not_yet) return;
  const std::string& uid = state.claim->meta.uid;
  const std::string key = state.set < 0 ? "no set" : world.sets[state.set].key;
  bool attached = false, released = false;
  std::string to;
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() != uid) continue;
    if (effect.has_attach_claim()) to = effect.attach_claim().uid();
    attached = attached || effect.has_attach_claim();
    released = released || effect.has_release_claim();
  }
  if (state.set >= 0 && world.sets[state.set].frozen) {
    if (attached || released) bench.Fault(key, "is frozen and was attached");
    return;
  }
  if (state.set < 0 || !world.snapshot->Serves(Kind::kVirtualMachineInstance)) {
    return;
  }
  const Hold hold = HoldOf(world, index);
  if (hold.unsure) return;
  const bool attach = hold.change && !hold.uid.empty();
  const bool release = hold.change && hold.uid.empty();
  if (attach != attached || release != released || (attach && to != hold.uid)) {
    bench.Fault(key, "A wants " + state.claim->meta.name + " to be " +
                         (attach    ? "attached to " + hold.uid
                          : release ? "released"
                                    : "left with its holder") +
                         ", the pass " +
                         (attached   ? "attaches it to " + to
                          : released ? "releases it"
                                     : "does nothing"));
  }
}

const ObjectMeta* TargetMeta(const Snapshot& snapshot,
                             const v1::Target& target) {
  const std::optional<Kind> kind = KindByName(target.kind());
  const ObjectMeta* meta = nullptr;
  auto look = [&](const auto& table, Kind of) {
    if (kind != of) return;
    const auto* found = table.Find(target.namespace_(), target.name());
    if (found != nullptr) meta = &found->meta;
  };
  look(snapshot.classes(), Kind::kGpuClass);
  look(snapshot.claims(), Kind::kGpuClaim);
  look(snapshot.claim_sets(), Kind::kGpuClaimSet);
  look(snapshot.vms(), Kind::kVirtualMachine);
  look(snapshot.vmis(), Kind::kVirtualMachineInstance);
  look(snapshot.pods(), Kind::kPod);
  return meta;
}

// P5, P8: only pods that their VMI lists, and no migration target.
void JudgePodWrite(Bench& bench, const v1::Effect& effect) {
  const World& world = bench.world;
  const std::string& uid = effect.target().uid();
  const Pod* pod = PodByUid(world, uid);
  for (const SetState& set : world.sets) {
    if (pod == nullptr || set.vmi == nullptr) continue;
    if (!set.vmi->active_pods.contains(uid)) continue;
    if (effect.has_pin_pod() && set.gated != pod) {
      bench.Fault(set.key, "pins a pod that is not its gated launcher");
    }
    if (effect.has_delete_pod() && set.pinned != pod) {
      bench.Fault(set.key, "deletes a pod that is not its pinned launcher");
    }
    if (effect.has_delete_pod() && !IsRecorded(world, set, uid)) {
      bench.Fault(set.key, "deletes a pod without a rejection of it");
    }
    return;
  }
  bench.Fault(uid, "is written, and no live VMI lists it");
}

// H1: a claim carries its finalizer before it is bound or its VM is started.
void JudgeProtection(Bench& bench) {
  std::set<std::string> added;
  auto judge = [&](const std::string& key, const GpuClaim& claim) {
    const std::vector<std::string>& has = claim.meta.finalizers;
    if (std::find(has.begin(), has.end(), kClaimFinalizer) == has.end() &&
        !added.contains(claim.meta.uid)) {
      bench.Fault(key, "uses " + claim.meta.name + " without its finalizer");
    }
  };
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.has_add_finalizer()) added.insert(effect.target().uid());
    if (!effect.has_bind_claim() && !effect.has_pin_pod()) continue;
    for (const SetState& set : bench.world.sets) {
      if (set.key != effect.set_key()) continue;
      for (const int member : set.members) {
        const GpuClaim& claim = *bench.world.claims[member].claim;
        const bool bound = effect.target().uid() == claim.meta.uid;
        if (effect.has_pin_pod() || bound) judge(set.key, claim);
      }
    }
  }
}

void JudgeOrderInSet(Bench& bench) {
  std::map<std::string, std::string> called;
  std::map<std::string, int> pinned;
  bool others = false;
  for (const v1::Effect& effect : bench.result->effects) {
    const std::string& key = effect.set_key();
    if (effect.has_add_finalizer() && effect.target().kind() == "GPUClass" &&
        others) {
      bench.Fault(effect.target().name(), "its finalizer is not the first");
    }
    others = others || !effect.has_add_finalizer();
    if (effect.has_bind_claim() && pinned.contains(key)) {
      bench.Fault(key, "binds after it has pinned");
    }
    if (effect.has_pin_pod()) pinned[key] = 1;
    if (effect.has_record_rejection() && called.contains(key)) {
      bench.Fault(key, "records a rejection after " + called[key]);
    }
    if (!CallOf(effect).empty()) called[key] = CallOf(effect);
  }
}

}  // namespace

void JudgeAttachments(Bench& bench) {
  for (size_t c = 0; c < bench.world.claims.size(); ++c) {
    JudgeHold(bench, static_cast<int>(c));
  }
}

void JudgeWrites(Bench& bench) {
  const Snapshot& snapshot = *bench.world.snapshot;
  JudgeOrderInSet(bench);
  JudgeProtection(bench);
  for (const v1::Effect& effect : bench.result->effects) {
    const v1::Target& target = effect.target();
    const ObjectMeta* meta = TargetMeta(snapshot, target);
    if (meta != nullptr && meta->deleting.has_value() &&
        !effect.has_remove_finalizer() && !effect.has_emit_warning() &&
        !effect.has_write_usage_record() && !effect.has_delete_usage_record()) {
      bench.Fault(target.name(), "is being deleted and gets a write");
    }
    if (effect.has_pin_pod() || effect.has_delete_pod()) {
      JudgePodWrite(bench, effect);
    }
  }
  for (const SetState& set : bench.world.sets) {
    if (!set.frozen) continue;
    for (const v1::Effect& effect : bench.result->effects) {
      if (effect.set_key() == set.key) {
        bench.Fault(set.key, "is frozen and gets a write");
      }
    }
  }
  for (const auto& [key, names] : bench.made) {
    for (const std::string& name : names) {
      bool wanted = false;
      for (const SetState& set : bench.world.sets) {
        for (const Wanted& one : set.missing) {
          wanted = wanted || (set.key == key && one.name == name);
        }
      }
      if (!wanted) bench.Fault(key, "makes " + name + ", which is not named");
    }
  }
}

}  // namespace gpubinder::naive
