#include "k8s/embedded/kubelet_stand_in.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/quantity_value.h"
#include "k8s/embedded/stand_in.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kUser[] = "system:nodes";
constexpr char kRefuse[] = "sandbox.gpubinder/refuse";
constexpr char kKubelet[] = "sandbox.gpubinder/kubelet";

// KR-2, KR-4: the shapes of a kubelet's words.
std::string RefusalMessage(const Json& pod, const std::string& reason) {
  const Amounts requests = PodAmounts(pod, "requests");
  if (absl::StartsWith(reason, "OutOf")) {
    const std::string resource = reason.substr(5);
    const auto it = requests.find(resource);
    return absl::StrCat(
        "Pod was rejected: Node didn't have enough resource: ", resource,
        ", requested: ", it == requests.end() ? "1" : MilliText(it->second),
        ", used: 0, capacity: 0");
  }
  for (const auto& [name, amount] : requests) {
    if (!IsExtended(name) || absl::StartsWith(name, "devices.kubevirt.io/")) {
      continue;
    }
    return absl::StrCat(
        "Pod was rejected: Allocate failed due to requested number of devices "
        "unavailable for ",
        name, ". Requested: ", MilliText(amount),
        ", Available: 0, which is unexpected");
  }
  return "Pod was rejected: Allocate failed due to no healthy devices, which "
         "is unexpected";
}

Json RunningStatus(const Json& pod, absl::Time now) {
  Json next = pod;
  Json& status = ObjectAt(next, "status");
  status["phase"] = "Running";
  status["startTime"] = TimeText(now);
  status["containerStatuses"] = Json::array();
  for (const Json& container : At(pod, {"spec", "containers"})) {
    status["containerStatuses"].push_back(
        {{"name", TextAt(container, {"name"})},
         {"image", TextAt(container, {"image"})},
         {"ready", true},
         {"started", true},
         {"restartCount", 0},
         {"state", {{"running", {{"startedAt", TimeText(now)}}}}}});
  }
  for (const char* type : {"Initialized", "ContainersReady", "Ready"}) {
    SetCondition(next, {{"type", type}, {"status", "True"}}, now);
  }
  return next;
}

}  // namespace

void KubeletStandIn::Step() {
  for (const JsonPtr& pod : ReadAll(backend_, ResourceNamed("pods"), "")) {
    const std::string name = TextAt(*pod, {"spec", "nodeName"});
    if (name.empty()) continue;
    const JsonPtr node = ReadObject(backend_, ResourceNamed("nodes"), "", name);
    const Json none;
    const Json& host = node == nullptr ? none : *node;
    // A node that is gone has no kubelet either.
    if (node == nullptr ||
        TextAt(host, {"metadata", "annotations", kKubelet}) == "dead") {
      continue;
    }
    if (!At(*pod, {"metadata", "deletionTimestamp"}).is_null()) {
      WriteOptions options;
      options.user = kUser;
      const Json now = {
          {"gracePeriodSeconds", 0},
          {"preconditions", {{"uid", At(*pod, {"metadata", "uid"})}}}};
      DeleteObject(backend_, PlaceOfObject(ResourceNamed("pods"), *pod), now,
                   options);
    } else if (TextAt(*pod, {"status", "phase"}) == "Pending") {
      Start(*pod, host);
    }
  }
}

void KubeletStandIn::Start(const Json& pod, const Json& node) {
  ObjectPlace place = PlaceOfObject(ResourceNamed("pods"), pod);
  place.subresource = "status";
  const std::string refusal =
      TextAt(node, {"metadata", "annotations", kRefuse});
  if (refusal.empty()) {
    WriteOver(backend_, place, pod, RunningStatus(pod, backend_.clock()),
              kUser);
    return;
  }
  Json next = pod;
  Json& status = ObjectAt(next, "status");
  status["phase"] = "Failed";
  status["reason"] = refusal;
  status["message"] = RefusalMessage(pod, refusal);
  if (WriteOver(backend_, place, pod, std::move(next), kUser)) {
    EmitEvent(backend_, pod,
              {"Warning", refusal, RefusalMessage(pod, refusal), "kubelet"});
  }
}

}  // namespace gpubinder::embedded
