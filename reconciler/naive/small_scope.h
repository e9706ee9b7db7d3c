// Every small cluster, and what can happen to it: at most two nodes, three
// claims and two VMs, as commands of the scenario runner. A cluster and each
// event have a number, so that a list of numbers is a whole history.

#ifndef RECONCILER_NAIVE_SMALL_SCOPE_H_
#define RECONCILER_NAIVE_SMALL_SCOPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder::naive {

int ClusterCount();
int EventCount();

// One history: a cluster, then events, each followed by a pass whose effects
// are sent. Copies are cheap enough to branch at every state.
class SmallScope {
 public:
  explicit SmallScope(int cluster);

  // False: the event cannot happen here, and nothing has been done.
  bool Happen(int event);
  // Unanswered writes are read back; then passes until nothing is left to do.
  void Settle();

  // Commands so far, a scenario that shows the history again.
  const std::vector<std::string>& commands() const { return commands_; }
  const std::vector<std::string>& mistakes() const {
    return runner_.mistakes();
  }
  int passes() const { return passes_; }

 private:
  std::vector<std::string> Do(const std::string& command);
  bool Has(const std::string& kind, const std::string& name);
  // The node that the pod is pinned to; empty while it is gated or gone.
  std::string PinOf(const std::string& vm);
  bool HappenToNode(int event, const std::string& node);
  bool HappenToVm(int event, const std::string& vm);
  bool HappenToClaim(int event, const std::string& claim);
  bool HappenOnTheWay(int event, std::string& apply);
  void Pass(const std::string& apply);

  ScenarioRunner runner_;
  std::vector<std::string> commands_;
  int passes_ = 0;
};

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_SMALL_SCOPE_H_
