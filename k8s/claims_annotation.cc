#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "k8s/field_reader.h"
#include "k8s/json_value.h"
#include "k8s/object_codec.h"
#include "proto/utf8.h"

namespace gpubinder {

namespace {

using Type = JsonValue::Type;

constexpr int kMostEntries = 16;

// Reads the fields of `object`, each at most once. `read` says what is wrong
// with a field's value; fields that `legal` does not list are unknown.
std::string ReadFieldsOnce(
    JsonValue object, std::initializer_list<absl::string_view> legal,
    absl::FunctionRef<std::string(absl::string_view, JsonValue)> read) {
  std::string error;
  std::vector<absl::string_view> seen;
  object.ForEachField([&](absl::string_view name, JsonValue value) {
    if (!error.empty()) return;
    const std::string shown = absl::Utf8SafeCEscape(Utf8Within(name, 64));
    if (std::find(legal.begin(), legal.end(), name) == legal.end()) {
      error = absl::StrCat("unknown field \"", shown, "\"");
    } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      error = absl::StrCat("field \"", shown, "\" is there twice");
    } else if (value.present()) {
      error = read(name, value);
    }
    seen.push_back(name);
  });
  return error;
}

std::string ReadName(absl::string_view field, JsonValue value,
                     std::string* out) {
  if (value.type() != Type::kText || value.text().empty()) {
    return absl::StrCat(field, ": found ", DescribeValue(value),
                        ", want a name");
  }
  *out = std::string(value.text());
  return "";
}

std::string ReadTemplate(JsonValue value, ClaimEntry* entry) {
  if (value.type() != Type::kObject) {
    return absl::StrCat("claimTemplate: found ", DescribeValue(value),
                        ", want an object");
  }
  std::string error = ReadFieldsOnce(
      value, {"className", "count"},
      [&](absl::string_view name, JsonValue field) -> std::string {
        if (name == "className") {
          return ReadName("claimTemplate.className", field, &entry->class_name);
        }
        if (field.type() != Type::kInteger || field.integer() < 1) {
          return absl::StrCat("claimTemplate.count: found ",
                              DescribeValue(field),
                              ", want a whole number of 1 or more");
        }
        entry->units = field.integer();
        return "";
      });
  if (error.empty() && entry->class_name.empty()) {
    error = "claimTemplate has no className";
  }
  return error;
}

std::string ReadEntry(JsonValue value, ClaimEntry* entry) {
  if (value.type() != Type::kObject) {
    return absl::StrCat("found ", DescribeValue(value), ", want an object");
  }
  int sources = 0;
  std::string error = ReadFieldsOnce(
      value, {"claimName", "claimTemplate"},
      [&](absl::string_view name, JsonValue field) {
        ++sources;
        return name == "claimName" ? ReadName(name, field, &entry->claim_name)
                                   : ReadTemplate(field, entry);
      });
  if (error.empty() && sources != 1) {
    error = absl::StrCat("found ", sources == 0 ? "neither" : "both",
                         " of claimName and claimTemplate, want one");
  }
  return error;
}

std::string ReadEntries(JsonValue list, std::vector<ClaimEntry>* entries) {
  std::string error;
  list.ForEachItem([&](JsonValue item) {
    if (!error.empty()) return;
    const int index = static_cast<int>(entries->size());
    if (index == kMostEntries) {
      error = absl::StrCat("found more than ", kMostEntries, " entries");
      return;
    }
    ClaimEntry entry;
    error = ReadEntry(item, &entry);
    const auto same = std::find_if(
        entries->begin(), entries->end(), [&](const ClaimEntry& earlier) {
          return !entry.claim_name.empty() &&
                 earlier.claim_name == entry.claim_name;
        });
    if (error.empty() && same != entries->end()) {
      error = absl::StrCat("claim \"", absl::Utf8SafeCEscape(entry.claim_name),
                           "\" is entry ", same - entries->begin(), " too");
    }
    if (!error.empty()) error = absl::StrCat("entry ", index, ": ", error);
    entries->push_back(std::move(entry));
  });
  return error;
}

}  // namespace

ClaimsAnnotation ParseClaimsAnnotation(absl::string_view text) {
  ClaimsAnnotation claims{.present = true};
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text);
  if (!document.ok()) {
    claims.error = std::string(document.status().message());
  } else if (document->root().type() != Type::kList) {
    claims.error = absl::StrCat("found ", DescribeValue(document->root()),
                                ", want a list of 1 to 16 entries");
  } else {
    claims.error = ReadEntries(document->root(), &claims.entries);
    if (claims.error.empty() && claims.entries.empty()) {
      claims.error = "found an empty list, want 1 to 16 entries";
    }
  }
  if (!claims.error.empty()) claims.entries.clear();
  return claims;
}

}  // namespace gpubinder
