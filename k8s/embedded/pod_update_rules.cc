#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/pod_rules.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kTermsPath[] =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms";
constexpr char kOnlyAdditions[] =
    "only additions are allowed (no mutations or deletions)";
constexpr char kOther[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
    "be set to 1 if it was previously negative)";

const Json& ListOf(const Json& value) {
  static const Json* const kEmpty = new Json(Json::array());
  return value.is_array() ? value : *kEmpty;
}

// The internal spelling that the server quotes: exported Go field names.
Json InternalTerm(const Json& term) {
  const auto list = [](const Json& requirements) {
    Json out;
    for (const Json& one : ListOf(requirements)) {
      out.push_back({{"Key", Member(one, "key")},
                     {"Operator", Member(one, "operator")},
                     {"Values", Member(one, "values")}});
    }
    return out;
  };
  return {{"MatchExpressions", list(Member(term, "matchExpressions"))},
          {"MatchFields", list(Member(term, "matchFields"))}};
}

Json InternalTerms(const Json& terms) {
  Json out;
  for (const Json& term : ListOf(terms)) out.push_back(InternalTerm(term));
  return out;
}

bool IsPrefix(const Json& old, const Json& longer) {
  if (old.size() > longer.size()) return false;
  for (size_t i = 0; i < old.size(); ++i) {
    if (!SemanticallyEqual(old[i], longer[i])) return false;
  }
  return true;
}

// GP-5, GP-6: requirements may only be appended, and never to an empty term.
bool HasOnlyAdditions(const Json& old, const Json& term) {
  const Json& old_expressions = ListOf(Member(old, "matchExpressions"));
  const Json& old_fields = ListOf(Member(old, "matchFields"));
  const Json& expressions = ListOf(Member(term, "matchExpressions"));
  const Json& fields = ListOf(Member(term, "matchFields"));
  if (old_expressions.empty() && old_fields.empty()) {
    return expressions.empty() && fields.empty();
  }
  return IsPrefix(old_expressions, expressions) && IsPrefix(old_fields, fields);
}

// GP-3 to GP-6, for the required part; preferred terms are free (GP-3).
void CheckNodeAffinity(const Json& old, const Json& affinity,
                       FieldErrors& errors) {
  const Json& old_required = Member(old, kRequired);
  if (!old_required.is_object()) return;
  const Json& old_terms = ListOf(Member(old_required, "nodeSelectorTerms"));
  const Json& terms = At(affinity, {kRequired, "nodeSelectorTerms"});
  if (!old_terms.empty() && ListOf(terms).size() != old_terms.size()) {
    errors.push_back(InvalidValue(
        kTermsPath, InternalTerms(terms),
        "no additions/deletions to non-empty NodeSelectorTerms list are "
        "allowed"));
    return;
  }
  for (size_t i = 0; i < old_terms.size(); ++i) {
    if (!HasOnlyAdditions(old_terms[i], terms[i])) {
      errors.push_back(InvalidValue(absl::StrCat(kTermsPath, "[", i, "]"),
                                    InternalTerm(terms[i]), kOnlyAdditions));
    }
  }
}

// GP-2.
void CheckNodeSelector(const Json& old, const Json& selector,
                       FieldErrors& errors) {
  if (!old.is_object()) return;
  for (const auto& [key, value] : old.items()) {
    if (Member(selector, key) == value) continue;
    errors.push_back(InvalidValue(
        "spec.nodeSelector", selector,
        "only additions to spec.nodeSelector are allowed (no mutations or "
        "deletions)"));
    return;
  }
}

// PU-2: compared as they are written, but for tolerationSeconds.
void CheckTolerations(const Json& old, const Json& tolerations,
                      FieldErrors& errors) {
  const auto same = [](const Json& a, const Json& b) {
    for (const char* field : {"key", "operator", "value", "effect"}) {
      if (TextAt(a, {field}) != TextAt(b, {field})) return false;
    }
    return true;
  };
  for (const Json& one : ListOf(old)) {
    bool kept = false;
    for (const Json& now : ListOf(tolerations)) kept = kept || same(one, now);
    if (kept) continue;
    errors.push_back(Forbidden("spec.tolerations",
                               "existing toleration can not be modified "
                               "except its tolerationSeconds"));
    return;
  }
}

// SG-1.
void CheckGates(const Json& old, const Json& gates, FieldErrors& errors) {
  for (size_t i = 0; i < ListOf(gates).size(); ++i) {
    const std::string name = TextAt(gates[i], {"name"});
    bool known = false;
    for (const Json& one : ListOf(old)) {
      known = known || TextAt(one, {"name"}) == name;
    }
    if (known) continue;
    errors.push_back(Forbidden(
        absl::StrCat("spec.schedulingGates[", i, "].name"),
        absl::StrCat("only deletion is allowed, but found new scheduling gate "
                     "'",
                     name, "'")));
  }
}

void Restore(const Json& old, const char* field, Json& munged) {
  if (Member(old, field).is_null()) {
    munged.erase(field);
  } else {
    munged[field] = old[field];
  }
}

// A gated pod's affinity: node affinity is judged and put back; what is left
// must be as it was (GP-7, GP-8).
void RestoreNodeAffinity(const Json& old, Json& munged) {
  const Json& old_affinity = Member(old, "affinity");
  const Json& old_node = Member(old_affinity, "nodeAffinity");
  if (!Member(munged, "affinity").is_object()) {
    if (!old_node.is_null()) munged["affinity"]["nodeAffinity"] = old_node;
    return;
  }
  Json& affinity = munged["affinity"];
  if (!old_affinity.is_object() && Member(affinity, "podAffinity").is_null() &&
      Member(affinity, "podAntiAffinity").is_null()) {
    munged.erase("affinity");
  } else {
    Restore(old_affinity, "nodeAffinity", affinity);
  }
}

void RestoreImages(const Json& old, const char* list, Json& munged) {
  const Json& before = ListOf(Member(old, list));
  if (!Member(munged, list).is_array()) return;
  for (size_t i = 0; i < munged[list].size() && i < before.size(); ++i) {
    if (munged[list][i].is_object()) {
      Restore(before[i], "image", munged[list][i]);
    }
  }
}

// PU-1: from none to a value, or less than before.
void CheckDeadline(const Json& old, const Json& deadline, FieldErrors& errors) {
  if (!old.is_number_integer() || old == deadline) return;
  if (deadline.is_number_integer() && deadline.get<int64_t>() >= 0 &&
      deadline.get<int64_t>() < old.get<int64_t>()) {
    return;
  }
  errors.push_back(InvalidValue("spec.activeDeadlineSeconds", deadline,
                                "must be less than or equal to previous "
                                "value"));
}

}  // namespace

FieldErrors CheckPodUpdate(const Json& old, const Json& pod) {
  FieldErrors errors;
  const Json& before = Member(old, "spec");
  const Json& spec = Member(pod, "spec");
  CheckGates(Member(before, "schedulingGates"), Member(spec, "schedulingGates"),
             errors);
  CheckDeadline(Member(before, "activeDeadlineSeconds"),
                Member(spec, "activeDeadlineSeconds"), errors);
  CheckTolerations(Member(before, "tolerations"), Member(spec, "tolerations"),
                   errors);

  Json munged = spec;
  Restore(before, "schedulingGates", munged);
  Restore(before, "activeDeadlineSeconds", munged);
  Restore(before, "tolerations", munged);
  RestoreImages(before, "containers", munged);
  RestoreImages(before, "initContainers", munged);
  if (NumberAt(before, {"terminationGracePeriodSeconds"}, 0) < 0 &&
      NumberAt(spec, {"terminationGracePeriodSeconds"}, 0) == 1) {
    Restore(before, "terminationGracePeriodSeconds", munged);
  }
  // GP-1: the stored pod decides whether it is gated.
  if (!ListOf(Member(before, "schedulingGates")).empty()) {
    CheckNodeSelector(Member(before, "nodeSelector"),
                      Member(spec, "nodeSelector"), errors);
    Restore(before, "nodeSelector", munged);
    CheckNodeAffinity(At(before, {"affinity", "nodeAffinity"}),
                      At(spec, {"affinity", "nodeAffinity"}), errors);
    RestoreNodeAffinity(before, munged);
  }
  if (!SemanticallyEqual(munged, before)) {
    errors.push_back(Forbidden("spec", kOther));
  }
  return errors;
}

}  // namespace gpubinder::embedded
