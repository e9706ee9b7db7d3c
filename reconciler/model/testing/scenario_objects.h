// The commands of a scenario that describe an object. scenario_test.cc lists
// them and their options.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/config.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/testing/scenario_server.h"
#include "reconciler/model/testing/scenario_words.h"

namespace gpubinder {

// The kind a command word describes ("node", "vmi"), or nothing.
std::optional<Kind> KindOfCommand(absl::string_view verb);

// Namespace (empty for a cluster's kind) and name of an object of the kind.
std::pair<std::string, std::string> NameOf(Kind kind, absl::string_view text);

// The object as the command leaves it: what is there with the options that
// the command gives, else a new one.
Object Describe(Kind kind, const std::string& name,
                const ScenarioServer& server, absl::Time now, Words& words);

// What the options say of the records that the binder keeps for others
// (scenario_records.cc).
void Fill(const ScenarioServer& server, Words& words, Workload& record);
void Fill(const ScenarioServer& server, Words& words, ConfigMap& map);

// Lists the pod in its VMI's activePods, with its node.
void ListPod(const Pod& pod, VirtualMachineInstance& vmi);

void ReadConfig(Words& words, Config& config);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_
