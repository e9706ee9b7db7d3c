// Reading JSON that came from outside: parsing in bounds, look-ups that never
// throw, comparison as Kubernetes compares.

#ifndef K8S_EMBEDDED_JSON_VALUE_H_
#define K8S_EMBEDDED_JSON_VALUE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

using Json = nlohmann::json;
using JsonPath = std::initializer_list<absl::string_view>;

// kInvalidArgument for text that is no JSON or is nested deeper than 128.
absl::StatusOr<Json> ParseJson(absl::string_view text);
// Bytes that are no UTF-8 are replaced.
std::string DumpJson(const Json& value);

// The member of that name; null JSON when there is none.
const Json& Member(const Json& value, absl::string_view name);
// The value at the end of a path of members; null JSON when there is none.
const Json& At(const Json& value, JsonPath path);
// A string at the path; empty when it is something else or missing.
std::string TextAt(const Json& value, JsonPath path);
// An integer at the path; `otherwise` when it is something else or missing.
int64_t NumberAt(const Json& value, JsonPath path, int64_t otherwise);
// Whether the array at the path has this string.
bool HasText(const Json& array, absl::string_view text);

// The member of that name, made an empty object when it is not one.
Json& ObjectAt(Json& value, absl::string_view name);
// Removes null members and empty objects and arrays, as a round trip through
// Kubernetes' own types does with omitempty.
Json WithoutEmpty(const Json& value);
// Equal, where missing, null and empty are the same (nil equals empty).
bool SemanticallyEqual(const Json& a, const Json& b);

// RFC 3339 in UTC with whole seconds, as Time is written.
std::string TimeText(absl::Time time);
// RFC 3339; nothing for anything else.
std::optional<absl::Time> TimeOf(const Json& value);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_JSON_VALUE_H_
