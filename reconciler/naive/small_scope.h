// Every small cluster, and what can happen to it: at most two nodes, three
// claims and two VMs, as commands of the scenario runner. A cluster and each
// event have a number, so that a list of numbers is a whole history.

#ifndef RECONCILER_NAIVE_SMALL_SCOPE_H_
#define RECONCILER_NAIVE_SMALL_SCOPE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/testing/scenario_runner.h"

namespace gpubinder::naive {

int ClusterCount();
int EventCount();

// What happens, and what becomes of the effects of the pass that follows.
struct Step {
  std::vector<std::string> commands;
  std::string apply = "apply";
};

enum class Judged { kAnew, kBefore };

// One history: a cluster, then events, each followed by a pass whose effects
// are sent. Copies are cheap enough to branch at every state.
class SmallScope {
 public:
  SmallScope(int cluster, Replays replays);

  // Nothing: the event cannot happen here.
  std::optional<Step> StepOf(int event) const;
  // The two halves of a step.
  void Begin(const Step& step);
  void Pass(const std::string& apply, Judged judged);
  // Both. False: the event cannot happen here, and nothing has been done.
  bool Happen(int event);
  // Unanswered writes are read back, and what has to wait for a minute may go
  // on, if there is anything. Not so, and the last pass had no effects: the
  // history has settled.
  bool waits() const { return runner_.waits(); }
  void Resume();
  // Then passes until nothing is left to do.
  void Settle();

  StateDigest Digest() const { return runner_.Digest(); }
  // The number of effects of the last pass.
  int effects() const { return effects_; }
  // Commands so far, a scenario that shows the history again.
  std::vector<std::string> commands() const;
  const std::vector<std::string>& mistakes() const {
    return runner_.mistakes();
  }
  int passes() const { return passes_; }

 private:
  void Say(const std::string& command);
  void Do(const std::string& command);
  bool Has(Kind kind, const std::string& name) const;
  // The node that the pod is pinned to; empty while it is gated or gone.
  std::string PinOf(const std::string& vm) const;
  std::optional<Step> OfNode(int event, const std::string& node) const;
  std::optional<Step> OfVm(int event, const std::string& vm) const;
  std::optional<Step> OfClaim(int event, const std::string& claim) const;
  std::optional<Step> OnTheWay(int event) const;
  bool IsPossible(const std::string& command) const;

  ScenarioRunner runner_;
  // Copies share what they have in common.
  struct Said {
    std::shared_ptr<const Said> before;
    std::string command;
  };
  std::shared_ptr<const Said> said_;
  int passes_ = 0, effects_ = 0;
};

}  // namespace gpubinder::naive

#endif  // RECONCILER_NAIVE_SMALL_SCOPE_H_
