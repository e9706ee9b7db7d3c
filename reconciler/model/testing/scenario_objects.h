// The commands of a scenario that describe an object. scenario_test.cc lists
// them and their options.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// What the options say of the kinds with few of them, and what all kinds have
// (scenario_records.cc).
void Fill(const ScenarioServer& server, Words& words, Namespace& space);
void Fill(const ScenarioServer& server, Words& words, ResourceQuota& quota);
void Fill(const ScenarioServer& server, Words& words,
          PersistentVolumeClaim& claim);
void Fill(const ScenarioServer& server, Words& words, PersistentVolume& volume);
void Fill(const ScenarioServer& server, Words& words, SchedulingClass& found);
void Fill(const ScenarioServer& server, Words& words, Workload& record);
void Fill(const ScenarioServer& server, Words& words, ConfigMap& map);
void SetCondition(Condition wanted, std::vector<Condition>& conditions);
void TakeCondition(Words& words, int64_t generation,
                   std::vector<Condition>& conditions);

// Lists the pod in its VMI's activePods, with its node.
void ListPod(const Pod& pod, VirtualMachineInstance& vmi);

void ReadConfig(Words& words, Config& config);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_OBJECTS_H_
