#include "k8s/embedded/scheduler_stand_in.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/node_fit.h"
#include "k8s/embedded/stand_in.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kScheduler[] = "system:kube-scheduler";
constexpr char kNodeController[] =
    "system:serviceaccount:kube-system:node-controller";

bool IsFinished(const Json& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool IsWaiting(const Json& pod) {
  const Json& gates = At(pod, {"spec", "schedulingGates"});
  return TextAt(pod, {"spec", "nodeName"}).empty() && !IsFinished(pod) &&
         At(pod, {"metadata", "deletionTimestamp"}).is_null() &&
         (!gates.is_array() || gates.empty());
}

// The taints that follow from the node's state, as (key, effect).
std::set<std::pair<std::string, std::string>> WantedTaints(const Json& node) {
  std::set<std::pair<std::string, std::string>> taints;
  if (At(node, {"spec", "unschedulable"}) == true) {
    taints.insert({"node.kubernetes.io/unschedulable", "NoSchedule"});
  }
  const std::string ready = TextAt(ConditionOf(node, "Ready"), {"status"});
  if (ready == "True") return taints;
  const std::string key = ready == "Unknown" ? "node.kubernetes.io/unreachable"
                                             : "node.kubernetes.io/not-ready";
  taints.insert({key, "NoSchedule"});
  taints.insert({key, "NoExecute"});
  return taints;
}

bool IsKept(const std::string& key) {
  return key == "node.kubernetes.io/unschedulable" ||
         key == "node.kubernetes.io/unreachable" ||
         key == "node.kubernetes.io/not-ready";
}

}  // namespace

void SchedulerStandIn::Step() {
  const Resource& nodes = ResourceNamed("nodes");
  for (const JsonPtr& node : ReadAll(backend_, nodes, "")) KeepTaints(*node);
  nodes_ = ReadAll(backend_, nodes, "");
  used_.clear();
  std::vector<JsonPtr> waiting;
  for (const JsonPtr& pod : ReadAll(backend_, ResourceNamed("pods"), "")) {
    if (IsWaiting(*pod)) {
      waiting.push_back(pod);
      continue;
    }
    const std::string node = TextAt(*pod, {"spec", "nodeName"});
    if (node.empty() || IsFinished(*pod)) continue;
    // A terminating pod still holds what it has.
    AddTo(used_[node], PodAmounts(*pod, "requests"));
    used_[node]["pods"] += 1000;
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const JsonPtr& a, const JsonPtr& b) {
                     return TextAt(*a, {"metadata", "creationTimestamp"}) <
                            TextAt(*b, {"metadata", "creationTimestamp"});
                   });
  for (const JsonPtr& pod : waiting) Schedule(*pod);
}

void SchedulerStandIn::KeepTaints(const Json& node) {
  std::set<std::pair<std::string, std::string>> wanted = WantedTaints(node);
  Json taints = Json::array();
  for (const Json& taint : At(node, {"spec", "taints"})) {
    const std::pair<std::string, std::string> id = {TextAt(taint, {"key"}),
                                                    TextAt(taint, {"effect"})};
    if (wanted.erase(id) > 0 || !IsKept(id.first)) taints.push_back(taint);
  }
  for (const auto& [key, effect] : wanted) {
    taints.push_back({{"key", key},
                      {"effect", effect},
                      {"timeAdded", TimeText(backend_.clock())}});
  }
  const Json& before = At(node, {"spec", "taints"});
  if (taints == before || (taints.empty() && before.is_null())) return;
  Json next = node;
  Json& spec = ObjectAt(next, "spec");
  if (taints.empty()) {
    spec.erase("taints");
  } else {
    spec["taints"] = std::move(taints);
  }
  WriteOver(backend_, PlaceOfObject(ResourceNamed("nodes"), node), node,
            std::move(next), kNodeController);
}

void SchedulerStandIn::Schedule(const Json& pod) {
  std::vector<NodeFit> fits;
  for (const JsonPtr& node : nodes_) {
    const std::string name = TextAt(*node, {"metadata", "name"});
    fits.push_back(FitOf(pod, *node, used_[name]));
    if (!fits.back().reasons.empty()) continue;
    const ObjectPlace place = PlaceOfObject(ResourceNamed("pods"), pod);
    if (!BindPod(backend_, place, name).ok()) return;
    AddTo(used_[name], PodAmounts(pod, "requests"));
    used_[name]["pods"] += 1000;
    EmitEvent(backend_, pod,
              {"Normal", "Scheduled",
               absl::StrCat("Successfully assigned ", place.name_space, "/",
                            place.name, " to ", name),
               "default-scheduler"});
    return;
  }
  Refuse(pod, UnschedulableMessage(fits));
}

void SchedulerStandIn::Refuse(const Json& pod, const std::string& message) {
  const Json& before = ConditionOf(pod, "PodScheduled");
  const Json& generation = At(pod, {"metadata", "generation"});
  // SO-6: the condition is rewritten only when it says something new.
  if (TextAt(before, {"reason"}) == "Unschedulable" &&
      TextAt(before, {"message"}) == message &&
      Member(before, "observedGeneration") == generation) {
    return;
  }
  Json next = pod;
  SetCondition(next,
               {{"type", "PodScheduled"},
                {"status", "False"},
                {"lastProbeTime", nullptr},
                {"reason", "Unschedulable"},
                {"message", message},
                {"observedGeneration", generation}},
               backend_.clock());
  ObjectPlace place = PlaceOfObject(ResourceNamed("pods"), pod);
  place.subresource = "status";
  if (WriteOver(backend_, place, pod, std::move(next), kScheduler)) {
    EmitEvent(backend_, pod,
              {"Warning", "FailedScheduling", message, "default-scheduler"});
  }
}

}  // namespace gpubinder::embedded
