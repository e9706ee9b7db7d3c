// What the pass says: which claims belong together, each set's reason, and
// each node's with their numbers.

#include <algorithm>

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

std::string AboutOf(const v1::ReasonDetail& detail) {
  switch (detail.reason()) {
    case v1::MALFORMED_OBJECT:
      return detail.object() + (detail.object().compare(0, 5, "Node ") == 0
                                    ? " " + detail.field()
                                    : "");
    case v1::UNTOLERATED_TAINT:
      return detail.taint() + " class " + detail.class_name();
    case v1::CLASS_SELECTOR_MISMATCH:
    case v1::CLASS_BEING_DELETED:
    case v1::NOT_ENTITLED:
      return detail.class_name();
    case v1::RESOURCE_NOT_SERVED:
    case v1::MALFORMED_QUANTITY:
    case v1::INSUFFICIENT_UNITS:
      return detail.resource();
    case v1::VOLUME_NOT_REACHABLE:
      return detail.claim() + " " + detail.volume();
    case v1::REJECTED_BY_NODE:
      return std::to_string(detail.until_unix_seconds());
    case v1::CLASS_NOT_FOUND:
    case v1::COUNT_ABOVE_MAXIMUM:
      return detail.claim() + " " + detail.class_name();
    case v1::OVER_BUDGET:
      return detail.key() + " " + detail.pool() + " used " +
             std::to_string(detail.used()) + " limit " +
             std::to_string(detail.limit()) + " wanted " +
             std::to_string(detail.wanted());
    case v1::CLAIM_NOT_FOUND:
    case v1::CLAIM_ATTACHED_ELSEWHERE:
    case v1::CLAIM_BEING_DELETED:
    case v1::NAME_TAKEN:
      return detail.claim();
    default:
      return "";
  }
}

// A taint without a value may be written without the "=".
std::string Plain(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '='), text.end());
  return text;
}

std::string Joined(const std::vector<Why>& why) {
  std::vector<std::string> texts;
  for (const Why& one : why) texts.push_back(Plain(one.Text()));
  std::sort(texts.begin(), texts.end());
  // Two claims may give the same fault of one class.
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::string text;
  for (const std::string& one : texts) text += one + "; ";
  return text.empty() ? "fits" : text;
}

std::vector<Why> WhyOf(const std::vector<v1::ReasonDetail>& details) {
  std::vector<Why> why;
  for (const v1::ReasonDetail& detail : details) {
    why.push_back({detail.reason(), AboutOf(detail), detail.wanted(),
                   detail.free(), detail.allocatable(), detail.booked(),
                   detail.raw()});
  }
  return why;
}

// The nodes as the pass tells them, each once.
std::map<std::string, std::string> Told(Bench& bench, const SetView& view) {
  std::map<std::string, std::string> told;
  const std::vector<NodeGroup>& groups = view.verdict.judged.groups();
  std::vector<std::string> texts;
  for (const NodeGroup& group : groups) {
    texts.push_back(Joined(WhyOf(*group.reasons)));
  }
  std::vector<std::vector<std::string>> nodes(groups.size());
  view.verdict.judged.ForEachNode([&](const std::string& node, size_t group) {
    nodes[group].push_back(node);
    if (!told.emplace(node, texts[group]).second) {
      bench.Fault(view.set.key(), "tells " + node + " twice");
    }
  });
  // The group form says the same.
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].nodes != nodes[i].size() ||
        groups[i].example !=
            *std::min_element(nodes[i].begin(), nodes[i].end())) {
      bench.Fault(view.set.key(), "counts " + std::to_string(groups[i].nodes) +
                                      " nodes, first " + groups[i].example +
                                      ": " + texts[i]);
    }
  }
  return told;
}

void JudgeNodes(Bench& bench, int index, const SetView& view) {
  const std::map<std::string, std::string> told = Told(bench, view);
  if (told.empty()) return;
  // It can only stay with its launcher, whose node is not there.
  const SetState& set = bench.world.sets[index];
  if (set.pinned != nullptr &&
      FindNode(bench.world, set.pinned_node) == nullptr) {
    return;
  }
  std::string closest = "has not looked at any";
  for (const auto& nodes : bench.seen[index]) {
    std::string difference;
    for (const auto& [node, why] : nodes) {
      auto found = told.find(node);
      const std::string here = found == told.end() ? "nothing" : found->second;
      if (here != Joined(why)) {
        difference = node + " is: " + Joined(why) + " and told as: " + here;
      }
    }
    for (const auto& [node, text] : told) {
      if (!nodes.contains(node)) difference = node + " is told: " + text;
    }
    if (difference.empty()) return;
    closest = difference;
  }
  bench.Fault(view.set.key(), "node reasons differ: " + closest);
}

bool IsSuccess(v1::Reason reason) {
  return reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE;
}

// KubeVirt could not create the launcher.
bool GetsNoPod(const VirtualMachineInstance& vmi) {
  for (const Condition& condition : vmi.conditions) {
    if (condition.type == "Synchronized" && condition.status == "False" &&
        condition.reason == "FailedCreate") {
      return true;
    }
  }
  return false;
}

void JudgeProblems(Bench& bench, int index, const SetView& view) {
  const SetState& set = bench.world.sets[index];
  std::set<Why> wanted = set.problems;
  if (set.gated != nullptr) {
    wanted = StartStops(bench.world, index);
  } else {
    wanted.insert(set.order_problems.begin(), set.order_problems.end());
    if (set.vmi != nullptr && GetsNoPod(*set.vmi)) {
      wanted.insert({v1::START_REFUSED_BY_API, ""});
    }
  }
  const std::vector<Why>& over = bench.said[index].over;
  wanted.insert(over.begin(), over.end());
  const std::vector<Why> told = WhyOf(view.verdict.details);
  const std::string want = Joined({wanted.begin(), wanted.end()});
  if (Joined(told) != want) {
    bench.Fault(view.set.key(),
                "its faults are: " + want + " and told as: " + Joined(told));
  }
}

bool IsBroughtBack(const Bench& bench, const SetState& set) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.set_key() == set.key &&
        (effect.has_delete_pod() || effect.has_delete_vmi() ||
         effect.has_restart_vm())) {
      return true;
    }
  }
  return false;
}

void JudgeVerdict(Bench& bench, int index, const SetView& view) {
  const SetState& set = bench.world.sets[index];
  const v1::Reason reason = view.verdict.reason;
  JudgeNodes(bench, index, view);
  if (IsSuccess(reason)) {
    for (const int claim : set.members) {
      if (bench.world.claims[claim].phase != "Bound") {
        bench.Fault(set.key, "is called placed, but " +
                                 bench.world.claims[claim].claim->meta.name +
                                 " is not Bound");
      }
    }
  }
  auto said = bench.said.find(index);
  if (said == bench.said.end()) return;
  // One whose VM is brought back is judged by the next pass.
  if (reason == v1::REASON_UNSPECIFIED && IsBroughtBack(bench, set)) return;
  // A set that the pass has touched may be told more of by the next one.
  if (bench.touched.contains(index) && reason == v1::REASON_UNSPECIFIED) return;
  if (!said->second.reasons.empty() && !said->second.reasons.contains(reason)) {
    bench.Fault(set.key, "is called " + v1::Reason_Name(reason) + ", it is " +
                             v1::Reason_Name(*said->second.reasons.begin()));
  }
  if (said->second.details) JudgeProblems(bench, index, view);
}

std::string Names(const World& world, const std::vector<int>& claims) {
  std::set<std::string> names;
  for (const int claim : claims)
    names.insert(world.claims[claim].claim->meta.name);
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

std::string Names(const Snapshot& snapshot, const std::vector<Row>& claims) {
  std::set<std::string> names;
  for (const Row claim : claims)
    names.insert(snapshot.claims()[claim].meta.name);
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

}  // namespace

void JudgeSets(Bench& bench) {
  const World& world = bench.world;
  for (const SetState& set : world.sets) {
    auto view = bench.views.find(set.key);
    const std::string mine = Names(world, set.members);
    const std::string leaving = Names(world, set.leaving);
    const ClaimSet* theirs =
        view == bench.views.end() ? nullptr : &view->second->set;
    const std::string told =
        theirs == nullptr ? "" : Names(*world.snapshot, theirs->members);
    const std::string told_leaving =
        theirs == nullptr ? "" : Names(*world.snapshot, theirs->leaving);
    if (mine != told || leaving != told_leaving) {
      bench.Fault(set.key, "holds " + mine + "(leaving " + leaving +
                               "), in the pass " + told + "(leaving " +
                               told_leaving + ")");
    }
  }
}

void JudgeVerdicts(Bench& bench) {
  for (size_t s = 0; s < bench.world.sets.size(); ++s) {
    const SetState& set = bench.world.sets[s];
    auto view = bench.views.find(set.key);
    if (view == bench.views.end() || set.frozen) continue;
    if (view->second->frozen) continue;
    JudgeVerdict(bench, static_cast<int>(s), *view->second);
  }
}

}  // namespace gpubinder::naive
