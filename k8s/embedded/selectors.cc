#include "k8s/embedded/selectors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/object_rules.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

using Op = LabelRequirement::Op;

absl::Status Unparsable(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("unable to parse requirement: ", what));
}

// Commas inside "(a,b)" do not split.
std::vector<std::string> SplitTop(absl::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

absl::StatusOr<LabelRequirement> ParseSet(absl::string_view text, size_t at,
                                          absl::string_view word, Op op) {
  LabelRequirement out;
  out.op = op;
  out.key = std::string(absl::StripAsciiWhitespace(text.substr(0, at)));
  absl::string_view rest =
      absl::StripAsciiWhitespace(text.substr(at + word.size()));
  if (!absl::StartsWith(rest, "(") || !absl::EndsWith(rest, ")")) {
    return Unparsable(absl::StrCat("found '", rest, "', expected: '('"));
  }
  rest = rest.substr(1, rest.size() - 2);
  for (absl::string_view value : absl::StrSplit(rest, ',')) {
    out.values.emplace_back(absl::StripAsciiWhitespace(value));
  }
  return out;
}

absl::StatusOr<LabelRequirement> ParseOne(absl::string_view text) {
  LabelRequirement out;
  if (size_t at = text.find(" notin "); at != absl::string_view::npos) {
    return ParseSet(text, at, " notin ", Op::kNotIn);
  }
  if (size_t at = text.find(" in "); at != absl::string_view::npos) {
    return ParseSet(text, at, " in ", Op::kIn);
  }
  const size_t at = text.find('=');
  if (at == absl::string_view::npos) {
    out.op = absl::StartsWith(text, "!") ? Op::kMissing : Op::kExists;
    out.key = std::string(text.substr(out.op == Op::kMissing ? 1 : 0));
    return out;
  }
  absl::string_view key = text.substr(0, at), value = text.substr(at + 1);
  out.op = Op::kIn;
  if (absl::EndsWith(key, "!")) {
    out.op = Op::kNotIn;
    key.remove_suffix(1);
  }
  if (absl::StartsWith(value, "=")) value.remove_prefix(1);
  if (absl::StrContains(value, "=")) {
    return Unparsable("found '=', expected: identifier");
  }
  out.key = std::string(absl::StripAsciiWhitespace(key));
  out.values = {std::string(absl::StripAsciiWhitespace(value))};
  return out;
}

bool MatchesLabel(const LabelRequirement& one, const Json& labels) {
  const Json& found = Member(labels, one.key);
  const bool present = found.is_string();
  const bool listed =
      present &&
      std::find(one.values.begin(), one.values.end(),
                found.get_ref<const std::string&>()) != one.values.end();
  switch (one.op) {
    case Op::kIn:
      return listed;
    case Op::kNotIn:
      return !listed;
    case Op::kExists:
      return present;
    case Op::kMissing:
      return !present;
  }
  return false;
}

bool IsSelectable(const Resource& resource, const std::string& path) {
  static const auto* const kPods = new std::set<std::string>{
      "spec.nodeName",           "spec.restartPolicy", "spec.schedulerName",
      "spec.serviceAccountName", "status.phase",       "status.podIP",
      "status.nominatedNodeName"};
  static const auto* const kEvents =
      new std::set<std::string>{"involvedObject.kind",
                                "involvedObject.namespace",
                                "involvedObject.name",
                                "involvedObject.uid",
                                "involvedObject.apiVersion",
                                "involvedObject.resourceVersion",
                                "involvedObject.fieldPath",
                                "reason",
                                "reportingComponent",
                                "source",
                                "type"};
  if (path == "metadata.name") return true;
  if (path == "metadata.namespace") return resource.namespaced;
  if (resource.kind == "Pod") return kPods->count(path) > 0;
  if (resource.kind == "Event") return kEvents->count(path) > 0;
  if (resource.kind == "Node") return path == "spec.unschedulable";
  return resource.kind == "Namespace" && path == "status.phase";
}

// Kinds with selectable fields of their own word it in another way.
std::string NotSelectable(const Resource& resource, const std::string& path) {
  for (const char* kind : {"Pod", "Event", "Node", "Namespace"}) {
    if (resource.kind == kind) {
      return absl::StrCat("field label not supported: ", path);
    }
  }
  if (resource.is_custom) {
    return absl::StrCat("field label not supported: ", path);
  }
  return absl::StrCat("\"", path,
                      "\" is not a known field selector: only "
                      "\"metadata.name\", \"metadata.namespace\"");
}

std::string FieldValue(const Json& object, const std::string& path) {
  const Json* at = &object;
  for (absl::string_view part : absl::StrSplit(path, '.')) {
    at = &Member(*at, part);
  }
  if (at->is_string()) return at->get<std::string>();
  if (path == "spec.unschedulable" && at->is_null()) return "false";
  return at->is_null() ? "" : DumpJson(*at);
}

}  // namespace

bool Selector::Matches(const Json& object) const {
  const Json& own = At(object, {"metadata", "labels"});
  for (const LabelRequirement& one : labels) {
    if (!MatchesLabel(one, own)) return false;
  }
  for (const FieldRequirement& one : fields) {
    if ((FieldValue(object, one.path) == one.value) != one.equal) return false;
  }
  return true;
}

absl::StatusOr<Selector> ParseSelector(const Resource& resource,
                                       absl::string_view labels,
                                       absl::string_view fields) {
  Selector selector;
  for (const std::string& part : SplitTop(labels)) {
    const absl::string_view text = absl::StripAsciiWhitespace(part);
    if (labels.empty()) break;
    absl::StatusOr<LabelRequirement> one = ParseOne(text);
    if (!one.ok()) return one.status();
    if (!IsQualifiedName(one->key)) {
      return Unparsable(
          absl::StrCat("found '", one->key, "', expected: a label key"));
    }
    selector.labels.push_back(*std::move(one));
  }
  if (fields.empty()) return selector;
  for (absl::string_view text : absl::StrSplit(fields, ',')) {
    const size_t at = text.find('=');
    if (at == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid selector: '", text, "'; can't understand '", text, "'"));
    }
    FieldRequirement one;
    absl::string_view path = text.substr(0, at), value = text.substr(at + 1);
    one.equal = !absl::EndsWith(path, "!");
    if (!one.equal) path.remove_suffix(1);
    if (absl::StartsWith(value, "=")) value.remove_prefix(1);
    one.path = std::string(path);
    one.value = std::string(value);
    if (!IsSelectable(resource, one.path)) {
      return absl::InvalidArgumentError(NotSelectable(resource, one.path));
    }
    selector.fields.push_back(std::move(one));
  }
  return selector;
}

}  // namespace gpubinder::embedded
