// JSON values as YAML text that every YAML 1.1 and 1.2 reader takes for the
// same values.

#ifndef TOOLS_JSON_YAML_H_
#define TOOLS_JSON_YAML_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace gpubinder {

// Block style, keys in their order. O(size).
std::string YamlText(const nlohmann::ordered_json& value);

}  // namespace gpubinder

#endif  // TOOLS_JSON_YAML_H_
