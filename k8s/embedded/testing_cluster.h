// Test only: an embedded server with stand-ins, a clock that stands still and
// a webhook that gates launchers.

#ifndef K8S_EMBEDDED_TESTING_CLUSTER_H_
#define K8S_EMBEDDED_TESTING_CLUSTER_H_

#include <string>
#include <vector>

#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/testing_calls.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

class TestCluster {
 public:
  TestCluster();

  // The answer's body; `code()` is its code. A body that is no JSON is null.
  nlohmann::json Call(const std::string& method, const std::string& target,
                      const std::string& body = "",
                      const std::string& type = "json");
  // Every item of a list.
  std::vector<nlohmann::json> Items(const std::string& target);
  int code() const { return code_; }

  // Of namespace default; null when there is none.
  nlohmann::json Vm(const std::string& name);
  nlohmann::json Vmi(const std::string& name);
  // The one launcher that is there; null when there is none or several.
  nlohmann::json Launcher();

  void AddNode(const std::string& name, int gpus);
  void StartVm(const std::string& name, const std::string& strategy, int gpus);
  // Pins the launcher to the node and takes its gate off, in one patch.
  void Pin(const nlohmann::json& pod, const std::string& node);
  // Deletes that very pod.
  void DeletePod(const nlohmann::json& pod);
  // Until nothing happens; a check fails when that takes too long.
  void Settle();

  ManualClock clock;
  EmbeddedServer server;
  std::vector<AdmissionCall> reviews;  // that the webhook got

 private:
  absl::StatusOr<std::string> Admit(const AdmissionCall& call);
  int code_ = 0;
  TestTransport transport_;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_TESTING_CLUSTER_H_
