// One reason of a node's verdict as `plan` prints it: its name and the fields
// that go with it.

#ifndef TOOLS_REASON_ROW_H_
#define TOOLS_REASON_ROW_H_

#include "nlohmann/json_fwd.hpp"
#include "proto/decision.pb.h"

namespace gpubinder {

// {reason, and of resource, taint, class, claim, volume, object, field, text
// those it has; numbers by the reason: wanted, free, allocatable, booked, raw
// of InsufficientUnits, wanted of ResourceNotServed and MalformedQuantity,
// until of RejectedByNode}.
nlohmann::ordered_json ReasonRow(const v1::ReasonDetail& detail);

}  // namespace gpubinder

#endif  // TOOLS_REASON_ROW_H_
