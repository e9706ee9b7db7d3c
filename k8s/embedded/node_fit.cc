#include "k8s/embedded/node_fit.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kUnschedulable[] = "node.kubernetes.io/unschedulable";
constexpr char kElsewhere[] = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

bool Tolerates(const Json& toleration, const std::string& key,
               const std::string& value, const std::string& effect) {
  const std::string own_effect = TextAt(toleration, {"effect"});
  const std::string own_key = TextAt(toleration, {"key"});
  const std::string op = TextAt(toleration, {"operator"});
  if (!own_effect.empty() && own_effect != effect) return false;
  if (!own_key.empty() && own_key != key) return false;
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") &&
         TextAt(toleration, {"value"}) == value;
}

bool IsTolerated(const Json& pod, const std::string& key,
                 const std::string& value, const std::string& effect) {
  for (const Json& one : At(pod, {"spec", "tolerations"})) {
    if (Tolerates(one, key, value, effect)) return true;
  }
  return false;
}

bool HasUntoleratedTaint(const Json& pod, const Json& node) {
  for (const Json& taint : At(node, {"spec", "taints"})) {
    const std::string effect = TextAt(taint, {"effect"});
    if (effect == "PreferNoSchedule") continue;
    if (!IsTolerated(pod, TextAt(taint, {"key"}), TextAt(taint, {"value"}),
                     effect)) {
      return true;
    }
  }
  return false;
}

bool MatchesExpression(const Json& one, const Json& labels) {
  const std::string op = TextAt(one, {"operator"});
  const Json& values = Member(one, "values");
  const Json& label = Member(labels, TextAt(one, {"key"}));
  const std::string text = label.is_string() ? label.get<std::string>() : "";
  if (op == "In") return label.is_string() && HasText(values, text);
  if (op == "NotIn") return !label.is_string() || !HasText(values, text);
  if (op == "Exists") return label.is_string();
  if (op == "DoesNotExist") return !label.is_string();
  int64_t have = 0, want = 0;
  if (!values.is_array() || values.size() != 1 || !values[0].is_string() ||
      !absl::SimpleAtoi(text, &have) ||
      !absl::SimpleAtoi(values[0].get<std::string>(), &want)) {
    return false;
  }
  return op == "Gt" ? have > want : op == "Lt" && have < want;
}

bool MatchesTerm(const Json& term, const Json& node) {
  const Json& expressions = Member(term, "matchExpressions");
  const Json& fields = Member(term, "matchFields");
  if (expressions.empty() && fields.empty()) return false;
  const Json& labels = At(node, {"metadata", "labels"});
  for (const Json& one : expressions) {
    if (!MatchesExpression(one, labels)) return false;
  }
  const Json name = {{"metadata.name", TextAt(node, {"metadata", "name"})}};
  for (const Json& one : fields) {
    if (!MatchesExpression(one, name)) return false;
  }
  return true;
}

const Json& TermsOf(const Json& pod) {
  return At(pod, {"spec", "affinity", "nodeAffinity", kRequired,
                  "nodeSelectorTerms"});
}

bool MatchesAffinity(const Json& pod, const Json& node) {
  const Json& selector = At(pod, {"spec", "nodeSelector"});
  if (selector.is_object()) {
    for (const auto& [key, value] : selector.items()) {
      if (At(node, {"metadata", "labels", key}) != value) return false;
    }
  }
  if (!TermsOf(pod).is_array()) return true;
  for (const Json& term : TermsOf(pod)) {
    if (MatchesTerm(term, node)) return true;
  }
  return false;
}

// NS-9: when every term names nodes, only those are looked at.
std::optional<std::set<std::string>> NamedNodes(const Json& pod) {
  if (!TermsOf(pod).is_array()) return std::nullopt;
  std::set<std::string> names;
  for (const Json& term : TermsOf(pod)) {
    bool named = false;
    for (const Json& field : Member(term, "matchFields")) {
      if (TextAt(field, {"operator"}) != "In") continue;
      named = true;
      for (const Json& value : Member(field, "values")) {
        if (value.is_string()) names.insert(value.get<std::string>());
      }
    }
    if (!named) return std::nullopt;
  }
  return names;
}

void CheckResources(const Json& pod, const Json& node, const Amounts& used,
                    NodeFit& fit) {
  const Amounts allocatable = AmountsOf(At(node, {"status", "allocatable"}));
  const auto amount = [](const Amounts& all, const std::string& name) {
    const auto it = all.find(name);
    return it == all.end() ? absl::int128(0) : it->second;
  };
  fit.preemption_could_help = true;
  if (allocatable.count("pods") > 0 &&
      amount(used, "pods") + 1000 > amount(allocatable, "pods")) {
    fit.reasons.push_back("Too many pods");
  }
  for (const auto& [name, wanted] : PodAmounts(pod, "requests")) {
    const absl::int128 all = amount(allocatable, name);
    if (wanted == 0 || wanted <= all - amount(used, name)) continue;
    fit.reasons.push_back("Insufficient " + name);
    if (wanted > all) fit.preemption_could_help = false;
  }
  if (fit.reasons.empty()) fit.preemption_could_help = false;
}

std::string Counted(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) {
    parts.push_back(absl::StrCat(count, " ", reason));
  }
  std::sort(parts.begin(), parts.end());
  return absl::StrJoin(parts, ", ");
}

}  // namespace

NodeFit FitOf(const Json& pod, const Json& node, const Amounts& used) {
  NodeFit fit;
  const auto names = NamedNodes(pod);
  if (names.has_value() &&
      names->count(TextAt(node, {"metadata", "name"})) == 0) {
    fit.reasons = {kElsewhere};
    return fit;
  }
  if (At(node, {"spec", "unschedulable"}) == true &&
      !IsTolerated(pod, kUnschedulable, "", "NoSchedule")) {
    fit.reasons = {"node(s) were unschedulable"};
  } else if (HasUntoleratedTaint(pod, node)) {
    fit.reasons = {"node(s) had untolerated taint(s)"};
  } else if (!MatchesAffinity(pod, node)) {
    fit.reasons = {"node(s) didn't match Pod's node affinity/selector"};
  } else {
    CheckResources(pod, node, used, fit);
  }
  return fit;
}

std::string UnschedulableMessage(const std::vector<NodeFit>& fits) {
  if (fits.empty()) return "no nodes available to schedule pods";
  std::map<std::string, int> reasons, preemption;
  for (const NodeFit& fit : fits) {
    for (const std::string& reason : fit.reasons) ++reasons[reason];
    ++preemption[fit.preemption_could_help
                     ? "No preemption victims found for incoming pod"
                     : "Preemption is not helpful for scheduling"];
  }
  const std::string head =
      absl::StrCat("0/", fits.size(), " nodes are available: ");
  return absl::StrCat(head, Counted(reasons),
                      ". no new claims to deallocate, preemption: ", head,
                      Counted(preemption), ".");
}

}  // namespace gpubinder::embedded
