// A small scheduler: binds ungated pods where they fit, or says why not in
// the default scheduler's words. Also writes the taints that the node
// lifecycle controller keeps: cordon, not ready, unreachable.
//
// Not modelled: scoring (the first node by name that fits is taken), volumes,
// pod affinity, spread, ports, preemption.

#ifndef K8S_EMBEDDED_SCHEDULER_STAND_IN_H_
#define K8S_EMBEDDED_SCHEDULER_STAND_IN_H_

#include <map>
#include <string>
#include <vector>

#include "k8s/embedded/backend.h"
#include "k8s/embedded/quantity_value.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Not thread-safe: one thread steps.
class SchedulerStandIn {
 public:
  explicit SchedulerStandIn(Backend& backend) : backend_(backend) {}
  // Looks at each node and each unbound pod once, oldest pod first.
  void Step();

 private:
  void KeepTaints(const nlohmann::json& node);
  void Schedule(const nlohmann::json& pod);
  void Refuse(const nlohmann::json& pod, const std::string& message);

  Backend& backend_;
  std::vector<JsonPtr> nodes_;
  std::map<std::string, Amounts> used_;  // by node
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_SCHEDULER_STAND_IN_H_
