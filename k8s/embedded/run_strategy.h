// What the VM controller does with a VM, by its run strategy: pure.

#ifndef K8S_EMBEDDED_RUN_STRATEGY_H_
#define K8S_EMBEDDED_RUN_STRATEGY_H_

#include <string>

#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// What to do next, beside the status to write.
enum class MachineStep { kNothing, kStart, kDeleteInstance, kLetGo };

struct MachineView {
  const nlohmann::json* machine = nullptr;
  const nlohmann::json* instance = nullptr;  // null JSON when there is none
  absl::Time now;
  absl::Duration start_backoff;
};

// "Always", "Halted", ...; `running` is translated.
std::string RunStrategyOf(const nlohmann::json& machine);
bool IsFinal(const nlohmann::json& instance);  // Succeeded or Failed
bool WasRunning(const nlohmann::json& instance);

// Changes `status` (of the VM) and says what to do with the VMI. kLetGo:
// take the VM controller's finalizer off the VMI.
MachineStep DecideMachine(const MachineView& view, nlohmann::json& status);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_RUN_STRATEGY_H_
