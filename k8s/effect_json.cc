#include "k8s/effect_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/config.h"
#include "reconciler/model/reason.h"

namespace gpubinder {

namespace {

using Json = nlohmann::json;

constexpr char kAffinity[] = "/spec/affinity";
constexpr char kNodeAffinity[] = "/spec/affinity/nodeAffinity";
constexpr char kRequiredName[] =
    "requiredDuringSchedulingIgnoredDuringExecution";

Json Add(absl::string_view path, Json value) {
  return {{"op", "add"}, {"path", std::string(path)}, {"value", value}};
}

Json TolerationJson(const v1::Toleration& toleration) {
  Json json = Json::object();
  if (!toleration.key().empty()) json["key"] = toleration.key();
  if (!toleration.operator_().empty()) {
    json["operator"] = toleration.operator_();
  }
  if (!toleration.value().empty()) json["value"] = toleration.value();
  if (!toleration.effect().empty()) json["effect"] = toleration.effect();
  if (toleration.has_toleration_seconds()) {
    json["tolerationSeconds"] = toleration.toleration_seconds();
  }
  return json;
}

// Appended at the end only: the API server refuses any other change of the
// required terms of a gated pod, and a term more or less.
void AppendPin(const v1::PinPod& pin, Json* patch) {
  const Json requirement = {{"key", "metadata.name"},
                            {"operator", "In"},
                            {"values", Json::array({pin.node_name()})}};
  if (pin.add_term()) {
    Json term = Json::object();
    term["matchFields"] = Json::array({requirement});
    const Json required = {{"nodeSelectorTerms", Json::array({term})}};
    if (pin.has_node_affinity()) {
      patch->push_back(
          Add(absl::StrCat(kNodeAffinity, "/", kRequiredName), required));
    } else if (pin.has_affinity()) {
      patch->push_back(Add(kNodeAffinity, {{kRequiredName, required}}));
    } else {
      patch->push_back(
          Add(kAffinity, {{"nodeAffinity", {{kRequiredName, required}}}}));
    }
  }
  const auto& without_fields = pin.terms_without_match_fields();
  for (int32_t term : pin.term_indices()) {
    const std::string fields =
        absl::StrCat(kNodeAffinity, "/", kRequiredName, "/nodeSelectorTerms/",
                     term, "/matchFields");
    const bool none = std::find(without_fields.begin(), without_fields.end(),
                                term) != without_fields.end();
    patch->push_back(none ? Add(fields, Json::array({requirement}))
                          : Add(absl::StrCat(fields, "/-"), requirement));
  }
}

void AppendTolerations(const v1::PinPod& pin, Json* patch) {
  if (pin.add_tolerations().empty()) return;
  if (!pin.has_tolerations()) {
    Json list = Json::array();
    for (const v1::Toleration& toleration : pin.add_tolerations()) {
      list.push_back(TolerationJson(toleration));
    }
    patch->push_back(Add("/spec/tolerations", std::move(list)));
    return;
  }
  for (const v1::Toleration& toleration : pin.add_tolerations()) {
    patch->push_back(Add("/spec/tolerations/-", TolerationJson(toleration)));
  }
}

}  // namespace

std::string TimestampText(int64_t unix_seconds) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixSeconds(unix_seconds),
                          absl::UTCTimeZone());
}

Json ReasonJson(v1::Reason reason) {
  const absl::string_view name = ReasonName(reason);
  if (name.empty()) return nullptr;
  return std::string(name);
}

Json OwnerJson(const v1::OwnerReference& owner) {
  return {{"apiVersion", owner.api_version()},
          {"kind", owner.kind()},
          {"name", owner.name()},
          {"uid", owner.uid()}};
}

Json RejectionJson(const v1::RejectionEntry& entry) {
  Json json = {{"nodeName", entry.node_name()},
               {"nodeUID", entry.node_uid()},
               {"podUID", entry.pod_uid()},
               {"resources", Json::array()},
               {"reason", entry.reason()},
               {"rejectedAt", TimestampText(entry.rejected_at_unix_seconds())},
               {"until", TimestampText(entry.until_unix_seconds())},
               {"fingerprint", entry.fingerprint()}};
  for (const std::string& resource : entry.resources()) {
    json["resources"].push_back(resource);
  }
  return json;
}

Json SummaryLineJson(const v1::SummaryLine& line) {
  Json json = {{"reason", ReasonJson(line.reason())}, {"nodes", line.nodes()}};
  if (!line.example().empty()) json["example"] = line.example();
  if (!line.resource().empty()) json["resource"] = line.resource();
  if (!line.key().empty()) json["key"] = line.key();
  return json;
}

Json GuardedPatch(const v1::Target& target) {
  // Replacing the version with the one read makes a lost race 409; a `test` of
  // it would answer 422, as any other failed test does.
  return Json::array(
      {{{"op", "replace"},
        {"path", "/metadata/resourceVersion"},
        {"value", target.resource_version()}},
       {{"op", "test"}, {"path", "/metadata/uid"}, {"value", target.uid()}}});
}

Json PinPatch(const v1::Target& target, const v1::PinPod& pin) {
  const std::string gate =
      absl::StrCat("/spec/schedulingGates/", pin.gate_index());
  Json patch = GuardedPatch(target);
  patch.push_back({{"op", "test"},
                   {"path", absl::StrCat(gate, "/name")},
                   {"value", kGate}});
  AppendPin(pin, &patch);
  AppendTolerations(pin, &patch);
  // Pin and ungate in one update: once the gate is gone the affinity can no
  // longer change, and a pod ungated first could start anywhere.
  patch.push_back({{"op", "remove"}, {"path", gate}});
  return patch;
}

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpubinder
