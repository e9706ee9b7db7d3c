#include "k8s/embedded/object_rules.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr absl::string_view kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'MyName',  or "
    "'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr absl::string_view kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric "
    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr size_t kMaxAnnotations = 256 * 1024;

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return IsAlnum(c) && !std::isupper(c); }

bool IsDnsLabel(absl::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsLower(text.front()) || !IsLower(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLower(c) || c == '-'; });
}

bool IsSubdomain(absl::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    // A label of a subdomain may be longer than 63: only the sum counts.
    if (part.empty() || !IsLower(part.front()) || !IsLower(part.back())) {
      return false;
    }
    if (!std::all_of(part.begin(), part.end(),
                     [](char c) { return IsLower(c) || c == '-'; })) {
      return false;
    }
  }
  return true;
}

bool IsNamePart(absl::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlnum(c) || c == '-' || c == '_' || c == '.';
  });
}

void CheckLabels(const Json& labels, FieldErrors& errors) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.items()) {
    if (!IsQualifiedName(key)) {
      errors.push_back(InvalidValue("metadata.labels", key, kNamePart));
    }
    if (!value.is_string() || !IsLabelValue(value.get<std::string>())) {
      errors.push_back(InvalidValue("metadata.labels", value, kLabelValue));
    }
  }
}

void CheckAnnotations(const Json& annotations, FieldErrors& errors) {
  if (!annotations.is_object()) return;
  size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    if (!IsQualifiedName(key)) {
      errors.push_back(InvalidValue("metadata.annotations", key, kNamePart));
    }
    size +=
        key.size() + (value.is_string() ? value.get<std::string>().size() : 0);
  }
  if (size > kMaxAnnotations) {
    errors.push_back({"metadata.annotations", "FieldValueTooLong",
                      absl::StrCat("Too long: may not be more than ",
                                   kMaxAnnotations, " bytes")});
  }
}

void CheckOwners(const Json& owners, FieldErrors& errors) {
  int controllers = 0;
  for (size_t i = 0; owners.is_array() && i < owners.size(); ++i) {
    const std::string field = absl::StrCat("metadata.ownerReferences[", i, "]");
    for (const char* name : {"apiVersion", "kind", "name", "uid"}) {
      if (TextAt(owners[i], {name}).empty()) {
        errors.push_back(
            InvalidValue(absl::StrCat(field, ".", name), "",
                         absl::StrCat(name, " must not be empty")));
      }
    }
    if (Member(owners[i], "controller") == true && ++controllers == 2) {
      errors.push_back(
          InvalidValue("metadata.ownerReferences", owners,
                       "Only one reference can have Controller set to true"));
    }
  }
}

void CheckFinalizers(const Json& finalizers, FieldErrors& errors) {
  if (!finalizers.is_array()) return;
  for (const Json& finalizer : finalizers) {
    if (!finalizer.is_string() ||
        !IsQualifiedName(finalizer.get<std::string>())) {
      errors.push_back(
          InvalidValue("metadata.finalizers", finalizer, kNamePart));
    }
  }
}

void CheckShape(const Json& object, FieldErrors& errors) {
  CheckLabels(At(object, {"metadata", "labels"}), errors);
  CheckAnnotations(At(object, {"metadata", "annotations"}), errors);
  CheckOwners(At(object, {"metadata", "ownerReferences"}), errors);
  CheckFinalizers(At(object, {"metadata", "finalizers"}), errors);
}

}  // namespace

bool IsQualifiedName(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  if (parts.size() > 2) return false;
  if (parts.size() == 2 && !IsSubdomain(parts[0])) return false;
  return IsNamePart(parts.back());
}

bool IsLabelValue(absl::string_view text) {
  return text.empty() || IsNamePart(text);
}

FieldErrors CheckMetadata(const Resource& resource, const Json& object) {
  FieldErrors errors;
  const std::string name = TextAt(object, {"metadata", "name"});
  if (name.empty()) {
    errors.push_back(
        Required("metadata.name", "name or generateName is required"));
  } else if (resource.kind == "Namespace" ? !IsDnsLabel(name)
                                          : !IsSubdomain(name)) {
    errors.push_back(InvalidValue("metadata.name", name, kSubdomain));
  }
  CheckShape(object, errors);
  return errors;
}

FieldErrors CheckMetadataUpdate(const Json& old, const Json& object) {
  FieldErrors errors;
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds"}) {
    const Json& value = At(object, {"metadata", field});
    if (value != At(old, {"metadata", field})) {
      errors.push_back(InvalidValue(absl::StrCat("metadata.", field), value,
                                    "field is immutable"));
    }
  }
  if (!At(old, {"metadata", "deletionTimestamp"}).is_null()) {
    std::vector<std::string> added;
    for (const Json& one : At(object, {"metadata", "finalizers"})) {
      if (one.is_string() && !HasText(At(old, {"metadata", "finalizers"}),
                                      one.get<std::string>())) {
        added.push_back(DumpJson(one));
      }
    }
    if (!added.empty()) {
      errors.push_back(Forbidden(
          "metadata.finalizers",
          absl::StrCat("no new finalizers can be added if the object is being "
                       "deleted, found new finalizers []string{",
                       absl::StrJoin(added, ", "), "}")));
    }
  }
  CheckShape(object, errors);
  return errors;
}

std::optional<std::string> LeaseTimeError(const Json& lease) {
  for (const char* field : {"acquireTime", "renewTime"}) {
    const Json& value = At(lease, {"spec", field});
    if (value.is_null()) continue;
    const std::string text = TextAt(lease, {"spec", field});
    // "2026-01-01T00:00:00.123456Z": exactly six decimals.
    size_t end = 20;
    while (end < text.size() && std::isdigit(text[end])) ++end;
    if (TimeOf(value).has_value() && text.size() > 19 && text[19] == '.' &&
        end == 26) {
      continue;
    }
    return absl::StrCat(
        "parsing time ", DumpJson(value),
        " as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"",
        text.size() > 19 ? text.substr(19) : text, "\" as \".000000\"");
  }
  return std::nullopt;
}

}  // namespace gpubinder::embedded
