#include "reconciler/naive/small_scope.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"

namespace gpubinder::naive {
namespace {

constexpr std::array kNodes = {"a", "b"};
constexpr std::array kVms = {"web", "two"};
constexpr std::array kClaims = {"x", "y", "z"};
constexpr int kNodeEvents = 12, kVmEvents = 19, kClaimEvents = 2;

// What may happen to a node; %: its name.
constexpr std::array<const char*, kNodeEvents> kOfNode = {
    "node % H100=0",
    "node % H100=1",
    "node % H100=4",
    "node % cordoned",
    "node % uncordoned taint=",
    "node % taint=k=v:NoSchedule",
    "node % taint=k=v:NoExecute",
    "node % ready=False",
    "node % ready=True",
    "node % virt=false",
    "gone node %",
    "node % H100=2",
};

// What a VM may be changed to.
constexpr std::array kStrategies = {"Once", "Manual", "Halted"};

// On the way of the effects of one pass.
constexpr std::array kOnTheWay = {
    "apply",
    "apply 1 refused 409",
    "apply 1 refused 422",
    "apply 2 refused 422",
    "apply 2 refused 403",
    "apply 3 refused 500",
    "apply 1 unknown",
    "apply 2 unknown",
    "apply 3 unknown",
    "apply 1 lost",
    "apply 2 lost",
    "crash-after 0",
    "crash-after 1",
    "crash-after 2",
    "crash-after 3",
};

// Without a place of their own.
constexpr std::array kOther = {
    "readback",
    "advance 15s",
    "advance 3m",
    "advance 11m",
    "class h100 oncordon=Stay",
    "class h100 tolerate=k:NoSchedule",
    "delete class h100",
    "pod raw H100=1 node=a",
    "gone pod raw",
    "unseen node a H100=1",
    "unseen node b cordoned",
    "gone usage gpu-x",
    "usage gpu-x H100=3",
    "unseen gone usage gpu-x",
    "configmap cozy-system/gpu-settings data=mine=1",
    "relist usage",
    "relist node",
    "relist claim",
    "quota q hard=requests.gpu.cozystack.io/h100=1",
    "quota q hard=requests.gpu.cozystack.io/h100=4",
    "config endRunning=true",
};

// The part of a number that picks one of `of`.
int Digit(int& number, int of) {
  const int digit = number % of;
  number /= of;
  return digit;
}

}  // namespace

int ClusterCount() { return 2 * 3 * 4 * 3 * 7 * 2; }
int EventCount() {
  return static_cast<int>(2 * kNodeEvents + 2 * kVmEvents + 3 * kClaimEvents +
                          kOnTheWay.size() + kOther.size());
}

SmallScope::SmallScope(int cluster, Replays replays) : runner_(replays) {
  const int units = 2 + 2 * Digit(cluster, 2);
  const int second = Digit(cluster, 3);
  const int names = Digit(cluster, 4);
  const int other = Digit(cluster, 3);
  const int state = Digit(cluster, 7);
  if (Digit(cluster, 2) == 1) {
    Do("serve usage");
    Do("serve configmap");
  }
  Do(absl::StrCat("node a H100=", units));
  if (second > 0) Do(absl::StrCat("node b H100=", 2 * second));
  Do("class h100");
  static constexpr std::array kNamed = {"x", "x,y", "x,h100*1", "y,x"};
  static constexpr std::array kPlaces = {
      "",        " node=a", " node=a",       " node=a",
      " node=a", " node=a", " lost=NodeGone"};
  const std::string held = state >= 3 ? " vmi=web" : "";
  Do(absl::StrCat("vm web claims=", kNamed[names]));
  if (state >= 2) Do("vmi web");
  Do(absl::StrCat("claim x class=h100", kPlaces[state], held));
  Do("advance 1s");
  const bool lost = state == 4;
  const bool split = state == 5 && second > 0;
  Do(absl::StrCat("claim y class=h100",
                  lost    ? " lost=NodeTainted"
                  : split ? " node=b"
                          : kPlaces[state],
                  names == 1 || names == 3 ? held : ""));
  if (state == 4) Do("claimset web node=a claims=x,y owneruid=vm-web");
  Do("advance 1s");
  Do(absl::StrCat("claim z class=h100 count=", other == 2 ? 1 : 2));
  if (other > 0) Do("vm two claims=z");
  if (other == 2) {
    Do("vmi two");
    Do("pod p-two vmi=two H100=1 gated");
  }
  if (state == 2 || state == 4) Do("pod p-web vmi=web H100=2 gated");
  if (state == 3 || state == 6) {
    Do("vmi web phase=Running node=a");
    Do("pod p-web vmi=web H100=2 node=a pinned=a");
  }
  Pass("apply", Judged::kAnew);
}

void SmallScope::Say(const std::string& command) {
  said_ = std::make_shared<const Said>(Said{std::move(said_), command});
}

std::vector<std::string> SmallScope::commands() const {
  std::vector<std::string> all;
  for (const Said* one = said_.get(); one != nullptr; one = one->before.get()) {
    all.push_back(one->command);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

void SmallScope::Do(const std::string& command) {
  Say(command);
  runner_.Run(command);
}

bool SmallScope::Has(Kind kind, const std::string& name) const {
  const bool in_cluster = kind == Kind::kNode || kind == Kind::kGpuClass;
  return runner_.server().Find(kind, in_cluster ? "" : kScenarioNamespace,
                               name) != nullptr;
}

std::string SmallScope::PinOf(const std::string& vm) const {
  const Object* found =
      runner_.server().Find(Kind::kPod, kScenarioNamespace, "p-" + vm);
  if (found == nullptr) return "";
  const Pod& pod = std::get<Pod>(*found);
  if (!pod.gates.empty() || !pod.required.has_value()) return "";
  for (const SelectorTerm& term : pod.required->terms) {
    for (const Requirement& field : term.fields) {
      if (field.key == "metadata.name") return field.values.front();
    }
  }
  return "";
}

std::optional<Step> SmallScope::OfNode(int event,
                                       const std::string& node) const {
  std::string command = kOfNode[event];
  // Only whole units make a node that is not there.
  const bool makes = event == 2 || event == 11;
  if (!makes && !Has(Kind::kNode, node)) return std::nullopt;
  command.replace(command.find('%'), 1, node);
  return Step{{command}};
}

std::optional<Step> SmallScope::OfVm(int event, const std::string& vm) const {
  const bool has_vmi = Has(Kind::kVirtualMachineInstance, vm);
  const bool has_pod = Has(Kind::kPod, "p-" + vm);
  const std::string pin = PinOf(vm);
  const std::string pod = "pod p-" + vm, vmi = "vmi " + vm;
  auto all = [&](bool possible,
                 std::vector<std::string> commands) -> std::optional<Step> {
    if (!possible || !Has(Kind::kVirtualMachine, vm)) return std::nullopt;
    return Step{std::move(commands)};
  };
  const std::string launcher = absl::StrCat(pod, " vmi=", vm, " H100=2");
  switch (event) {
    case 0:
      return all(!has_vmi, {vmi, launcher + " gated"});
    case 1:
      return all(has_vmi && !has_pod, {launcher + " gated"});
    case 2:
      return all(!has_vmi, {vmi});
    case 3:  // the scheduler places it
      return all(!pin.empty(),
                 {absl::StrCat(pod, " node=", pin),
                  absl::StrCat(vmi, " phase=Running node=", pin)});
    case 4:  // the scheduler refuses it, for as long as counts
      return all(!pin.empty(), {absl::StrCat(pod,
                                             " scheduler=\"0/2 nodes are "
                                             "available: 2 Insufficient "
                                             "nvidia.com/H100.\""),
                                "advance 10s"});
    case 5:  // the kubelet refuses it
      return all(!pin.empty(), {absl::StrCat(pod, " node=", pin,
                                             " phase=Failed reason="
                                             "UnexpectedAdmissionError")});
    case 6:
      return all(has_vmi, {vmi + " phase=Failed"});
    case 7:
      return all(has_vmi && has_pod,
                 {pod + " phase=Succeeded", vmi + " phase=Succeeded"});
    case 8:
      return all(has_pod, {"gone " + pod});
    case 9:  // the VM is stopped
      return all(has_vmi && !has_pod, {"gone " + vmi});
    case 10:
      return all(has_vmi && has_pod, {"gone " + pod, "gone " + vmi});
    case 11:
      return all(has_vmi, {vmi + " deleting"});
    case 12:
      return all(has_vmi && !has_pod,
                 {launcher + " gates=ours,other.example.org/hold"});
    case 13:
      return all(has_pod, {pod + " deleting"});
    case 14:
      return all(has_vmi && !has_pod, {launcher + " gated terms=@name=b"});
    case 15:  // somebody takes the gate off
      return all(has_pod, {pod + " gates="});
    default:
      return all(true, {absl::StrCat("vm ", vm,
                                     " strategy=", kStrategies[event - 16])});
  }
}

std::optional<Step> SmallScope::OfClaim(int event,
                                        const std::string& claim) const {
  const bool there = Has(Kind::kGpuClaim, claim);
  if (there != (event == 0)) return std::nullopt;
  return Step{{there ? "delete claim " + claim
                     : absl::StrCat("claim ", claim, " class=h100")}};
}

std::optional<Step> SmallScope::StepOf(int event) const {
  if (event < 2 * kNodeEvents) return OfNode(event / 2, kNodes[event % 2]);
  event -= 2 * kNodeEvents;
  if (event < 2 * kVmEvents) return OfVm(event / 2, kVms[event % 2]);
  event -= 2 * kVmEvents;
  if (event < 3 * kClaimEvents) return OfClaim(event / 3, kClaims[event % 3]);
  return OnTheWay(event - 3 * kClaimEvents);
}

std::optional<Step> SmallScope::OnTheWay(int event) const {
  const int ways = static_cast<int>(kOnTheWay.size());
  if (event < ways) return Step{.apply = kOnTheWay[event]};
  const std::string command = kOther[event - ways];
  if (!IsPossible(command)) return std::nullopt;
  return Step{{command}};
}

bool SmallScope::IsPossible(const std::string& command) const {
  if (absl::StrContains(command, "class h100")) {
    return Has(Kind::kGpuClass, "h100");
  }
  if (command == "gone pod raw") return Has(Kind::kPod, "raw");
  if (absl::StartsWith(command, "pod raw")) return !Has(Kind::kPod, "raw");
  if (absl::StrContains(command, "usage gpu-x")) {
    return Has(Kind::kWorkload, "gpu-x");
  }
  if (absl::StartsWith(command, "configmap")) {
    return runner_.server().Find(Kind::kConfigMap, "cozy-system",
                                 kSettingsName) != nullptr;
  }
  if (absl::StartsWith(command, "unseen node")) {
    return Has(Kind::kNode, std::string(1, command[12]));
  }
  return true;
}

void SmallScope::Begin(const Step& step) {
  for (const std::string& command : step.commands) Do(command);
}

void SmallScope::Pass(const std::string& apply, Judged judged) {
  if (judged == Judged::kAnew) {
    Do("pass");
  } else {
    Say("pass");
    runner_.RunJudgedPass();
  }
  ++passes_;
  effects_ = runner_.effects();
  Do(apply);
}

bool SmallScope::Happen(int event) {
  const std::optional<Step> step = StepOf(event);
  if (!step.has_value()) return false;
  Begin(*step);
  Pass(step->apply, Judged::kAnew);
  return true;
}

void SmallScope::Resume() {
  Do("readback");
  // What conflicts left waiting is tried again after its pause.
  Do("advance 1m");
}

void SmallScope::Settle() {
  Resume();
  Do("settle");
  ++passes_;
}

}  // namespace gpubinder::naive
