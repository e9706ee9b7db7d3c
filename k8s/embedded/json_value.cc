#include "k8s/embedded/json_value.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int kMaxDepth = 128;

// The library writes and copies recursively, so depth is bounded first.
bool IsShallow(absl::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '{' || c == '[') && ++depth > kMaxDepth) return false;
    if (c == '}' || c == ']') --depth;
  }
  return true;
}

const Json& NullJson() {
  static const Json* const kNull = new Json();
  return *kNull;
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text) {
  if (!IsShallow(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("nested deeper than ", kMaxDepth));
  }
  Json value = Json::parse(text.begin(), text.end(), nullptr,
                           /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return absl::InvalidArgumentError("not a JSON value");
  }
  return value;
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& Member(const Json& value, absl::string_view name) {
  if (!value.is_object()) return NullJson();
  const auto it = value.find(std::string(name));
  return it == value.end() ? NullJson() : *it;
}

const Json& At(const Json& value, JsonPath path) {
  const Json* at = &value;
  for (absl::string_view name : path) at = &Member(*at, name);
  return *at;
}

std::string TextAt(const Json& value, JsonPath path) {
  const Json& found = At(value, path);
  return found.is_string() ? found.get<std::string>() : std::string();
}

int64_t NumberAt(const Json& value, JsonPath path, int64_t otherwise) {
  const Json& found = At(value, path);
  return found.is_number_integer() ? found.get<int64_t>() : otherwise;
}

bool HasText(const Json& array, absl::string_view text) {
  if (!array.is_array()) return false;
  return std::any_of(array.begin(), array.end(), [&](const Json& item) {
    return item.is_string() && item.get_ref<const std::string&>() == text;
  });
}

Json& ObjectAt(Json& value, absl::string_view name) {
  if (!value.is_object()) value = Json::object();
  Json& member = value[std::string(name)];
  if (!member.is_object()) member = Json::object();
  return member;
}

Json WithoutEmpty(const Json& value) {
  if (value.is_object()) {
    Json kept = Json::object();
    for (const auto& [name, member] : value.items()) {
      Json pruned = WithoutEmpty(member);
      const bool empty =
          pruned.is_null() || (pruned.is_structured() && pruned.empty());
      if (!empty) kept[name] = std::move(pruned);
    }
    return kept;
  }
  if (value.is_array()) {
    Json kept = Json::array();
    for (const Json& item : value) kept.push_back(WithoutEmpty(item));
    return kept;
  }
  return value;
}

bool SemanticallyEqual(const Json& a, const Json& b) {
  const Json left = WithoutEmpty(a), right = WithoutEmpty(b);
  const auto empty = [](const Json& v) {
    return v.is_null() || (v.is_structured() && v.empty());
  };
  return (empty(left) && empty(right)) || left == right;
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::optional<absl::Time> TimeOf(const Json& value) {
  absl::Time time;
  if (!value.is_string()) return std::nullopt;
  if (!absl::ParseTime(absl::RFC3339_full, value.get<std::string>(), &time,
                       nullptr)) {
    return std::nullopt;
  }
  return time;
}

}  // namespace gpubinder::embedded
