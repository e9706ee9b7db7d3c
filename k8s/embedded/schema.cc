#include "k8s/embedded/schema.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

std::string Join(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

// apiVersion, kind and metadata are not the schema's.
bool IsTypeField(const std::string& path, const std::string& name) {
  return path.empty() &&
         (name == "apiVersion" || name == "kind" || name == "metadata");
}

void Prune(const Json& schema, const std::string& path, Json& value,
           std::vector<std::string>& unknown) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      Prune(Member(schema, "items"), absl::StrCat(path, "[", i, "]"), value[i],
            unknown);
    }
    return;
  }
  if (!value.is_object()) return;
  const Json& properties = Member(schema, "properties");
  const Json& others = Member(schema, "additionalProperties");
  const bool open =
      Member(schema, "x-kubernetes-preserve-unknown-fields") == true;
  for (auto it = value.begin(); it != value.end();) {
    const bool known = !Member(properties, it.key()).is_null();
    const bool keep =
        open || known || !others.is_null() || IsTypeField(path, it.key());
    if (!keep) unknown.push_back(Join(path, it.key()));
    // Null is dropped unless the schema says nullable; ours never does.
    it = keep && !it->is_null() ? std::next(it) : value.erase(it);
  }
  // A default may itself have fields with defaults.
  for (const auto& [name, member] : properties.items()) {
    const Json& fallback = Member(member, "default");
    if (!fallback.is_null() && !value.contains(name)) value[name] = fallback;
  }
  for (const auto& [name, member] : value.items()) {
    const Json& known = Member(properties, name);
    if (!open && !IsTypeField(path, name)) {
      Prune(known.is_null() ? others : known, Join(path, name), member,
            unknown);
    }
  }
}

bool HasType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  return type.empty() || (type == "number" && value.is_number());
}

std::string TypeName(const Json& value) {
  if (value.is_number_integer()) return "integer";
  return value.type_name();
}

void CheckText(const Json& schema, const std::string& path, const Json& value,
               FieldErrors& errors) {
  const auto size =
      static_cast<int64_t>(value.get_ref<const std::string&>().size());
  const int64_t least = NumberAt(schema, {"minLength"}, 0);
  const int64_t most = NumberAt(schema, {"maxLength"}, INT64_MAX);
  if (size < least) {
    errors.push_back(
        InvalidValue(path, value,
                     absl::StrCat(path, " in body should be at least ", least,
                                  " chars long")));
  }
  if (size > most) {
    errors.push_back(
        {path, "FieldValueTooLong",
         absl::StrCat("Too long: may not be more than ", most, " bytes")});
  }
  const std::string pattern = TextAt(schema, {"pattern"});
  if (!pattern.empty() &&
      !std::regex_search(value.get<std::string>(), std::regex(pattern))) {
    errors.push_back(InvalidValue(
        path, value,
        absl::StrCat(path, " in body should match '", pattern, "'")));
  }
  if (Member(schema, "format") == "date-time" && !TimeOf(value).has_value()) {
    errors.push_back(InvalidValue(
        path, value,
        absl::StrCat(path,
                     " in body must be of type date-time: ", DumpJson(value))));
  }
}

void CheckBounds(const Json& schema, const std::string& path, const Json& value,
                 FieldErrors& errors) {
  if (value.is_string()) CheckText(schema, path, value, errors);
  if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    const int64_t least = NumberAt(schema, {"minimum"}, INT64_MIN);
    const int64_t most = NumberAt(schema, {"maximum"}, INT64_MAX);
    if (number < least) {
      errors.push_back(InvalidValue(
          path, value,
          absl::StrCat(path, " in body should be greater than or equal to ",
                       least)));
    }
    if (number > most) {
      errors.push_back(InvalidValue(
          path, value,
          absl::StrCat(path, " in body should be less than or equal to ",
                       most)));
    }
  }
  const int64_t most = NumberAt(
      schema, {value.is_array() ? "maxItems" : "maxProperties"}, INT64_MAX);
  if (value.is_structured() && static_cast<int64_t>(value.size()) > most) {
    errors.push_back({path, "FieldValueTooMany",
                      absl::StrCat("Too many: ", value.size(),
                                   ": must have at most ", most, " items")});
  }
}

// Whether `value` keeps a rule; nothing for a rule that is not known here.
std::optional<bool> Keeps(absl::string_view rule, const Json& value,
                          const Json& old) {
  // A transition rule: judged only where an old value is.
  if (rule == "self == oldSelf") return old.is_null() || old == value;
  if (rule == "size(self.metadata.name) <= 63") {
    return TextAt(value, {"metadata", "name"}).size() <= 63;
  }
  if (rule ==
      "!self.contains('kubernetes.io/') && !self.startsWith('requests.')") {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    return !absl::StrContains(text, "kubernetes.io/") &&
           !absl::StartsWith(text, "requests.");
  }
  const bool exists = TextAt(value, {"operator"}) == "Exists";
  if (rule ==
      "(has(self.key) && self.key != '') || (has(self.operator) && "
      "self.operator == 'Exists')") {
    return exists || !TextAt(value, {"key"}).empty();
  }
  if (rule ==
      "!has(self.operator) || self.operator != 'Exists' || !has(self.value) "
      "|| self.value == ''") {
    return !exists || TextAt(value, {"value"}).empty();
  }
  if (rule ==
      "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == "
      "'NoExecute')") {
    return Member(value, "tolerationSeconds").is_null() ||
           TextAt(value, {"effect"}) == "NoExecute";
  }
  return std::nullopt;
}

void CheckRules(const Json& schema, const std::string& path, const Json& value,
                const Json& old, FieldErrors& errors) {
  for (const Json& rule : Member(schema, "x-kubernetes-validations")) {
    if (Keeps(TextAt(rule, {"rule"}), value, old).value_or(true)) continue;
    errors.push_back({path.empty() ? "<nil>" : path, "FieldValueInvalid",
                      absl::StrCat("Invalid value: \"", TypeName(value),
                                   "\": ", TextAt(rule, {"message"}))});
  }
}

// x-kubernetes-list-type map: no two items with the same keys.
void CheckKeys(const Json& schema, const std::string& path, const Json& value,
               FieldErrors& errors) {
  if (Member(schema, "x-kubernetes-list-type") != "map") return;
  std::set<std::string> seen;
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    Json key = Json::object();
    for (const Json& name : Member(schema, "x-kubernetes-list-map-keys")) {
      key[name.get<std::string>()] = Member(value[i], name.get<std::string>());
    }
    if (!seen.insert(DumpJson(key)).second) {
      errors.push_back(Duplicate(absl::StrCat(path, "[", i, "]"), key));
    }
  }
}

void Check(const Json& schema, const std::string& path, const Json& value,
           const Json& old, FieldErrors& errors) {
  const std::string type = TextAt(schema, {"type"});
  if (!HasType(value, type)) {
    errors.push_back({path, "FieldValueTypeInvalid",
                      absl::StrCat("Invalid value: \"", TypeName(value),
                                   "\": ", path, " in body must be of type ",
                                   type, ": \"", TypeName(value), "\"")});
    return;
  }
  const Json& allowed = Member(schema, "enum");
  if (allowed.is_array() &&
      !HasText(allowed, value.is_string() ? value.get<std::string>() : "")) {
    std::string list;
    for (const Json& one : allowed) {
      absl::StrAppend(&list, list.empty() ? "" : ", ", DumpJson(one));
    }
    errors.push_back({path, "FieldValueNotSupported",
                      absl::StrCat("Unsupported value: ", DumpJson(value),
                                   ": supported values: ", list)});
  }
  CheckBounds(schema, path, value, errors);
  CheckRules(schema, path, value, old, errors);
  CheckKeys(schema, path, value, errors);
  for (const Json& name : Member(schema, "required")) {
    if (value.is_object() && !value.contains(name.get<std::string>())) {
      errors.push_back(Required(Join(path, name.get<std::string>()), ""));
    }
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      const Json& known = At(schema, {"properties", name});
      const Json& other = Member(schema, "additionalProperties");
      if (known.is_null() && other.is_null()) continue;
      Check(known.is_null() ? other : known, Join(path, name), member,
            Member(old, name), errors);
    }
  }
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    Check(Member(schema, "items"), absl::StrCat(path, "[", i, "]"), value[i],
          Json(), errors);
  }
}

}  // namespace

std::vector<std::string> PruneAndDefault(const Json& schema, Json& object) {
  std::vector<std::string> unknown;
  Prune(schema, "", object, unknown);
  return unknown;
}

bool IsKnownRule(absl::string_view rule) {
  return Keeps(rule, Json(), Json()).has_value();
}

FieldErrors CheckSchema(const Json& schema, const Json& object,
                        const Json& old) {
  FieldErrors errors;
  Check(schema, "", object, old, errors);
  return errors;
}

}  // namespace gpubinder::embedded
