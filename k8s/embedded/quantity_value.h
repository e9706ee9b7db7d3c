// Quantities for the stand-ins and the quota check, in thousandths.
//
// An implementation of its own on purpose: tests that run the product's
// quantity.h against this server compare the two.

#ifndef K8S_EMBEDDED_QUANTITY_VALUE_H_
#define K8S_EMBEDDED_QUANTITY_VALUE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Thousandths, rounded away from zero; nothing when it is no quantity.
// |exponent| up to 18 and 30 digits are read.
std::optional<absl::int128> MilliOf(absl::string_view quantity);
// "2", or "1500m" when it is not whole.
std::string MilliText(absl::int128 milli);

// Thousandths by resource name.
using Amounts = std::map<std::string, absl::int128>;
// Of {"cpu": "1", "memory": 5}; what is no quantity counts as 0.
Amounts AmountsOf(const nlohmann::json& list);
void AddTo(Amounts& sum, const Amounts& more);
// What the scheduler charges for a pod: containers, sidecars, init
// containers, overhead. `list` is "requests" or "limits".
Amounts PodAmounts(const nlohmann::json& pod, absl::string_view list);

// A resource of a device plugin: has a "/" and is not kubernetes.io's.
bool IsExtended(absl::string_view resource);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_QUANTITY_VALUE_H_
