// What happens to nodes and VMs of a large cluster.

#include <algorithm>
#include <array>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "reconciler/model/config.h"
#include "reconciler/naive/large_scope.h"

namespace gpubinder::naive {
namespace {

template <typename T>
constexpr Kind KindOfType() {
  return static_cast<Kind>(Object(T()).index());
}

std::string FullName(const ObjectMeta& meta) {
  return meta.name_space.empty()
             ? meta.name
             : absl::StrCat(meta.name_space, "/", meta.name);
}

bool IsOver(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}
bool IsOver(const VirtualMachineInstance& vmi) {
  return vmi.phase == "Succeeded" || vmi.phase == "Failed";
}

// The node of our pin; empty while the pod is gated or was let go without.
std::string PinOf(const Pod& pod) {
  if (!pod.gates.empty() || !pod.required.has_value()) return "";
  for (const SelectorTerm& term : pod.required->terms) {
    for (const Requirement& field : term.fields) {
      if (field.key == "metadata.name") return field.values[0];
    }
  }
  return "";
}

bool IsPinned(const VirtualMachineInstance&, const Pod* pod) {
  return pod != nullptr && pod->node_name.empty() && !IsOver(*pod) &&
         !PinOf(*pod).empty();
}
bool HasPod(const VirtualMachineInstance&, const Pod* pod) {
  return pod != nullptr;
}
bool Runs(const VirtualMachineInstance& vmi, const Pod* pod) {
  return pod != nullptr && vmi.phase == "Running" && !IsOver(*pod);
}
bool IsThere(const VirtualMachineInstance&, const Pod*) { return true; }
bool Lives(const VirtualMachineInstance& vmi, const Pod*) {
  return !IsOver(vmi);
}

}  // namespace

template <typename T>
const T* LargeScope::Find(const std::string& name) const {
  const std::pair<std::string, std::string> parts =
      name.find('/') == std::string::npos
          ? std::pair<std::string, std::string>("", name)
          : std::pair<std::string, std::string>(
                absl::StrSplit(name, absl::MaxSplits('/', 1)));
  const Object* found =
      runner_.server().Find(KindOfType<T>(), parts.first, parts.second);
  return found == nullptr ? nullptr : &std::get<T>(*found);
}
template const Pod* LargeScope::Find<Pod>(const std::string&) const;

// The latest of its pods that the VMI lists, one that has not ended first.
const Pod* LargeScope::LauncherOf(const std::string& vmi) const {
  const auto* found = Find<VirtualMachineInstance>(vmi);
  if (found == nullptr) return nullptr;
  const Pod* ended = nullptr;
  for (const auto& [key, object] : runner_.server().objects()) {
    const Pod* pod = std::get_if<Pod>(&object);
    if (pod == nullptr || !found->active_pods.contains(pod->meta.uid)) continue;
    if (pod->meta.labels.contains(kMigrationLabel)) continue;
    if (!IsOver(*pod)) return pod;
    ended = pod;
  }
  return ended;
}

std::string LargeScope::DemandOf(const VirtualMachineInstance& vmi) const {
  std::map<std::string, int64_t> units;
  for (const ClaimEntry& entry : vmi.claims.entries) {
    const auto* claim = Find<GpuClaim>(
        absl::StrCat(vmi.meta.name_space, "/", entry.claim_name));
    const std::string class_name = !entry.class_name.empty() ? entry.class_name
                                   : claim != nullptr        ? claim->class_name
                                                             : "";
    const auto* of = Find<GpuClass>(class_name);
    if (of == nullptr) continue;
    units[of->resource_name] += claim != nullptr ? claim->units : entry.units;
  }
  std::string text;
  for (const auto& [resource, wanted] : units) {
    absl::StrAppend(&text, " ", resource, "=", wanted);
  }
  return text;
}

std::string LargeScope::AnyVmi(bool (*holds)(const VirtualMachineInstance&,
                                             const Pod*)) {
  for (int tries = 0; tries < 6; ++tries) {
    const std::string name = Any(Kind::kVirtualMachineInstance);
    if (name.empty()) return "";
    if (holds(*Find<VirtualMachineInstance>(name), LauncherOf(name))) {
      return name;
    }
  }
  return "";
}

// The VMI, where there is none, and its launcher.
std::string LargeScope::NewLauncher(const std::string& vmi,
                                    const std::string& options) {
  if (Find<VirtualMachineInstance>(vmi) == nullptr) Do("vmi " + vmi);
  const auto* found = Find<VirtualMachineInstance>(vmi);
  const std::string pod = absl::StrCat(found->meta.name_space, "/p", ++names_,
                                       "-", found->meta.name);
  Do(absl::StrCat("pod ", pod, " vmi=", found->meta.name, DemandOf(*found), " ",
                  options));
  return pod;
}

// As the garbage collector does it.
void LargeScope::CollectOwned(const std::string& owner_uid) {
  std::vector<std::string> commands;
  for (const auto& [key, object] : runner_.server().objects()) {
    const ObjectMeta& meta = MetaOf(object);
    const bool owned = std::any_of(
        meta.owners.begin(), meta.owners.end(),
        [&](const OwnerReference& owner) { return owner.uid == owner_uid; });
    if (!owned) continue;
    if (std::holds_alternative<GpuClaim>(object)) {
      commands.push_back("delete claim " + FullName(meta));
    } else if (std::holds_alternative<GpuClaimSet>(object)) {
      commands.push_back("gone claimset " + FullName(meta));
    }
  }
  for (const std::string& command : commands) Do(command);
}

bool LargeScope::NodeUnits() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  static constexpr std::array kUnits = {"0", "none", "1",  "2",
                                        "4", "8",    "-3", "7.5"};
  Do(absl::StrCat("node ", node, dice_.OneIn(3) ? " L40S=" : " H100=",
                  kUnits[static_cast<size_t>(dice_.Below(8))]));
  return true;
}

bool LargeScope::NodeTaint() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  static constexpr std::array kTaints = {
      "",
      "",
      "k=v:NoSchedule",
      "k=v:NoExecute",
      "k=v:PreferNoSchedule",
      "node.kubernetes.io/not-ready:NoExecute"};
  Do(absl::StrCat("node ", node,
                  " taint=", kTaints[static_cast<size_t>(dice_.Below(6))]));
  return true;
}

bool LargeScope::NodeCordon() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  Do(absl::StrCat(
      "node ", node,
      Find<Node>(node)->unschedulable ? " uncordoned" : " cordoned"));
  return true;
}

bool LargeScope::NodeReady() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  static constexpr std::array kStatus = {"True", "True", "False", "Unknown",
                                         "False since=4m"};
  Do(absl::StrCat("node ", node,
                  " ready=", kStatus[static_cast<size_t>(dice_.Below(5))]));
  return true;
}

bool LargeScope::NodeAgent() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  static constexpr std::array kAgent = {"true", "true", "false",
                                        "false heartbeat=3m", "none"};
  Do(absl::StrCat("node ", node,
                  " virt=", kAgent[static_cast<size_t>(dice_.Below(5))]));
  return true;
}

bool LargeScope::NodeGone() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  Do(dice_.OneIn(4) ? absl::StrCat("node ", node, " deleting")
                    : "gone node " + node);
  return true;
}

bool LargeScope::NodeBack() {
  const std::string node = absl::StrCat("n", dice_.Below(50));
  if (Find<Node>(node) != nullptr) return false;
  MakeNode(node);
  return true;
}

bool LargeScope::NodeLabels() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  Do(absl::StrCat("node ", node, " labels=zone=", dice_.OneIn(2) ? "x" : "y"));
  return true;
}

bool LargeScope::VmStarts() {
  const std::string vm = Any(Kind::kVirtualMachine);
  if (vm.empty()) return false;
  const auto* vmi = Find<VirtualMachineInstance>(vm);
  if (vmi != nullptr && IsOver(*vmi)) {
    const std::string uid = vmi->meta.uid;
    Do("gone vmi " + vm);
    if (!dice_.OneIn(4)) CollectOwned(uid);
  } else if (vmi != nullptr && LauncherOf(vm) != nullptr) {
    return false;
  }
  NewLauncher(vm, "gated");
  return true;
}

bool LargeScope::VmStartsOddly() {
  const std::string vm = Any(Kind::kVirtualMachine);
  if (vm.empty()) return false;
  const auto* vmi = Find<VirtualMachineInstance>(vm);
  const Pod* pod = LauncherOf(vm);
  if (vmi != nullptr && (IsOver(*vmi) || pod != nullptr)) return false;
  static constexpr std::array kWays = {"gates=ours,other.example.org/hold",
                                       "gated terms=zone=x",
                                       "gated terms=zone=x;{}",
                                       "gated terms={}",
                                       "gated terms=@name=n0;zone=y",
                                       "gated selector=zone=y",
                                       "gated schedulingclass=inx",
                                       "gated schedulingclass=absent",
                                       "gated provisioning",
                                       "gated preferred podaffinity",
                                       "gated unlisted",
                                       "gates="};
  NewLauncher(
      vm,
      kWays[static_cast<size_t>(dice_.Below(static_cast<int>(kWays.size())))]);
  return true;
}

bool LargeScope::PodIsScheduled() {
  const std::string vmi = AnyVmi(IsPinned);
  if (vmi.empty()) return false;
  const Pod* pod = LauncherOf(vmi);
  const std::string node = PinOf(*pod);
  Do(absl::StrCat("pod ", FullName(pod->meta), " node=", node,
                  " phase=Running scheduler=\"\""));
  Do(absl::StrCat("vmi ", vmi, " phase=Running node=", node));
  return true;
}

bool LargeScope::SchedulerRefuses() {
  const std::string vmi = AnyVmi(IsPinned);
  if (vmi.empty()) return false;
  static constexpr std::array kMessages = {
      "0/9 nodes are available: 9 Insufficient nvidia.com/H100.",
      "0/9 nodes are available: 8 Insufficient cpu, 1 Too many pods.",
      "0/9 nodes are available: 9 node(s) had volume node affinity conflict."};
  Do(absl::StrCat("pod ", FullName(LauncherOf(vmi)->meta), " scheduler=\"",
                  kMessages[static_cast<size_t>(dice_.Below(3))], "\""));
  Do("advance 5s");
  return true;
}

bool LargeScope::KubeletRefuses() {
  const std::string vmi = AnyVmi(IsPinned);
  if (vmi.empty()) return false;
  const Pod* pod = LauncherOf(vmi);
  const std::string name = FullName(pod->meta);
  Do(absl::StrCat("pod ", name, " node=", PinOf(*pod), " phase=Failed reason=",
                  dice_.OneIn(2) ? "UnexpectedAdmissionError" : "OutOfcpu"));
  if (dice_.OneIn(2)) Do(absl::StrCat("vmi ", vmi, " phase=Failed"));
  if (dice_.OneIn(2)) Do("gone pod " + name);
  return true;
}

bool LargeScope::VmiEnds() {
  const std::string vmi = AnyVmi(Lives);
  if (vmi.empty()) return false;
  const Pod* pod = LauncherOf(vmi);
  if (pod != nullptr && !dice_.OneIn(4)) {
    Do(absl::StrCat("pod ", FullName(pod->meta), " phase=Succeeded"));
  }
  Do(absl::StrCat("vmi ", vmi,
                  " phase=", dice_.OneIn(2) ? "Succeeded" : "Failed"));
  return true;
}

bool LargeScope::VmStops() {
  const std::string vmi = AnyVmi(IsThere);
  if (vmi.empty()) return false;
  const std::string uid = Find<VirtualMachineInstance>(vmi)->meta.uid;
  const Pod* pod = LauncherOf(vmi);
  if (pod != nullptr) Do("gone pod " + FullName(pod->meta));
  Do("gone vmi " + vmi);
  if (!dice_.OneIn(4)) CollectOwned(uid);
  return true;
}

bool LargeScope::PodGoes() {
  const std::string vmi = AnyVmi(HasPod);
  if (vmi.empty()) return false;
  const std::string pod = FullName(LauncherOf(vmi)->meta);
  Do(dice_.OneIn(3) ? absl::StrCat("pod ", pod, " deleting")
                    : "gone pod " + pod);
  return true;
}

bool LargeScope::VmiIsDeleted() {
  const std::string vmi = AnyVmi(Lives);
  if (vmi.empty()) return false;
  Do(absl::StrCat("vmi ", vmi, " deleting"));
  return true;
}

// The target comes, or has come: then it is the launcher.
bool LargeScope::VmMigrates() {
  const std::string vmi = AnyVmi(Runs);
  const std::string node = AnyNode();
  if (vmi.empty() || node.empty()) return false;
  const std::string old = FullName(LauncherOf(vmi)->meta);
  const std::string target =
      NewLauncher(vmi, absl::StrCat("migration node=", node));
  if (dice_.OneIn(3)) {
    Do(absl::StrCat("pod ", target, " phase=Failed"));
  } else if (dice_.OneIn(2)) {
    Do(absl::StrCat("vmi ", vmi, " node=", node));
    Do(dice_.OneIn(2) ? absl::StrCat("pod ", old, " phase=Succeeded")
                      : "gone pod " + old);
  }
  return true;
}

bool LargeScope::VmIsGone() {
  const std::string vm = Any(Kind::kVirtualMachine);
  if (vm.empty()) return false;
  const std::string uid = Find<VirtualMachine>(vm)->meta.uid;
  Do("gone vm " + vm);
  if (!dice_.OneIn(4)) CollectOwned(uid);
  return true;
}

bool LargeScope::AnnotationIsEdited() {
  const bool live = dice_.OneIn(2);
  const std::string name =
      Any(live ? Kind::kVirtualMachineInstance : Kind::kVirtualMachine);
  if (name.empty()) return false;
  const std::string space = name.substr(0, name.find('/'));
  if (live && dice_.OneIn(4)) {
    Do(absl::StrCat("vmi ", name, " error=nonsense"));
  } else {
    Do(absl::StrCat(live ? "vmi " : "vm ", name, " claims=", Entries(space)));
  }
  return true;
}

}  // namespace gpubinder::naive
