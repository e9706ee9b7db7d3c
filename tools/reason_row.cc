#include "tools/reason_row.h"

#include <string>

#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/reason.h"

namespace gpubinder {

using Json = nlohmann::ordered_json;

Json ReasonRow(const v1::ReasonDetail& detail) {
  Json row = {{"reason", std::string(ReasonName(detail.reason()))}};
  const auto add = [&row](const char* name, const std::string& text) {
    if (!text.empty()) row[name] = text;
  };
  add("resource", detail.resource());
  add("taint", detail.taint());
  add("class", detail.class_name());
  add("claim", detail.claim());
  add("volume", detail.volume());
  add("object", detail.object());
  add("field", detail.field());
  add("text", detail.text());
  switch (detail.reason()) {
    case v1::INSUFFICIENT_UNITS:
      row["wanted"] = detail.wanted();
      row["free"] = detail.free();
      row["allocatable"] = detail.allocatable();
      row["booked"] = detail.booked();
      row["raw"] = detail.raw();
      break;
    case v1::RESOURCE_NOT_SERVED:
    case v1::MALFORMED_QUANTITY:
      row["wanted"] = detail.wanted();
      break;
    case v1::REJECTED_BY_NODE:
      row["until"] =
          absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ",
                           absl::FromUnixSeconds(detail.until_unix_seconds()),
                           absl::UTCTimeZone());
      break;
    default:
      break;
  }
  return row;
}

}  // namespace gpubinder
