#include "reconciler/naive/small_scope.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gpubinder::naive {
namespace {

constexpr std::array kNodes = {"a", "b"};
constexpr std::array kVms = {"web", "two"};
constexpr std::array kClaims = {"x", "y", "z"};
constexpr int kNodeEvents = 12, kVmEvents = 16, kClaimEvents = 2;

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
    "relist gpuclaim",
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

SmallScope::SmallScope(int cluster) {
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
  Pass("apply");
}

std::vector<std::string> SmallScope::Do(const std::string& command) {
  commands_.push_back(command);
  return runner_.Run(command);
}

bool SmallScope::Has(const std::string& kind, const std::string& name) {
  const std::vector<std::string> shown =
      runner_.Run(absl::StrCat("show ", kind, " ", name));
  return !shown.empty() && !absl::StartsWith(shown[0], "no ");
}

std::string SmallScope::PinOf(const std::string& vm) {
  const std::string shown =
      runner_.Run(absl::StrCat("show pod p-", vm)).front();
  if (!absl::StrContains(shown, "gates:  ")) return "";
  for (const char* node : kNodes) {
    if (absl::StrContains(shown, absl::StrCat("@name=", node))) return node;
  }
  return "";
}

bool SmallScope::HappenToNode(int event, const std::string& node) {
  std::string command = kOfNode[event];
  if (event == 10 && !Has("node", node)) return false;
  // Only whole units make a node that is not there.
  const bool makes = event == 2 || event == 11;
  if (!makes && !Has("node", node)) return false;
  command.replace(command.find('%'), 1, node);
  Do(command);
  return true;
}

bool SmallScope::HappenToVm(int event, const std::string& vm) {
  const bool has_vmi = Has("vmi", vm), has_pod = Has("pod", "p-" + vm);
  const std::string pin = has_pod ? PinOf(vm) : "";
  const std::string pod = "pod p-" + vm, vmi = "vmi " + vm;
  auto all = [&](bool possible, std::vector<std::string> commands) {
    if (!possible || !Has("vm", vm)) return false;
    for (const std::string& command : commands) Do(command);
    return true;
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
    case 4:  // the scheduler refuses it
      return all(!pin.empty(), {absl::StrCat(pod,
                                             " scheduler=\"0/2 nodes are "
                                             "available: 2 Insufficient "
                                             "nvidia.com/H100.\""),
                                "advance 1s"});
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
    default:  // somebody takes the gate off
      return all(has_pod, {pod + " gates="});
  }
}

bool SmallScope::HappenToClaim(int event, const std::string& claim) {
  const bool there = Has("claim", claim);
  if (event == 0) {
    if (!there) return false;
    Do("delete claim " + claim);
    return true;
  }
  if (there) return false;
  Do(absl::StrCat("claim ", claim, " class=h100"));
  return true;
}

bool SmallScope::Happen(int event) {
  std::string apply = "apply";
  bool happened = false;
  if (event < 2 * kNodeEvents) {
    happened = HappenToNode(event / 2, kNodes[event % 2]);
  } else if ((event -= 2 * kNodeEvents) < 2 * kVmEvents) {
    happened = HappenToVm(event / 2, kVms[event % 2]);
  } else if ((event -= 2 * kVmEvents) < 3 * kClaimEvents) {
    happened = HappenToClaim(event / 3, kClaims[event % 3]);
  } else {
    happened = HappenOnTheWay(event - 3 * kClaimEvents, apply);
  }
  if (!happened) return false;
  Pass(apply);
  return true;
}

bool SmallScope::HappenOnTheWay(int event, std::string& apply) {
  const int ways = static_cast<int>(kOnTheWay.size());
  if (event < ways) {
    apply = kOnTheWay[event];
    return true;
  }
  const std::string command = kOther[event - ways];
  const bool of_class = absl::StartsWith(command, "class") ||
                        absl::StartsWith(command, "delete class");
  if (of_class && !Has("class", "h100")) return false;
  if (command == "gone pod raw" && !Has("pod", "raw")) return false;
  if (absl::StartsWith(command, "pod raw") && Has("pod", "raw")) return false;
  if (absl::StrContains(command, "usage gpu-x") && !Has("usage", "gpu-x")) {
    return false;
  }
  if (absl::StartsWith(command, "configmap") &&
      !Has("configmap", "cozy-system/gpu-settings")) {
    return false;
  }
  if (absl::StartsWith(command, "unseen node") &&
      !Has("node", std::string(1, command[12]))) {
    return false;
  }
  Do(command == "relist gpuclaim" ? "relist claim" : command);
  return true;
}

void SmallScope::Pass(const std::string& apply) {
  Do("pass");
  ++passes_;
  Do(apply);
}

void SmallScope::Settle() {
  Do("readback");
  // What conflicts left waiting is tried again after its pause.
  Do("advance 1m");
  Do("settle");
  ++passes_;
}

}  // namespace gpubinder::naive
