#include <algorithm>

#include "reconciler/naive/naive.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

bool HoldsGate(const Pod& pod) {
  return std::find(pod.gates.begin(), pod.gates.end(), kGate) !=
         pod.gates.end();
}

bool Older(const Pod& a, const Pod* b) {
  return b == nullptr || a.meta.created < b->meta.created ||
         (a.meta.created == b->meta.created && a.meta.name < b->meta.name);
}

// C5 and G1: only what the VMI lists, no migration target, none that ended.
void FindLauncher(const World& world, SetState& set) {
  const VirtualMachineInstance& vmi = *set.vmi;
  for (const auto& [uid, node] : vmi.active_pods) {
    const Pod* pod = PodByUid(world, uid);
    if (pod == nullptr || Ended(*pod) || IsTargetPod(*pod, vmi)) continue;
    if (pod->meta.name_space != vmi.meta.name_space) continue;
    if (HoldsGate(*pod)) {
      if (!pod->meta.deleting && Older(*pod, set.gated)) set.gated = pod;
      continue;
    }
    const std::string place =
        pod->node_name.empty() ? PinOf(*pod) : pod->node_name;
    if (place.empty()) {
      if (!pod->meta.deleting) set.loose = pod;
    } else if (set.pinned == nullptr || place == vmi.node_name ||
               (set.pinned_node != vmi.node_name && Older(*pod, set.pinned))) {
      set.pinned = pod;
      set.pinned_node = place;
    }
  }
  if (set.pinned != nullptr) set.gated = set.loose = nullptr;
  if (set.gated != nullptr) set.loose = nullptr;
}

std::string TemplateName(const VirtualMachineInstance& vmi, size_t index) {
  const std::string tail =
      "-" + std::to_string(index) + "-" + ShorterDigest(vmi.meta.uid);
  std::string head = vmi.meta.name.substr(0, 63 - tail.size());
  if (head.size() < vmi.meta.name.size()) {
    while (head.back() == '.' || head.back() == '-') head.pop_back();
  }
  return head + tail;
}

int FindClaim(const World& world, const std::string& name_space,
              const std::string& name) {
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const ObjectMeta& meta = world.claims[i].claim->meta;
    if (meta.name_space == name_space && meta.name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// Whether nobody holds the claim, once A1 and A2 have let go of it.
bool IsFree(const World& world, const GpuClaim& claim) {
  if (!MadeFor(claim).empty()) return false;
  if (!claim.attached_to.has_value()) return true;
  if (HolderOf(world, claim) != nullptr) return false;
  if (!claim.attached_to->uid.empty()) return true;
  return VmiByName(world, claim.meta.name_space, claim.attached_to->name) !=
         nullptr;
}

// Without a uid an attachment counts as the named VMI's (A1): the VM of that
// name is about to start it.
bool AwaitsVmiOf(const SetState& set, const GpuClaim& claim) {
  return set.vmi == nullptr && MadeFor(claim).empty() &&
         claim.attached_to.has_value() && claim.attached_to->uid.empty() &&
         claim.attached_to->name == set.name;
}

void Join(World& world, int set, int claim) {
  ClaimState& state = world.claims[claim];
  if (state.set >= 0) return;
  state.set = set;
  SetState& found = world.sets[set];
  if (state.claim->meta.deleting.has_value()) {
    found.leaving.push_back(claim);
  } else {
    found.members.push_back(claim);
  }
}

// The free claims of an annotation that is still read.
void TakeNamed(World& world, int index, const ClaimsAnnotation& claims) {
  for (const ClaimEntry& entry : claims.entries) {
    if (entry.claim_name.empty()) continue;
    const int claim =
        FindClaim(world, world.sets[index].name_space, entry.claim_name);
    if (claim < 0) continue;
    const GpuClaim& named = *world.claims[claim].claim;
    if (!IsFree(world, named) && !AwaitsVmiOf(world.sets[index], named)) {
      continue;
    }
    if (world.claims[claim].set >= 0) continue;
    if (world.sets[index].vmi != nullptr &&
        !world.claims[claim].claim->meta.deleting) {
      world.attached[claim] = world.sets[index].vmi;
    }
    Join(world, index, claim);
  }
}

void FindVmiSets(World& world) {
  for (const VirtualMachineInstance* vmi : world.vmis) {
    if (Ended(*vmi)) continue;
    SetState set{.name_space = vmi->meta.name_space,
                 .name = vmi->meta.name,
                 .of_vm = true,
                 .vmi = vmi};
    set.key = set.name_space + "/" + set.name;
    // Its VM adopts it.
    if (vmi->meta.owners.empty()) {
      set.vm = VmByName(world, vmi->meta.name_space, vmi->meta.name);
    }
    for (const OwnerReference& owner : vmi->meta.owners) {
      const VirtualMachine* vm =
          VmByName(world, vmi->meta.name_space, owner.name);
      if (owner.kind == "VirtualMachine" && vm != nullptr &&
          vm->meta.uid == owner.uid) {
        set.vm = vm;
      }
    }
    FindLauncher(world, set);
    world.sets.push_back(set);
  }
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const GpuClaim& claim = *world.claims[i].claim;
    for (size_t s = 0; s < world.sets.size(); ++s) {
      if (HolderOf(world, claim) == world.sets[s].vmi ||
          MadeFor(claim) == world.sets[s].vmi->meta.uid) {
        Join(world, static_cast<int>(s), static_cast<int>(i));
      }
    }
  }
  std::vector<int> order;
  for (size_t s = 0; s < world.sets.size(); ++s) {
    if (world.sets[s].pinned == nullptr) order.push_back(static_cast<int>(s));
  }
  auto rank = [&](int s) {
    const SetState& set = world.sets[s];
    return std::make_tuple(
        set.gated == nullptr,
        set.gated == nullptr ? set.vmi->meta.created : set.gated->meta.created,
        set.name);
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return rank(a) < rank(b); });
  for (const int s : order) TakeNamed(world, s, world.sets[s].vmi->claims);
}

void FindVmSets(World& world) {
  std::vector<const VirtualMachine*> stopped;
  for (const VirtualMachine* vm : world.vms) {
    const VirtualMachineInstance* vmi =
        VmiByName(world, vm->meta.name_space, vm->meta.name);
    if (vmi == nullptr || Ended(*vmi)) stopped.push_back(vm);
  }
  std::sort(stopped.begin(), stopped.end(),
            [](const VirtualMachine* a, const VirtualMachine* b) {
              return std::tie(a->meta.created, a->meta.name) <
                     std::tie(b->meta.created, b->meta.name);
            });
  for (const VirtualMachine* vm : stopped) {
    SetState set{.name_space = vm->meta.name_space,
                 .name = vm->meta.name,
                 .of_vm = true,
                 .vm = vm};
    set.key = set.name_space + "/" + set.name;
    world.sets.push_back(set);
    TakeNamed(world, static_cast<int>(world.sets.size()) - 1, vm->claims);
  }
}

void FindOrders(World& world) {
  for (size_t i = 0; i < world.claims.size(); ++i) {
    const GpuClaim& claim = *world.claims[i].claim;
    if (world.claims[i].set >= 0 || !MadeFor(claim).empty()) continue;
    SetState set{.name_space = claim.meta.name_space, .name = claim.meta.name};
    set.key = set.name_space + "/claim:" + set.name;
    world.sets.push_back(set);
    Join(world, static_cast<int>(world.sets.size()) - 1, static_cast<int>(i));
  }
}

bool IsEntitled(const World& world, std::string space) {
  const std::string& prefix = world.snapshot->config.tenant_prefix;
  while (true) {
    for (const Namespace* found : world.namespaces) {
      auto label = found->meta.labels.find(kVgpuLabel);
      if (found->meta.name == space && label != found->meta.labels.end()) {
        return label->second == "true";
      }
    }
    const std::string root = prefix + "root";
    if (space.compare(0, prefix.size(), prefix) != 0 || space == root) {
      return false;
    }
    const size_t dash = space.rfind('-');
    space = dash < prefix.size() ? root : space.substr(0, dash);
  }
}

void JudgeClass(const World& world, SetState& set, const std::string& claim,
                const std::string& name, int64_t units) {
  const GpuClass* of = FindClass(world, name);
  if (of == nullptr) {
    set.problems.insert({v1::CLASS_NOT_FOUND, claim + " " + name});
    return;
  }
  if (!of->meta.problems.empty()) {
    set.problems.insert({v1::MALFORMED_OBJECT, "GPUClass " + name});
  }
  if (of->meta.deleting.has_value()) {
    set.order_problems.insert({v1::CLASS_BEING_DELETED, name});
  }
  if (units > of->max_count) {
    set.order_problems.insert({v1::COUNT_ABOVE_MAXIMUM, claim + " " + name});
  }
  if (of->type == "VGPU" && !IsEntitled(world, set.name_space)) {
    set.order_problems.insert({v1::NOT_ENTITLED, name});
  }
}

void JudgeEntries(World& world, int index, const ClaimsAnnotation& claims) {
  SetState& set = world.sets[index];
  if (!claims.error.empty()) set.problems.insert({v1::INVALID_CLAIMS, ""});
  for (size_t i = 0; i < claims.entries.size(); ++i) {
    const ClaimEntry& entry = claims.entries[i];
    if (entry.claim_name.empty()) {
      if (set.vmi == nullptr) continue;
      const std::string name = TemplateName(*set.vmi, i);
      const int found = FindClaim(world, set.name_space, name);
      if (found < 0) {
        set.missing.push_back({name, entry.class_name, entry.units});
        JudgeClass(world, set, name, entry.class_name, entry.units);
      } else if (MadeFor(*world.claims[found].claim) != set.vmi->meta.uid) {
        set.problems.insert({v1::NAME_TAKEN, name});
      }
      continue;
    }
    const int found = FindClaim(world, set.name_space, entry.claim_name);
    // A template claim is nobody's to name.
    const bool of_template =
        found >= 0 && !MadeFor(*world.claims[found].claim).empty();
    const bool others =
        found < 0 || world.claims[found].set != index || of_template;
    if (others && set.vmi == nullptr) {
      set.names_others = true;
    } else if (found < 0) {
      set.problems.insert({v1::CLAIM_NOT_FOUND, entry.claim_name});
    } else if (others) {
      set.problems.insert({v1::CLAIM_ATTACHED_ELSEWHERE, entry.claim_name});
    }
  }
}

void JudgeSet(World& world, int index) {
  SetState& set = world.sets[index];
  if (set.vmi != nullptr && set.pinned == nullptr) {
    JudgeEntries(world, index, set.vmi->claims);
  } else if (set.vmi == nullptr && set.vm != nullptr) {
    JudgeEntries(world, index, set.vm->claims);
  }
  for (const int claim : set.leaving) {
    set.start_problems.insert(
        {v1::CLAIM_BEING_DELETED, world.claims[claim].claim->meta.name});
  }
  for (const int index_of : set.members) {
    const GpuClaim& claim = *world.claims[index_of].claim;
    const bool malformed =
        ClaimIsMalformed(claim) || !claim.meta.problems.empty();
    const GpuClass* of = FindClass(world, claim.class_name);
    if (world.claims[index_of].phase != "Pending" &&
        (malformed || of == nullptr || !of->meta.problems.empty())) {
      set.stuck = true;
    }
    if (malformed) {
      set.problems.insert(
          {v1::MALFORMED_OBJECT,
           "GPUClaim " + claim.meta.name_space + "/" + claim.meta.name});
    }
    // What a malformed one asks for cannot be told from it.
    if (!malformed) {
      JudgeClass(world, set, claim.meta.name, claim.class_name, claim.units);
    }
    if (set.gated == nullptr) {
      set.age = std::min(set.age, claim.meta.created);
    }
  }
  if (set.vmi != nullptr && !set.vmi->meta.problems.empty()) {
    set.stuck = true;
    set.problems.insert({v1::MALFORMED_OBJECT, "VirtualMachineInstance " +
                                                   set.name_space + "/" +
                                                   set.vmi->meta.name});
  }
  if (set.gated == nullptr) return;
  set.age = set.gated->meta.created;
  if (!set.gated->meta.problems.empty()) {
    set.stuck = true;
    set.problems.insert({v1::MALFORMED_OBJECT,
                         "Pod " + set.name_space + "/" + set.gated->meta.name});
  }
}

void SortByAge(World& world) {
  std::sort(world.sets.begin(), world.sets.end(),
            [](const SetState& a, const SetState& b) {
              return std::tie(a.age, a.name_space, a.name) <
                     std::tie(b.age, b.name_space, b.name);
            });
  for (size_t s = 0; s < world.sets.size(); ++s) {
    for (const int claim : world.sets[s].members) {
      world.claims[claim].set = static_cast<int>(s);
    }
    for (const int claim : world.sets[s].leaving) {
      world.claims[claim].set = static_cast<int>(s);
    }
  }
}

}  // namespace

std::string PinOf(const Pod& pod) {
  std::string node;
  if (HoldsGate(pod) || !pod.required.has_value()) return "";
  for (const SelectorTerm& term : pod.required->terms) {
    if (term.expressions.empty() && term.fields.empty()) continue;
    std::set<std::string> named;
    for (const Requirement& field : term.fields) {
      if (field.key == "metadata.name" && field.op == "In" &&
          field.values.size() == 1) {
        named.insert(field.values[0]);
      }
    }
    if (named.size() != 1 || (!node.empty() && !named.contains(node))) {
      return "";
    }
    node = *named.begin();
  }
  return node;
}

std::string MadeFor(const GpuClaim& claim) {
  // Whoever may label a claim may not attach it.
  if (claim.attached_to.has_value()) return "";
  if (!claim.meta.labels.contains(kTemplateClaimLabel)) return "";
  for (const OwnerReference& owner : claim.meta.owners) {
    if (owner.kind == "VirtualMachineInstance") return owner.uid;
  }
  return "";
}

const VirtualMachineInstance* HolderOf(const World& world,
                                       const GpuClaim& claim) {
  if (!claim.attached_to.has_value()) return nullptr;
  const Attachment& held = *claim.attached_to;
  const VirtualMachineInstance* vmi =
      held.uid.empty() ? VmiByName(world, claim.meta.name_space, held.name)
                       : VmiByUid(world, held.uid);
  if (vmi == nullptr || Ended(*vmi)) return nullptr;
  return vmi->meta.name_space == claim.meta.name_space ? vmi : nullptr;
}

bool ClaimIsMalformed(const GpuClaim& claim) {
  for (const FieldProblem& problem : claim.meta.problems) {
    if (problem.field.compare(0, 4, "spec") == 0) return true;
  }
  return claim.units < 1 || claim.units > 64 || claim.class_name.empty();
}

void FindSets(World& world) {
  FindVmiSets(world);
  FindVmSets(world);
  FindOrders(world);
  for (size_t s = 0; s < world.sets.size(); ++s) {
    JudgeSet(world, static_cast<int>(s));
  }
  SortByAge(world);
}

}  // namespace gpubinder::naive
