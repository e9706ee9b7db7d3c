#include "k8s/embedded/gpu_schemas.h"

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder {
namespace {

// Parts that more than one kind has; "$NAME" in a schema stands for one.
constexpr absl::string_view kConditions = R"({"type":"array","maxItems":16,
  "items":{"type":"object","required":["type","status"],"properties":{
    "type":{"type":"string","maxLength":316},
    "status":{"type":"string","enum":["True","False","Unknown"]},
    "reason":{"type":"string","maxLength":1024},
    "message":{"type":"string","maxLength":1024},
    "observedGeneration":{"type":"integer","minimum":0},
    "lastTransitionTime":{"type":"string","format":"date-time"}}}})";

constexpr absl::string_view kDecision = R"({"type":"object","properties":{
  "journal":{"type":"string","maxLength":8},
  "epoch":{"type":"integer","minimum":0},
  "sequence":{"type":"integer","minimum":0}}})";

constexpr absl::string_view kRejected = R"({"type":"array","maxItems":64,
  "items":{"type":"object","required":["nodeName"],"properties":{
    "nodeName":{"type":"string","maxLength":253},
    "nodeUID":{"type":"string","maxLength":64},
    "podUID":{"type":"string","maxLength":64},
    "resources":{"type":"array","maxItems":32,
                 "items":{"type":"string","maxLength":317}},
    "reason":{"type":"string","maxLength":1024},
    "rejectedAt":{"type":"string","format":"date-time"},
    "until":{"type":"string","format":"date-time"},
    "fingerprint":{"type":"string","maxLength":128}}}})";

constexpr absl::string_view kTolerations = R"({"type":"array","maxItems":16,
  "items":{"type":"object","properties":{
    "key":{"type":"string","maxLength":317},
    "operator":{"type":"string","enum":["Exists","Equal"]},
    "value":{"type":"string","maxLength":63},
    "effect":{"type":"string",
              "enum":["NoSchedule","PreferNoSchedule","NoExecute"]},
    "tolerationSeconds":{"type":"integer"}}}})";

constexpr absl::string_view kClass = R"({"type":"object","properties":{
  "spec":{"type":"object","required":["resourceName"],"properties":{
    "resourceName":{"type":"string","minLength":1,"maxLength":317,
      "x-kubernetes-validations":[{"rule":"self == oldSelf",
        "message":"resourceName is immutable"}]},
    "type":{"type":"string","enum":["Passthrough","VGPU"],
            "default":"Passthrough"},
    "maxCount":{"type":"integer","minimum":1,"maximum":64,"default":8},
    "nodeSelector":{"type":"object","maxProperties":32,
      "additionalProperties":{"type":"string","maxLength":63}},
    "tolerations":$TOLERATIONS,
    "onCordon":{"type":"string","enum":["Move","Stay"],"default":"Move"}}},
  "status":{"type":"object","properties":{"conditions":$CONDITIONS}}}})";

constexpr absl::string_view kClaim = R"({"type":"object",
  "required":["spec"],"properties":{
  "spec":{"type":"object","required":["className"],
    "x-kubernetes-validations":[{"rule":"self == oldSelf",
      "message":"spec is immutable"}],
    "properties":{
    "className":{"type":"string","minLength":1,"maxLength":63},
    "count":{"type":"integer","minimum":1,"maximum":64,"default":1}}},
  "status":{"type":"object","properties":{
    "phase":{"type":"string","enum":["Pending","Bound","Lost"]},
    "nodeName":{"type":"string","maxLength":253},
    "boundAt":{"type":"string","format":"date-time"},
    "resourceName":{"type":"string","maxLength":317},
    "rejectedNodes":$REJECTED,
    "attachedTo":{"type":"object","properties":{
      "name":{"type":"string","maxLength":253},
      "uid":{"type":"string","maxLength":64},
      "since":{"type":"string","format":"date-time"}}},
    "conditions":$CONDITIONS,
    "decision":$DECISION}}}})";

constexpr absl::string_view kSet = R"({"type":"object","properties":{
  "spec":{"type":"object","properties":{
    "claims":{"type":"array","maxItems":16,
              "items":{"type":"string","maxLength":63}}}},
  "status":{"type":"object","properties":{
    "nodeName":{"type":"string","maxLength":253},
    "vmiUID":{"type":"string","maxLength":64},
    "podUID":{"type":"string","maxLength":64},
    "reason":{"type":"string","maxLength":1024},
    "message":{"type":"string","maxLength":1024},
    "since":{"type":"string","format":"date-time"},
    "transitions":{"type":"integer","minimum":0},
    "endedVMI":{"type":"string","maxLength":64},
    "rejectedNodes":$REJECTED,
    "decision":$DECISION,
    "summary":{"type":"array","maxItems":16,
      "items":{"type":"object","properties":{
        "reason":{"type":"string","maxLength":64},
        "nodes":{"type":"integer","minimum":0},
        "example":{"type":"string","maxLength":253},
        "resource":{"type":"string","maxLength":317},
        "key":{"type":"string","maxLength":317}}}}}}}})";

std::shared_ptr<const nlohmann::json> Parsed(absl::string_view schema) {
  const std::string text =
      absl::StrReplaceAll(schema, {{"$CONDITIONS", kConditions},
                                   {"$DECISION", kDecision},
                                   {"$REJECTED", kRejected},
                                   {"$TOLERATIONS", kTolerations}});
  auto parsed = std::make_shared<nlohmann::json>(
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false));
  BINDER_CHECK(parsed->is_object());
  return parsed;
}

}  // namespace

std::shared_ptr<const nlohmann::json> GpuClassSchema() {
  return Parsed(kClass);
}
std::shared_ptr<const nlohmann::json> GpuClaimSchema() {
  return Parsed(kClaim);
}
std::shared_ptr<const nlohmann::json> GpuClaimSetSchema() {
  return Parsed(kSet);
}

}  // namespace gpubinder
