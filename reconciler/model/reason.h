// Reasons as people read them: the CamelCase name of each and a line of text
// with its numbers.
//
//   InsufficientUnits nvidia.com/H100 needs 4, free 3

#ifndef RECONCILER_MODEL_REASON_H_
#define RECONCILER_MODEL_REASON_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"

namespace gpubinder {

// As conditions and events show it. Empty for REASON_UNSPECIFIED and for a
// number this build does not know (a later build's journal may hold one).
absl::string_view ReasonName(v1::Reason reason);

// The reason of that name; nothing for any other text, the empty one too.
std::optional<v1::Reason> ReasonByName(absl::string_view name);

// One line: the name, the things it is about as far as they are set (resource,
// taint, claim, class, ...), the numbers of those reasons that have some, and
// after a colon the detail's text, its control characters made spaces. Not
// bounded here.
std::string ReasonText(const v1::ReasonDetail& detail);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_REASON_H_
