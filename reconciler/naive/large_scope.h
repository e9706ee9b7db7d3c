// Larger clusters, and what happens to them, drawn from dice: up to 50 nodes,
// 300 claims and 80 VMs of several tenants, with budgets, classes, templates,
// volumes, migrations, refusals and faults on the way of writes. Everything
// is a command of the scenario runner, so that a failure is a scenario.

#ifndef RECONCILER_NAIVE_LARGE_SCOPE_H_
#define RECONCILER_NAIVE_LARGE_SCOPE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/testing/scenario_runner.h"
#include "reconciler/naive/scope_tally.h"

namespace gpubinder::naive {

// One history: a cluster, then events, each followed by a pass whose effects
// are sent, answered or lost. The same dice give the same history.
class LargeScope {
 public:
  explicit LargeScope(Dice dice);

  // One event that is possible here, and a pass.
  void Happen();
  // Unanswered writes are read back, then passes until nothing is left to do;
  // then the journal is run again.
  void Settle();

  const std::vector<std::string>& commands() const { return commands_; }
  const std::vector<std::string>& mistakes() const {
    return runner_.mistakes();
  }
  int passes() const { return passes_; }

 private:
  using Event = bool (LargeScope::*)();
  struct Weighted {
    int weight;
    Event event;
  };
  static const std::vector<Weighted>& Events();

  void MakeClasses();
  void MakeTenants();
  void MakeNode(const std::string& name);
  void MakeClaim(const std::string& name_space, const std::string& name);
  void MakeVm(const std::string& name_space, const std::string& name);
  void Do(const std::string& command);
  void Pass();

  // Names of what is there, "ns/name"; one of them, or nothing.
  std::string Any(Kind kind);
  std::string AnyNode() { return Any(Kind::kNode); }
  template <typename T>
  const T* Find(const std::string& name) const;
  const Pod* LauncherOf(const std::string& vmi) const;
  // The options that say which resources a launcher of the VMI asks for.
  std::string DemandOf(const VirtualMachineInstance& vmi) const;
  std::string Entries(const std::string& name_space);
  // A VMI with a launcher for which `holds`, by its name.
  std::string AnyVmi(bool (*holds)(const VirtualMachineInstance&, const Pod*));
  void CollectOwned(const std::string& owner_uid);
  std::string NewLauncher(const std::string& vmi, const std::string& options);

  // large_scope_events.cc
  bool NodeUnits();
  bool NodeTaint();
  bool NodeCordon();
  bool NodeReady();
  bool NodeAgent();
  bool NodeGone();
  bool NodeBack();
  bool NodeLabels();
  bool VmStarts();
  bool VmStartsOddly();
  bool PodIsScheduled();
  bool SchedulerRefuses();
  bool KubeletRefuses();
  bool VmiEnds();
  bool VmStops();
  bool PodGoes();
  bool VmiIsDeleted();
  bool VmMigrates();
  bool VmIsGone();
  bool AnnotationIsEdited();
  // large_scope.cc
  bool ClaimIsDeleted();
  bool ClaimComes();
  bool ClaimIsMalformed();
  bool BudgetChanges();
  bool ClassChanges();
  bool TenantChanges();
  bool RawPod();
  bool TimePasses();
  bool Unseen();
  bool ListsAgain();
  bool ConfigChanges();
  bool Nothing();

  Dice dice_;
  ScenarioRunner runner_;
  std::vector<std::string> commands_;
  int passes_ = 0;
  int names_ = 0;  // handed out so far
};

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_LARGE_SCOPE_H_
