#include "k8s/embedded/kubevirt_stand_in.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/launcher_pod.h"
#include "k8s/embedded/run_strategy.h"
#include "k8s/embedded/stand_in.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kMachineFinalizer[] =
    "kubevirt.io/virtualMachineControllerFinalize";
constexpr char kInstanceFinalizer[] =
    "kubevirt.io/foregroundDeleteVirtualMachine";
constexpr char kUnpaused[] = "kubevirt.io/virtual-machine-unpaused";
constexpr char kNodeLabel[] = "kubevirt.io/nodeName";

const Resource& Machines() {
  return ResourceNamed("virtualmachines.kubevirt.io");
}
const Resource& Instances() {
  return ResourceNamed("virtualmachineinstances.kubevirt.io");
}
const Resource& Pods() { return ResourceNamed("pods"); }

std::string NameOf(const Json& object) {
  return absl::StrCat(TextAt(object, {"metadata", "namespace"}), "/",
                      TextAt(object, {"metadata", "name"}));
}

bool IsDeleting(const Json& object) {
  return !At(object, {"metadata", "deletionTimestamp"}).is_null();
}

Json InstanceFor(const Json& machine) {
  const Json& tmpl = At(machine, {"spec", "template"});
  const std::string name = TextAt(machine, {"metadata", "name"});
  Json metadata = {{"name", name},
                   {"finalizers", Json::array({kMachineFinalizer})},
                   {"ownerReferences",
                    Json::array({{{"apiVersion", "kubevirt.io/v1"},
                                  {"kind", "VirtualMachine"},
                                  {"name", name},
                                  {"uid", TextAt(machine, {"metadata", "uid"})},
                                  {"controller", true},
                                  {"blockOwnerDeletion", true}}})}};
  for (const char* field : {"labels", "annotations"}) {
    const Json& own = At(tmpl, {"metadata", field});
    if (own.is_object()) metadata[field] = own;
  }
  Json instance = {{"apiVersion", "kubevirt.io/v1"},
                   {"kind", "VirtualMachineInstance"},
                   {"metadata", std::move(metadata)}};
  const Json& spec = Member(tmpl, "spec");
  instance["spec"] = spec.is_object() ? spec : Json::object();
  return instance;
}

void SetPhase(Json& instance, const std::string& phase, absl::Time now) {
  Json& status = ObjectAt(instance, "status");
  if (TextAt(status, {"phase"}) == phase) return;
  status["phase"] = phase;
  Json& times = status["phaseTransitionTimestamps"];
  if (!times.is_array()) times = Json::array();
  times.push_back(
      {{"phase", phase}, {"phaseTransitionTimestamp", TimeText(now)}});
}

void DropCondition(Json& instance, absl::string_view type) {
  Json kept = Json::array();
  for (const Json& one : At(instance, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) != type) kept.push_back(one);
  }
  instance["status"]["conditions"] = std::move(kept);
}

// activePods is recomputed from every pod, ended ones included.
void SetActivePods(const std::vector<JsonPtr>& pods, Json& instance) {
  Json active = Json::object();
  for (const JsonPtr& pod : pods) {
    active[TextAt(*pod, {"metadata", "uid"})] =
        TextAt(*pod, {"spec", "nodeName"});
  }
  Json& status = ObjectAt(instance, "status");
  if (active.empty()) {
    status.erase("activePods");
  } else {
    status["activePods"] = std::move(active);
  }
}

// The pod's verdict is copied once and not refreshed, as in the real one: a
// launcher first seen gated leaves SchedulingGated until it is bound.
void MirrorScheduled(const Json& pod, absl::Time now, Json& instance) {
  const Json& verdict = ConditionOf(pod, "PodScheduled");
  if (TextAt(verdict, {"status"}) == "True") {
    DropCondition(instance, "PodScheduled");
  } else if (!verdict.is_null() &&
             ConditionOf(instance, "PodScheduled").is_null()) {
    SetCondition(instance,
                 {{"type", "PodScheduled"},
                  {"status", "False"},
                  {"reason", TextAt(verdict, {"reason"})},
                  {"message", TextAt(verdict, {"message"})}},
                 now);
  }
}

// Where a VMI goes from its phase and its launcher.
std::string NextPhase(const Json& instance, const JsonPtr& pod) {
  const std::string phase = TextAt(instance, {"status", "phase"});
  const std::string pod_phase =
      pod == nullptr ? "" : TextAt(*pod, {"status", "phase"});
  if (phase == "Scheduling") {
    if (pod == nullptr || IsDeleting(*pod) || pod_phase == "Failed" ||
        pod_phase == "Succeeded") {
      return "Failed";
    }
    return pod_phase == "Running" ? "Scheduled" : phase;
  }
  if (pod == nullptr || pod_phase == "Failed") return "Failed";
  if (pod_phase == "Succeeded") return "Succeeded";
  return "Running";
}

}  // namespace

bool RetryDelays::IsDue(const std::string& what, absl::Time now) const {
  const auto it = delays_.find(what);
  return it == delays_.end() || now >= it->second.until;
}

void RetryDelays::Failed(const std::string& what, absl::Time now) {
  Delay& delay = delays_[what];
  delay.last = std::min(std::max(delay.last * 2, absl::Milliseconds(5)),
                        absl::Seconds(1000));
  delay.until = now + delay.last;
}

KubeVirtStandIn::KubeVirtStandIn(Backend& backend, absl::Duration start_backoff)
    : backend_(backend), start_backoff_(start_backoff) {}

void KubeVirtStandIn::Step() {
  for (const JsonPtr& machine : ReadAll(backend_, Machines(), "")) {
    StepMachine(*machine);
  }
  pods_.clear();
  for (const JsonPtr& pod : ReadAll(backend_, Pods(), "")) {
    // virt-controller's cache holds only pods with its label.
    if (At(*pod, {"metadata", "labels", "kubevirt.io"}).is_string()) {
      pods_.emplace(ControllerUid(*pod), pod);
    }
  }
  for (const JsonPtr& instance : ReadAll(backend_, Instances(), "")) {
    StepInstance(*instance);
  }
}

void KubeVirtStandIn::StepMachine(const Json& machine) {
  const std::string& user = backend_.kubevirt_user;
  const ObjectPlace place = PlaceOfObject(Machines(), machine);
  const JsonPtr found =
      ReadObject(backend_, Instances(), place.name_space, place.name);
  const bool owned =
      found != nullptr &&
      ControllerUid(*found) == TextAt(machine, {"metadata", "uid"});
  if (IsDeleting(machine)) {
    if (!owned) {
      DropFinalizer(backend_, place, machine, kMachineFinalizer, user);
    } else if (!IsDeleting(*found)) {
      DeleteThis(backend_, PlaceOfObject(Instances(), *found), *found, user);
    } else if (IsFinal(*found)) {
      DropFinalizer(backend_, PlaceOfObject(Instances(), *found), *found,
                    kMachineFinalizer, user);
    }
    return;
  }
  if (!HasText(At(machine, {"metadata", "finalizers"}), kMachineFinalizer)) {
    Json next = machine;
    Json& finalizers = next["metadata"]["finalizers"];
    if (!finalizers.is_array()) finalizers = Json::array();
    finalizers.push_back(kMachineFinalizer);
    WriteOver(backend_, place, machine, std::move(next), user);
    return;
  }
  if (found != nullptr && !owned) return;  // a VMI of somebody else's
  const Json none;
  const Json& instance = owned ? *found : none;
  Json next = machine;
  const MachineStep step = DecideMachine(
      {&machine, &instance, backend_.clock(), start_backoff_}, next["status"]);
  if (next != machine) {
    ObjectPlace status = place;
    status.subresource = "status";
    if (!WriteOver(backend_, status, machine, next, user)) return;
  }
  const ObjectPlace instance_place{&Instances(), place.name_space, place.name,
                                   ""};
  switch (step) {
    case MachineStep::kNothing:
      return;
    case MachineStep::kStart:
      return StartInstance(machine);
    case MachineStep::kDeleteInstance:
      DeleteThis(backend_, instance_place, instance, user);
      return;
    case MachineStep::kLetGo:
      DropFinalizer(backend_, instance_place, instance, kMachineFinalizer,
                    user);
      return;
  }
}

void KubeVirtStandIn::StartInstance(const Json& machine) {
  const absl::Time now = backend_.clock();
  const std::string what = "vm " + NameOf(machine);
  if (!retries_.IsDue(what, now)) return;
  WriteOptions options;
  options.user = backend_.kubevirt_user;
  const WriteResult made = CreateObject(
      backend_,
      {&Instances(), TextAt(machine, {"metadata", "namespace"}), "", ""},
      InstanceFor(machine), options);
  if (made.ok()) {
    retries_.Succeeded(what);
    return;
  }
  retries_.Failed(what, now);
  EmitEvent(backend_, machine,
            {"Warning", "FailedCreate",
             absl::StrCat("Error creating virtual machine instance: ",
                          made.failure->message),
             "virtualmachine-controller"});
}

void KubeVirtStandIn::CreateLauncher(const Json& instance) {
  const absl::Time now = backend_.clock();
  const std::string what = "vmi " + TextAt(instance, {"metadata", "uid"});
  if (!retries_.IsDue(what, now)) return;
  WriteOptions options;
  options.user = backend_.kubevirt_user;
  const WriteResult made = CreateObject(
      backend_, {&Pods(), TextAt(instance, {"metadata", "namespace"}), "", ""},
      LauncherPodFor(instance), options);
  if (made.ok()) {
    retries_.Succeeded(what);
    return;
  }
  retries_.Failed(what, now);
  const std::string message = absl::StrCat(
      "failed to create virtual machine pod: ", made.failure->message);
  EmitEvent(backend_, instance,
            {"Warning", "FailedCreate", message, "virtualmachine-controller"});
  Json next = instance;
  SetCondition(next,
               {{"type", "Synchronized"},
                {"status", "False"},
                {"reason", "FailedCreate"},
                {"message", message}},
               now);
  WriteOver(backend_, PlaceOfObject(Instances(), instance), instance,
            std::move(next), options.user);
}

std::vector<JsonPtr> KubeVirtStandIn::PodsOf(const Json& instance) const {
  std::vector<JsonPtr> found;
  const auto [from, to] =
      pods_.equal_range(TextAt(instance, {"metadata", "uid"}));
  for (auto it = from; it != to; ++it) found.push_back(it->second);
  return found;
}

void KubeVirtStandIn::EndInstance(const Json& instance,
                                  const std::vector<JsonPtr>& pods) {
  const std::string& user = backend_.kubevirt_user;
  const ObjectPlace place = PlaceOfObject(Instances(), instance);
  for (const JsonPtr& pod : pods) {
    if (!IsDeleting(*pod)) {
      DeleteThis(backend_, PlaceOfObject(Pods(), *pod), *pod, user);
    }
  }
  if (!pods.empty()) return;
  if (!IsFinal(instance)) {
    Json next = instance;
    SetPhase(next, WasRunning(instance) ? "Succeeded" : "Failed",
             backend_.clock());
    SetActivePods(pods, next);
    WriteOver(backend_, place, instance, std::move(next), user);
    return;
  }
  DropFinalizer(backend_, place, instance, kInstanceFinalizer, user);
}

void KubeVirtStandIn::StepInstance(const Json& instance) {
  const std::string& user = backend_.kubevirt_user;
  const std::vector<JsonPtr> pods = PodsOf(instance);
  if (IsDeleting(instance)) return EndInstance(instance, pods);
  const std::string phase = TextAt(instance, {"status", "phase"});
  const bool pending = phase.empty() || phase == "Pending";
  if (pending && pods.empty()) return CreateLauncher(instance);
  const absl::Time now = backend_.clock();
  const JsonPtr pod = pods.empty() ? nullptr : pods.front();
  if (pod != nullptr) StepLauncher(*pod);
  Json next = instance;
  SetActivePods(pods, next);
  if (pod != nullptr) MirrorScheduled(*pod, now, next);
  if (pending) {
    SetPhase(next, "Scheduling", now);
    DropCondition(next, "Synchronized");
  } else if (!IsFinal(instance)) {
    SetPhase(next, NextPhase(instance, pod), now);
  }
  const std::string reached = TextAt(next, {"status", "phase"});
  if (reached == "Scheduled") {
    const std::string node = TextAt(*pod, {"spec", "nodeName"});
    next["status"]["nodeName"] = node;
    ObjectAt(next["metadata"], "labels")[kNodeLabel] = node;
  }
  const bool running = reached == "Running";
  SetCondition(next,
               {{"type", "Ready"},
                {"status", running ? "True" : "False"},
                {"reason", running ? "" : "GuestNotRunning"}},
               now);
  WriteOver(backend_, PlaceOfObject(Instances(), instance), instance,
            std::move(next), user);
}

// What virt-controller writes to the launcher itself: once the condition of
// its readiness gate, and the node label when it is bound. A binder that
// patches the pod races with both.
void KubeVirtStandIn::StepLauncher(const Json& pod) {
  const std::string& user = backend_.kubevirt_user;
  ObjectPlace place = PlaceOfObject(Pods(), pod);
  if (ConditionOf(pod, kUnpaused).is_null()) {
    Json next = pod;
    SetCondition(next, {{"type", kUnpaused}, {"status", "True"}},
                 backend_.clock());
    place.subresource = "status";
    WriteOver(backend_, place, pod, std::move(next), user);
    return;
  }
  const std::string node = TextAt(pod, {"spec", "nodeName"});
  if (node.empty() || TextAt(pod, {"metadata", "labels", kNodeLabel}) == node) {
    return;
  }
  Json next = pod;
  next["metadata"]["labels"][kNodeLabel] = node;
  WriteOver(backend_, place, pod, std::move(next), user);
}

}  // namespace gpubinder::embedded
