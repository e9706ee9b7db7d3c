// A small virt-controller and virt-handler: VM to VMI to launcher pod, phases,
// run strategies, start-failure backoff, stateChangeRequests.
//
// Not modelled: DataVolumes and provisioning pods, migration, hotplug,
// instancetypes, the restart subresource (write stateChangeRequests instead).

#ifndef K8S_EMBEDDED_KUBEVIRT_STAND_IN_H_
#define K8S_EMBEDDED_KUBEVIRT_STAND_IN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "k8s/embedded/backend.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Tries a create that was refused again after 5 ms, doubling, up to 1000 s.
class RetryDelays {
 public:
  bool IsDue(const std::string& what, absl::Time now) const;
  void Failed(const std::string& what, absl::Time now);
  void Succeeded(const std::string& what) { delays_.erase(what); }

 private:
  struct Delay {
    absl::Duration last;
    absl::Time until;
  };
  std::map<std::string, Delay> delays_;
};

// Not thread-safe: one thread steps.
class KubeVirtStandIn {
 public:
  // A failed start waits `start_backoff` times the square of the failures in
  // a row, and up to half as long again.
  KubeVirtStandIn(Backend& backend, absl::Duration start_backoff);
  // Looks at each VM and VMI once.
  void Step();

 private:
  void StepMachine(const nlohmann::json& machine);
  void StepInstance(const nlohmann::json& instance);
  void StepLauncher(const nlohmann::json& pod);
  void StartInstance(const nlohmann::json& machine);
  void EndInstance(const nlohmann::json& instance,
                   const std::vector<JsonPtr>& pods);
  void CreateLauncher(const nlohmann::json& instance);
  std::vector<JsonPtr> PodsOf(const nlohmann::json& instance) const;

  Backend& backend_;
  const absl::Duration start_backoff_;
  RetryDelays retries_;
  std::multimap<std::string, JsonPtr> pods_;  // by uid of the controller
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_KUBEVIRT_STAND_IN_H_
