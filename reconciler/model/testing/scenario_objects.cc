#include "reconciler/model/testing/scenario_objects.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gpubinder {
namespace {

bool IsOfCluster(Kind kind) {
  return kind == Kind::kNode || kind == Kind::kGpuClass ||
         kind == Kind::kNamespace || kind == Kind::kPersistentVolume ||
         kind == Kind::kSchedulingClass;
}

ClaimsAnnotation ClaimsOf(absl::string_view text) {
  ClaimsAnnotation claims{.present = true};
  for (const std::string& item : SplitList(text)) {
    const std::vector<std::string> parts = absl::StrSplit(item, '*');
    if (parts.size() == 1) {
      claims.entries.push_back({.claim_name = item});
    } else {
      claims.entries.push_back(
          {.class_name = parts[0], .units = NumberOf(parts[1])});
    }
  }
  return claims;
}

void Fill(const ScenarioServer&, Words& words, Node& node) {
  if (node.meta.uid.empty()) {
    node.conditions = {{.type = "Ready", .status = "True"}};
    node.meta.labels["kubevirt.io/schedulable"] = "true";
  }
  if (auto virt = words.Take("virt")) {
    node.meta.labels["kubevirt.io/schedulable"] = *virt;
    if (*virt == "none") node.meta.labels.erase("kubevirt.io/schedulable");
  }
  if (words.TakeFlag("cordoned")) node.unschedulable = true;
  if (words.TakeFlag("uncordoned")) node.unschedulable = false;
  if (auto taint = words.Take("taint")) node.taints = TaintsOf(*taint);
  for (const auto& [name, units] : words.TakeResources()) {
    node.allocatable[name] = units;
    if (units == "none") node.allocatable.erase(name);
  }
}

void Fill(const ScenarioServer&, Words& words, GpuClass& found) {
  if (found.meta.uid.empty()) {
    found.resource_name =
        ResourceOfShort(absl::AsciiStrToUpper(found.meta.name));
    if (!words.TakeFlag("bare")) {
      found.meta.finalizers = {kClassFinalizer};
      found.conditions = {{.type = "Ready",
                           .status = "True",
                           .reason = "Serving",
                           .message = "Serving",
                           .observed_generation = 1}};
    }
  }
  if (auto name = words.Take("resource")) {
    found.resource_name = ResourceOfShort(*name);
  }
  if (auto most = words.Take("max")) found.max_count = NumberOf(*most);
  if (auto type = words.Take("type")) found.type = *type;
  if (auto selector = words.Take("selector")) {
    found.node_selector = LabelsOf(*selector);
  }
  if (auto tolerate = words.Take("tolerate")) {
    found.tolerations = TolerationsOf(*tolerate);
  }
  if (auto cordon = words.Take("oncordon")) found.on_cordon = *cordon;
}

void FillPlace(Words& words, GpuClaim& claim) {
  if (auto node = words.Take("node")) {
    claim.phase = "Bound";
    claim.node_name = *node;
    claim.bound_at = claim.meta.created;
    if (words.TakeFlag("undated")) claim.bound_at.reset();
    SetCondition({.type = "Bound",
                  .status = "True",
                  .reason = "Placed",
                  .message = absl::StrCat("Placed on ", *node)},
                 claim.conditions);
  }
  if (auto reason = words.Take("lost")) {
    claim.phase = "Lost";
    claim.node_name.clear();
    claim.bound_at.reset();
    SetCondition({.type = "Bound",
                  .status = "False",
                  .reason = *reason,
                  .message = *reason},
                 claim.conditions);
  }
}

void Fill(const ScenarioServer& server, Words& words, GpuClaim& claim) {
  if (claim.meta.uid.empty() && !words.TakeFlag("bare")) {
    claim.meta.finalizers = {kClaimFinalizer};
  }
  if (auto name = words.Take("class")) claim.class_name = *name;
  if (auto count = words.Take("count")) claim.units = NumberOf(*count);
  FillPlace(words, claim);
  if (auto name = words.Take("resource")) {
    claim.resource_name = ResourceOfShort(*name);
  }
  if (auto name = words.Take("vmi")) {
    const Object* vmi = server.Find(Kind::kVirtualMachineInstance,
                                    claim.meta.name_space, *name);
    claim.attached_to =
        Attachment{.name = *name,
                   .uid = vmi == nullptr ? "uid-nobody" : MetaOf(*vmi).uid,
                   .since = claim.meta.created};
  }
  // As the VMI webhook does it: without a uid, by its own clock.
  if (auto name = words.Take("attached")) {
    claim.attached_to = Attachment{.name = *name, .since = claim.meta.created};
  }
  if (auto name = words.Take("templateof")) {
    const Object* vmi = server.Find(Kind::kVirtualMachineInstance,
                                    claim.meta.name_space, *name);
    claim.meta.labels[kTemplateClaimLabel] = *name;
    claim.meta.owners = {{.api_version = "kubevirt.io/v1",
                          .kind = "VirtualMachineInstance",
                          .name = *name,
                          .uid = vmi == nullptr ? "" : MetaOf(*vmi).uid}};
  }
}

void Fill(const ScenarioServer&, Words& words, GpuClaimSet& set) {
  if (auto claims = words.Take("claims")) set.claims = SplitList(*claims);
  if (auto node = words.Take("node")) set.node_name = *node;
  if (auto reason = words.Take("reason")) set.reason = *reason;
  if (auto owner = words.Take("owneruid")) {
    set.meta.owners = {{.api_version = "kubevirt.io/v1",
                        .kind = "VirtualMachine",
                        .name = set.meta.name,
                        .uid = *owner}};
  }
}

void Fill(const ScenarioServer&, Words& words, VirtualMachine& vm) {
  if (vm.meta.uid.empty()) vm.run_strategy = "Always";
  if (auto strategy = words.Take("strategy")) vm.run_strategy = *strategy;
  if (auto claims = words.Take("claims")) vm.claims = ClaimsOf(*claims);
  if (auto volumes = words.Take("volumes")) {
    vm.volume_claims = SplitList(*volumes);
  }
}

void Own(const ScenarioServer& server, Words& words,
         VirtualMachineInstance& vmi) {
  if (auto kind = words.Take("owner")) {
    vmi.meta.owners = {{.kind = *kind,
                        .name = "set",
                        .uid = "uid-set",
                        .controller = !words.TakeFlag("uncontrolled")}};
    return;
  }
  const Object* vm =
      server.Find(Kind::kVirtualMachine, vmi.meta.name_space, vmi.meta.name);
  if (vm == nullptr || !vmi.meta.uid.empty()) return;
  vmi.meta.owners = {{.api_version = "kubevirt.io/v1",
                      .kind = "VirtualMachine",
                      .name = vmi.meta.name,
                      .uid = MetaOf(*vm).uid,
                      .controller = true}};
  vmi.claims = std::get<VirtualMachine>(*vm).claims;
  vmi.volume_claims = std::get<VirtualMachine>(*vm).volume_claims;
}

void Fill(const ScenarioServer& server, Words& words,
          VirtualMachineInstance& vmi) {
  Own(server, words, vmi);
  // As KubeVirt says it when its pod was refused.
  if (auto message = words.Take("refused")) {
    SetCondition({.type = "Synchronized",
                  .status = message->empty() ? "True" : "False",
                  .reason = message->empty() ? "" : "FailedCreate",
                  .message = *message},
                 vmi.conditions);
  }
  if (auto claims = words.Take("claims")) vmi.claims = ClaimsOf(*claims);
  if (auto error = words.Take("error")) {
    vmi.claims = {.present = true, .error = *error};
  }
  if (auto phase = words.Take("phase")) vmi.phase = *phase;
  if (auto node = words.Take("node")) vmi.node_name = *node;
  if (auto volumes = words.Take("volumes")) {
    vmi.volume_claims = SplitList(*volumes);
  }
  if (auto volumes = words.Take("hotplug")) {
    vmi.hotplug_claims = SplitList(*volumes);
  }
}

void FillAffinity(Words& words, Pod& pod) {
  if (auto terms = words.Take("terms")) {
    pod.required = TermsOf(*terms);
    pod.has_affinity = pod.has_node_affinity = true;
  }
  if (words.TakeFlag("podaffinity")) pod.has_affinity = true;
  if (words.TakeFlag("preferred")) {
    pod.has_affinity = pod.has_node_affinity = true;
  }
  // As our pin leaves a pod that had no terms.
  if (auto node = words.Take("pinned")) {
    pod.required = TermsOf(absl::StrCat("@name=", *node));
    pod.has_affinity = pod.has_node_affinity = true;
    pod.gates.clear();
  }
}

void FillStatus(Words& words, Pod& pod) {
  if (auto phase = words.Take("phase")) pod.phase = *phase;
  if (auto reason = words.Take("reason")) pod.reason = *reason;
  if (auto node = words.Take("node")) pod.node_name = *node;
  if (auto node = words.Take("nominated")) pod.nominated_node = *node;
  const int64_t generation = words.TakeFlag("stale") ? 1 : 0;
  if (auto message = words.Take("scheduler")) {
    SetCondition({.type = "PodScheduled",
                  .status = "False",
                  .reason = "Unschedulable",
                  .message = *message,
                  .observed_generation = generation},
                 pod.conditions);
    if (message->empty()) pod.conditions.clear();
  }
}

void Fill(const ScenarioServer& server, Words& words, Pod& pod) {
  const bool fresh = pod.meta.uid.empty();
  if (auto name = words.Take("vmi")) {
    const Object* vmi =
        server.Find(Kind::kVirtualMachineInstance, pod.meta.name_space, *name);
    pod.meta.owners = {{.api_version = "kubevirt.io/v1",
                        .kind = "VirtualMachineInstance",
                        .name = *name,
                        .uid = vmi == nullptr ? "" : MetaOf(*vmi).uid,
                        .controller = true}};
  }
  if (fresh) pod.containers = {{.name = "compute"}};
  const ResourceList requests = words.TakeResources();
  if (!requests.empty()) pod.containers[0].requests = requests;
  if (words.TakeFlag("gated")) pod.gates = {kGate};
  if (auto gates = words.Take("gates")) {
    pod.gates = SplitList(*gates);
    for (std::string& gate : pod.gates) {
      if (gate == "ours") gate = kGate;
    }
  }
  FillAffinity(words, pod);
  FillStatus(words, pod);
  if (auto selector = words.Take("selector")) {
    pod.node_selector = LabelsOf(*selector);
  }
  if (auto tolerate = words.Take("tolerate")) {
    pod.tolerations = TolerationsOf(*tolerate);
  }
  if (auto volumes = words.Take("volumes")) {
    pod.volume_claims = SplitList(*volumes);
  }
  if (auto name = words.Take("schedulingclass")) {
    pod.meta.annotations[kSchedulingClassAnnotation] = *name;
  }
  if (words.TakeFlag("migration")) pod.meta.labels[kMigrationLabel] = "job";
  if (words.TakeFlag("provisioning")) {
    pod.meta.annotations[kProvisioningAnnotation] = "true";
  }
}

// Durations say how long ago.
void FillReadiness(absl::Time now, Words& words, Node& node) {
  if (auto ready = words.Take("ready")) {
    absl::Duration ago = absl::ZeroDuration();
    if (auto text = words.Take("since")) absl::ParseDuration(*text, &ago);
    node.conditions = {
        {.type = "Ready", .status = *ready, .last_transition = now - ago}};
  }
  if (auto text = words.Take("heartbeat")) {
    absl::Duration ago = absl::ZeroDuration();
    absl::ParseDuration(*text, &ago);
    node.meta.annotations[kKubeVirtHeartbeat] =
        absl::FormatTime(absl::RFC3339_sec, now - ago, absl::UTCTimeZone());
  }
}

void FillMeta(absl::Time now, Words& words, ObjectMeta& meta) {
  if (auto uid = words.Take("uid")) meta.uid = *uid;
  if (auto labels = words.Take("labels")) {
    for (const auto& [key, value] : LabelsOf(*labels)) meta.labels[key] = value;
  }
  if (auto finalizers = words.Take("finalizers")) {
    meta.finalizers = SplitList(*finalizers);
  }
  if (auto number = words.Take("generation")) {
    meta.generation = NumberOf(*number);
  }
  if (words.TakeFlag("deleting")) meta.deleting = now;
  if (auto field = words.Take("malformed")) {
    meta.problems = {{.field = *field, .message = "cannot be read"}};
    if (field->empty()) meta.problems.clear();
  }
}

template <size_t... I>
Object EmptyObject(Kind kind, std::index_sequence<I...>) {
  Object object;
  (void)((static_cast<size_t>(kind) == I ? (object.emplace<I>(), true)
                                         : false) ||
         ...);
  return object;
}

}  // namespace

std::optional<Kind> KindOfCommand(absl::string_view verb) {
  for (int i = 0; i < kKinds; ++i) {
    if (kKindWords[i] == verb) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

std::pair<std::string, std::string> NameOf(Kind kind, absl::string_view text) {
  if (IsOfCluster(kind)) return {"", std::string(text)};
  return SplitName(text);
}

Object Describe(Kind kind, const std::string& name,
                const ScenarioServer& server, absl::Time now, Words& words) {
  const std::pair<std::string, std::string> full = NameOf(kind, name);
  const Object* there = server.Find(kind, full.first, full.second);
  Object object = there != nullptr
                      ? *there
                      : EmptyObject(kind, std::make_index_sequence<kKinds>());
  std::visit(
      [&](auto& o) {
        o.meta.name_space = full.first;
        o.meta.name = full.second;
        if (o.meta.uid.empty()) {
          o.meta.created = now;
          o.meta.generation = 1;
        }
        Fill(server, words, o);
        if constexpr (std::is_same_v<std::decay_t<decltype(o)>, Node>) {
          FillReadiness(now, words, o);
        }
        FillMeta(now, words, o.meta);
        if constexpr (requires { o.conditions; }) {
          TakeCondition(words, o.meta.generation, o.conditions);
        }
      },
      object);
  return object;
}

void ListPod(const Pod& pod, VirtualMachineInstance& vmi) {
  vmi.active_pods[pod.meta.uid] = pod.node_name;
}

}  // namespace gpubinder
