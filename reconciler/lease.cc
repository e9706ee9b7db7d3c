#include "reconciler/lease.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

// Its own exceptions end here: a text that is not UTF-8 is replaced.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The member, or null where there is none or `json` is no object.
const Json& Member(const Json& json, const char* key) {
  static const Json& null = *new Json();
  if (!json.is_object()) return null;
  auto found = json.find(key);
  return found == json.end() ? null : *found;
}

std::string Text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

int64_t Number(const Json& json) {
  return json.is_number_integer() ? json.get<int64_t>() : 0;
}

// The member as an object, whatever it was.
Json& ObjectAt(Json& json, const char* key) {
  Json& member = json[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

// The API server takes exactly six decimals.
std::string MicroTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

Json Base(const std::optional<Lease>& lease, const LeaseHold& hold) {
  if (lease.has_value()) {
    Json json = Json::parse(lease->json, nullptr, /*allow_exceptions=*/false);
    if (json.is_object()) return json;
  }
  Json json = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  json["metadata"] = {{"name", kLeaseName}, {"namespace", hold.name_space}};
  return json;
}

}  // namespace

absl::StatusOr<Lease> ParseLease(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object() || Text(Member(json, "kind")) != "Lease") {
    return absl::DataLossError(absl::StrCat(
        "lease \"", kLeaseName, "\": the answer is no Lease but ", text.size(),
        " bytes of ", json.is_object() ? "another object" : "something else"));
  }
  const Json& metadata = Member(json, "metadata");
  const Json& spec = Member(json, "spec");
  if (Text(Member(metadata, "resourceVersion")).empty()) {
    return absl::DataLossError(
        absl::StrCat("lease \"", kLeaseName,
                     "\": metadata.resourceVersion is missing, a text is due"));
  }
  Lease lease;
  lease.json = std::string(text);
  lease.record = Dump(spec);
  lease.holder = Text(Member(spec, "holderIdentity"));
  lease.duration = absl::Seconds(
      std::max<int64_t>(0, Number(Member(spec, "leaseDurationSeconds"))));
  const Json& annotations = Member(metadata, "annotations");
  lease.unsettled = Text(Member(annotations, kUnsettledAnnotation)) == "true";
  uint64_t epoch = 0;
  if (absl::SimpleAtoi(Text(Member(annotations, kEpochAnnotation)), &epoch) &&
      epoch <= kMostEpoch) {
    lease.epoch = epoch;
  }
  return lease;
}

std::string LeaseBody(const std::optional<Lease>& lease,
                      const LeaseHold& hold) {
  Json json = Base(lease, hold);
  ObjectAt(ObjectAt(json, "metadata"), "annotations")[kEpochAnnotation] =
      absl::StrCat(hold.epoch);
  if (hold.unsettled) {
    json["metadata"]["annotations"][kUnsettledAnnotation] = "true";
  } else {
    json["metadata"]["annotations"].erase(kUnsettledAnnotation);
  }
  Json& spec = ObjectAt(json, "spec");
  const int64_t transitions = Number(Member(spec, "leaseTransitions"));
  std::string at = MicroTime(hold.at);
  // Others see a renewal by its time, also when our wall clock stands still.
  if (Text(Member(spec, "renewTime")) == at) {
    at = MicroTime(hold.at + absl::Microseconds(1));
  }
  const bool same = lease.has_value() && lease->holder == hold.holder;
  if (!same || !Member(spec, "acquireTime").is_string()) {
    spec["acquireTime"] = at;
  }
  const bool taken = lease.has_value() && !same && !hold.holder.empty();
  spec["leaseTransitions"] = std::min<int64_t>(
      transitions + (taken ? 1 : 0), std::numeric_limits<int32_t>::max());
  spec["holderIdentity"] = hold.holder;
  spec["leaseDurationSeconds"] = absl::ToInt64Seconds(hold.duration);
  spec["renewTime"] = at;
  return Dump(json);
}

}  // namespace gpubinder
