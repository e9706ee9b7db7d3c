#include "k8s/embedded/run_strategy.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int64_t kBackoffCap = 30;  // times start_backoff: 300 s of 10 s

Json& RequestsOf(Json& status) {
  Json& requests = status["stateChangeRequests"];
  if (!requests.is_array()) requests = Json::array();
  return requests;
}

bool HasRequest(Json& status, absl::string_view action) {
  for (const Json& one : RequestsOf(status)) {
    if (TextAt(one, {"action"}) == action) return true;
  }
  return false;
}

void DropRequests(Json& status, absl::string_view action) {
  Json kept = Json::array();
  for (const Json& one : RequestsOf(status)) {
    if (TextAt(one, {"action"}) != action) kept.push_back(one);
  }
  RequestsOf(status) = std::move(kept);
}

bool CountsFailures(const std::string& strategy) {
  return strategy == "Always" || strategy == "RerunOnFailure" ||
         strategy == "Once";
}

// A VMI that ends without ever having run is a failed start, counted once.
void CountFailure(const MachineView& view, const std::string& strategy,
                  Json& status) {
  const std::string uid = TextAt(*view.instance, {"metadata", "uid"});
  if (!CountsFailures(strategy) || WasRunning(*view.instance)) return;
  if (TextAt(status, {"startFailure", "lastFailedVMIUID"}) == uid) return;
  const int64_t count =
      NumberAt(status, {"startFailure", "consecutiveFailCount"}, 0) + 1;
  const int64_t steps = std::min(count * count, kBackoffCap);
  // Up to half as long again; from the uid, so that a run can be repeated.
  const int64_t percent =
      std::hash<std::string>()(uid) % static_cast<size_t>(51);
  absl::Duration delay = view.start_backoff * steps;
  delay += delay * percent / 100;
  delay = std::min(delay, view.start_backoff * kBackoffCap);
  status["startFailure"] = {
      {"consecutiveFailCount", count},
      {"lastFailedVMIUID", uid},
      {"retryAfterTimestamp", TimeText(view.now + delay)}};
}

bool MustWait(const MachineView& view, const std::string& strategy,
              const Json& status) {
  if (strategy != "Always" && strategy != "RerunOnFailure") return false;
  const auto until =
      TimeOf(At(status, {"startFailure", "retryAfterTimestamp"}));
  return until.has_value() && *until > view.now;
}

// Without a VMI: whether one is to be made.
MachineStep DecideAbsent(const MachineView& view, const std::string& strategy,
                         Json& status) {
  DropRequests(status, "Stop");
  const bool asked = HasRequest(status, "Start");
  const bool first = TextAt(status, {"runStrategy"}) != strategy;
  const bool wanted = strategy == "Always" || strategy == "Once" ||
                      (strategy == "RerunOnFailure" && (asked || first)) ||
                      (strategy == "Manual" && asked);
  if (!wanted) {
    DropRequests(status, "Start");
    return MachineStep::kNothing;
  }
  // Remembered until there is a VMI: the create may be refused.
  if (strategy == "RerunOnFailure" && !asked) {
    RequestsOf(status).push_back({{"action", "Start"}});
  }
  return MustWait(view, strategy, status) ? MachineStep::kNothing
                                          : MachineStep::kStart;
}

MachineStep DecideFinal(const MachineView& view, const std::string& strategy,
                        Json& status) {
  CountFailure(view, strategy, status);
  const bool failed = TextAt(*view.instance, {"status", "phase"}) == "Failed";
  if (strategy == "Once" || strategy == "Manual") return MachineStep::kNothing;
  if (strategy == "RerunOnFailure" && failed && !HasRequest(status, "Start")) {
    RequestsOf(status).push_back({{"action", "Start"}});
  }
  return MachineStep::kDeleteInstance;
}

// Whether a Stop of this very VMI is asked for. Requests that name another
// one are dropped, with the Start that came with them.
bool IsToldToStop(const MachineView& view, Json& status) {
  const std::string uid = TextAt(*view.instance, {"metadata", "uid"});
  for (const Json& one : RequestsOf(status)) {
    if (TextAt(one, {"action"}) != "Stop") continue;
    if (TextAt(one, {"uid"}) == uid) return true;
    RequestsOf(status) = Json::array();
    return false;
  }
  return false;
}

MachineStep DecidePresent(const MachineView& view, const std::string& strategy,
                          Json& status) {
  const Json& instance = *view.instance;
  const bool stop = IsToldToStop(view, status);
  if (!At(instance, {"metadata", "deletionTimestamp"}).is_null()) {
    if (!IsFinal(instance)) return MachineStep::kNothing;
    CountFailure(view, strategy, status);
    return MachineStep::kLetGo;
  }
  if (stop || strategy == "Halted") return MachineStep::kDeleteInstance;
  if (IsFinal(instance)) return DecideFinal(view, strategy, status);
  DropRequests(status, "Start");  // it is started
  if (TextAt(instance, {"status", "phase"}) == "Running") {
    status.erase("startFailure");
  }
  return MachineStep::kNothing;
}

std::string PrintableStatus(const MachineView& view,
                            const std::string& strategy, const Json& status) {
  const Json& instance = *view.instance;
  const std::string phase = TextAt(instance, {"status", "phase"});
  const bool crashed = !At(status, {"startFailure"}).is_null();
  if (instance.is_null()) {
    if (MustWait(view, strategy, status)) return "CrashLoopBackOff";
    return strategy == "Always" ? "Starting" : "Stopped";
  }
  if (IsFinal(instance)) {
    return crashed && strategy != "Manual" ? "CrashLoopBackOff" : "Stopped";
  }
  if (!At(instance, {"metadata", "deletionTimestamp"}).is_null()) {
    return "Stopping";
  }
  return phase == "Running" ? "Running" : "Starting";
}

void Describe(const MachineView& view, const std::string& strategy,
              Json& status) {
  const bool exists = !view.instance->is_null();
  const bool ready = TextAt(*view.instance, {"status", "phase"}) == "Running";
  status["created"] = exists;
  status["ready"] = ready;
  status["runStrategy"] = strategy;
  status["printableStatus"] = PrintableStatus(view, strategy, status);
  status["conditions"] = Json::array({{{"type", "Ready"},
                                       {"status", ready ? "True" : "False"},
                                       {"reason", ready    ? ""
                                                  : exists ? "GuestNotRunning"
                                                           : "VMINotExists"}}});
  if (status["stateChangeRequests"].empty())
    status.erase("stateChangeRequests");
}

}  // namespace

std::string RunStrategyOf(const Json& machine) {
  const std::string strategy = TextAt(machine, {"spec", "runStrategy"});
  if (!strategy.empty()) return strategy;
  return At(machine, {"spec", "running"}) == true ? "Always" : "Halted";
}

bool IsFinal(const Json& instance) {
  const std::string phase = TextAt(instance, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool WasRunning(const Json& instance) {
  for (const Json& one :
       At(instance, {"status", "phaseTransitionTimestamps"})) {
    if (TextAt(one, {"phase"}) == "Running") return true;
  }
  return false;
}

MachineStep DecideMachine(const MachineView& view, Json& status) {
  if (!status.is_object()) status = Json::object();
  const std::string strategy = RunStrategyOf(*view.machine);
  if (!CountsFailures(strategy)) status.erase("startFailure");
  const MachineStep step = view.instance->is_null()
                               ? DecideAbsent(view, strategy, status)
                               : DecidePresent(view, strategy, status);
  Describe(view, strategy, status);
  return step;
}

}  // namespace gpubinder::embedded
