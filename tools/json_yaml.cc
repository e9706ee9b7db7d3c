#include "tools/json_yaml.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/yaml_scalar.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

// Whether the text, unquoted, is that text to every reader: plain words that
// are no number, truth value or null.
bool IsPlain(const std::string& text) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("_./-", c);
  };
  return !text.empty() && absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(), is_plain) &&
         ResolvePlainScalar(text).type == YamlScalar::Type::kText;
}

std::string Scalar(const Json& value) {
  if (value.is_string() && IsPlain(value.get<std::string>())) {
    return value.get<std::string>();
  }
  // JSON's texts are YAML's, and so are its empty list and object.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsBlock(const Json& value) {
  return value.is_structured() && !value.empty();
}

// `value` is a block; its first line begins where the text ends.
void Write(const Json& value, size_t indent, std::string* out) {
  const std::string margin(indent, ' ');
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (!first) *out += margin;
    first = false;
    if (value.is_array()) {
      *out += "- ";
      if (IsBlock(*item)) {
        Write(*item, indent + 2, out);
        continue;
      }
      absl::StrAppend(out, Scalar(*item), "\n");
      continue;
    }
    absl::StrAppend(out, Scalar(item.key()), ":");
    if (IsBlock(*item)) {
      // Lists stand at their key's own margin, as kubectl prints them.
      const size_t inner = indent + (item->is_array() ? 0 : 2);
      absl::StrAppend(out, "\n", std::string(inner, ' '));
      Write(*item, inner, out);
    } else {
      absl::StrAppend(out, " ", Scalar(*item), "\n");
    }
  }
}

}  // namespace

std::string YamlText(const Json& value) {
  if (!IsBlock(value)) return Scalar(value) + "\n";
  std::string text;
  Write(value, 0, &text);
  return text;
}

}  // namespace gpubinder
