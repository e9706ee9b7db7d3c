// The pieces of JSON that requests and `plan -o json` share. Inside the effect
// codec only.

#ifndef K8S_EFFECT_JSON_H_
#define K8S_EFFECT_JSON_H_

#include <cstdint>
#include <string>

#include "nlohmann/json_fwd.hpp"
#include "proto/decision.pb.h"

namespace gpubinder {

// RFC 3339 in UTC with whole seconds.
std::string TimestampText(int64_t unix_seconds);

// The reason's name, null for none.
nlohmann::json ReasonJson(v1::Reason reason);

// {apiVersion, kind, name, uid}.
nlohmann::json OwnerJson(const v1::OwnerReference& owner);

// One entry of status.rejectedNodes.
nlohmann::json RejectionJson(const v1::RejectionEntry& entry);

// One line of a set's status.summary.
nlohmann::json SummaryLineJson(const v1::SummaryLine& line);

// The operations that a JSON Patch begins with, so that it applies to the
// object and version decided on only.
nlohmann::json GuardedPatch(const v1::Target& target);

// The JSON Patch that pins and ungates a pod.
nlohmann::json PinPatch(const v1::Target& target, const v1::PinPod& pin);

// As text; bytes that are no UTF-8 are replaced.
std::string JsonText(const nlohmann::json& json);

}  // namespace gpubinder

#endif  // K8S_EFFECT_JSON_H_
