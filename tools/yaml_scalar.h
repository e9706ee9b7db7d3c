// What a plain YAML scalar means to Kubernetes, whose reader follows YAML 1.1.

#ifndef TOOLS_YAML_SCALAR_H_
#define TOOLS_YAML_SCALAR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

struct YamlScalar {
  enum class Type { kNull, kBool, kNumber, kText, kNotFinite };
  Type type = Type::kText;
  // null, true, a number in JSON's grammar with all its digits, or a quoted
  // text. Empty for .inf and .nan, which JSON has not.
  std::string json;
};

// `text` is valid UTF-8.
YamlScalar ResolvePlainScalar(absl::string_view text);

// The text between quotes, with JSON's escapes.
std::string JsonQuoted(absl::string_view text);

}  // namespace gpubinder

#endif  // TOOLS_YAML_SCALAR_H_
