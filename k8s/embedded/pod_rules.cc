#include "k8s/embedded/pod_rules.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/object_rules.h"
#include "k8s/embedded/quantity_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::string_view kRequiredPath =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms";
constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

void DefaultTolerations(Json& spec) {
  Json& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = Json::array();
  for (const char* key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool covered = false;
    for (const Json& one : tolerations) {
      const std::string own = TextAt(one, {"key"});
      const std::string effect = TextAt(one, {"effect"});
      covered = covered || ((own == key || own.empty()) &&
                            (effect == "NoExecute" || effect.empty()));
    }
    if (covered) continue;
    tolerations.push_back({{"key", key},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", 300}});
  }
}

// matchExpressions of a node selector term.
void CheckExpression(const std::string& field, const Json& one,
                     FieldErrors& errors) {
  const std::string op = TextAt(one, {"operator"});
  const Json& values = Member(one, "values");
  const size_t count = values.is_array() ? values.size() : 0;
  if (op == "In" || op == "NotIn") {
    if (count == 0) {
      errors.push_back(
          Required(field + ".values",
                   "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (count > 0) {
      errors.push_back(Forbidden(field + ".values",
                                 "may not be specified when `operator` is "
                                 "'Exists' or 'DoesNotExist'"));
    }
  } else if (op == "Gt" || op == "Lt") {
    if (count != 1) {
      errors.push_back(Required(
          field + ".values",
          "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors.push_back(
        InvalidValue(field + ".operator", op, "not a valid selector operator"));
  }
  if (const std::string key = TextAt(one, {"key"}); !IsQualifiedName(key)) {
    errors.push_back(InvalidValue(field + ".key", key,
                                  "name part must consist of alphanumeric "
                                  "characters, '-', '_' or '.'"));
  }
}

// matchFields of a node selector term: only metadata.name, In or NotIn, one.
void CheckField(const std::string& field, const Json& one,
                FieldErrors& errors) {
  const std::string op = TextAt(one, {"operator"});
  const Json& values = Member(one, "values");
  if (op != "In" && op != "NotIn") {
    errors.push_back(
        InvalidValue(field + ".operator", op, "not a valid selector operator"));
  } else if (!values.is_array() || values.size() != 1) {
    errors.push_back(Required(field + ".values",
                              "must be only one value when `operator` is 'In' "
                              "or 'NotIn' for node field selector"));
  }
  if (TextAt(one, {"key"}) != "metadata.name") {
    errors.push_back(InvalidValue(field + ".key", Member(one, "key"),
                                  "not a valid field selector key"));
  }
}

void CheckAffinity(const Json& spec, FieldErrors& errors) {
  const Json& required = At(spec, {"affinity", "nodeAffinity", kRequired});
  if (!required.is_object()) return;
  const Json& terms = Member(required, "nodeSelectorTerms");
  if (!terms.is_array() || terms.empty()) {
    errors.push_back(
        Required(kRequiredPath, "must have at least one node selector term"));
    return;
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::string term = absl::StrCat(kRequiredPath, "[", i, "]");
    const Json& expressions = Member(terms[i], "matchExpressions");
    for (size_t j = 0; expressions.is_array() && j < expressions.size(); ++j) {
      CheckExpression(absl::StrCat(term, ".matchExpressions[", j, "]"),
                      expressions[j], errors);
    }
    const Json& fields = Member(terms[i], "matchFields");
    for (size_t j = 0; fields.is_array() && j < fields.size(); ++j) {
      CheckField(absl::StrCat(term, ".matchFields[", j, "]"), fields[j],
                 errors);
    }
  }
}

// ER-2, ER-3: extended resources are whole and not overcommitted.
void CheckResources(const std::string& field, const Json& resources,
                    FieldErrors& errors) {
  const Amounts requests = AmountsOf(Member(resources, "requests"));
  const Amounts limits = AmountsOf(Member(resources, "limits"));
  for (const auto& [name, amount] : limits) {
    if (IsExtended(name) && (amount < 0 || amount % 1000 != 0)) {
      errors.push_back(InvalidValue(absl::StrCat(field, ".limits[", name, "]"),
                                    MilliText(amount), "must be an integer"));
    }
  }
  for (const auto& [name, amount] : requests) {
    if (!IsExtended(name)) continue;
    const auto limit = limits.find(name);
    if (limit == limits.end()) {
      errors.push_back(
          Required(field + ".limits",
                   "Limit must be set for non overcommitable resources"));
    } else if (limit->second != amount) {
      errors.push_back(
          InvalidValue(field + ".requests", MilliText(amount),
                       absl::StrCat("must be equal to ", name, " limit of ",
                                    MilliText(limit->second))));
    }
  }
}

void CheckContainers(const Json& spec, const std::string& list,
                     FieldErrors& errors) {
  const Json& containers = Member(spec, list);
  for (size_t i = 0; containers.is_array() && i < containers.size(); ++i) {
    const std::string field = absl::StrCat("spec.", list, "[", i, "]");
    for (const char* name : {"name", "image"}) {
      if (TextAt(containers[i], {name}).empty()) {
        errors.push_back(Required(absl::StrCat(field, ".", name), ""));
      }
    }
    CheckResources(field + ".resources", Member(containers[i], "resources"),
                   errors);
  }
}

}  // namespace

void DefaultPod(Json& pod) {
  Json& spec = ObjectAt(pod, "spec");
  const auto fallback = [&](const char* name, Json value) {
    if (Member(spec, name).is_null()) spec[name] = std::move(value);
  };
  fallback("restartPolicy", "Always");
  fallback("terminationGracePeriodSeconds", 30);
  fallback("dnsPolicy", "ClusterFirst");
  fallback("schedulerName", "default-scheduler");
  fallback("securityContext", Json::object());
  fallback("priority", 0);
  fallback("enableServiceLinks", true);
  fallback("preemptionPolicy", "PreemptLowerPriority");
  DefaultTolerations(spec);
  for (const char* list : {"containers", "initContainers"}) {
    if (!Member(spec, list).is_array()) continue;
    for (Json& container : spec[list]) {
      if (!container.is_object()) continue;
      Json& resources = ObjectAt(container, "resources");
      if (!Member(resources, "limits").is_object()) continue;
      for (const auto& [name, limit] : resources["limits"].items()) {
        if (Member(Member(resources, "requests"), name).is_null()) {
          ObjectAt(resources, "requests")[name] = limit;
        }
      }
    }
  }
}

Json NewPodStatus(const Json& pod, const std::string& now) {
  Json status = {{"phase", "Pending"}, {"qosClass", "Burstable"}};
  const Json& gates = At(pod, {"spec", "schedulingGates"});
  if (gates.is_array() && !gates.empty()) {
    status["conditions"].push_back(
        {{"type", "PodScheduled"},
         {"status", "False"},
         {"lastProbeTime", nullptr},
         {"lastTransitionTime", now},
         {"reason", "SchedulingGated"},
         {"message",
          "Scheduling is blocked due to non-empty scheduling gates"}});
  }
  return status;
}

FieldErrors CheckPod(const Json& pod) {
  FieldErrors errors;
  const Json& spec = Member(pod, "spec");
  const Json& containers = Member(spec, "containers");
  if (!containers.is_array() || containers.empty()) {
    errors.push_back(Required("spec.containers", ""));
  }
  CheckContainers(spec, "containers", errors);
  CheckContainers(spec, "initContainers", errors);
  CheckAffinity(spec, errors);
  const Json& gates = Member(spec, "schedulingGates");
  std::set<std::string> seen;
  for (size_t i = 0; gates.is_array() && i < gates.size(); ++i) {
    const std::string name = TextAt(gates[i], {"name"});
    const std::string field = absl::StrCat("spec.schedulingGates[", i, "]");
    if (!IsQualifiedName(name)) {
      errors.push_back(InvalidValue(field + ".name", name,
                                    "name part must consist of alphanumeric "
                                    "characters, '-', '_' or '.'"));
    }
    if (!seen.insert(name).second) errors.push_back(Duplicate(field, name));
  }
  return errors;
}

FieldErrors CheckPodCreate(const Json& pod) {
  FieldErrors errors = CheckPod(pod);
  const Json& gates = At(pod, {"spec", "schedulingGates"});
  if (!TextAt(pod, {"spec", "nodeName"}).empty() && gates.is_array() &&
      !gates.empty()) {
    errors.push_back(
        Forbidden("spec.nodeName",
                  "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}

}  // namespace gpubinder::embedded
