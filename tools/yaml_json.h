// YAML as Kubernetes reads it, turned into JSON text.
//
// Plain scalars mean what YAML 1.1 says (yes, on and 0o17 are no texts; 0x10
// is 16; a date is a text), quoted ones are texts, and whole numbers keep all
// their digits. Anchors, aliases and merge keys are resolved. A key that
// stands twice, a key that is a list or a map, .nan, .inf and unknown tags
// are errors.

#ifndef TOOLS_YAML_JSON_H_
#define TOOLS_YAML_JSON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

struct YamlDocument {
  int number = 1;    // in the text, from 1; empty ones count
  std::string json;  // compact
};

// The documents that are not empty. Text is at most `most_bytes` of JSON long
// in all (aliases can make it grow), and 500 levels deep. O(text + JSON).
// kInvalidArgument: "document 2, line 7, column 3: ...".
absl::StatusOr<std::vector<YamlDocument>> YamlToJson(absl::string_view text,
                                                     size_t most_bytes);

}  // namespace gpubinder

#endif  // TOOLS_YAML_JSON_H_
