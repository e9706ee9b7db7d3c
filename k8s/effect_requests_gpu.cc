#include <string>
#include <utility>

#include "k8s/effect_json.h"
#include "k8s/effect_requests.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/config.h"

namespace gpubinder {

namespace {

using Json = nlohmann::json;
using v1::Effect;
using v1::Target;

Json DecisionJson(const DecisionKey& key) {
  return {{"journal", key.journal},
          {"epoch", key.epoch},
          {"sequence", key.sequence}};
}

template <typename Entries>
Json ConditionsJson(const Entries& entries) {
  Json list = Json::array();
  for (const v1::ConditionEntry& entry : entries) {
    Json condition = {
        {"type", entry.type()},
        {"status", entry.status()},
        {"reason", entry.reason()},
        {"message", entry.message()},
        {"lastTransitionTime", TimestampText(entry.transition_unix_seconds())}};
    if (entry.observed_generation() != 0) {
      condition["observedGeneration"] = entry.observed_generation();
    }
    list.push_back(std::move(condition));
  }
  return list;
}

Json ClaimNames(const v1::WriteClaimSet& write) {
  Json names = Json::array();
  for (const std::string& claim : write.claims()) names.push_back(claim);
  return names;
}

// The fields of status that the effect sets; an empty one is null, which takes
// it out. A take-over takes out the rest too.
Json ClaimSetStatus(const v1::WriteClaimSet& write) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json status = Json::object();
  if (write.take_over()) {
    for (const char* field :
         {"nodeName", "vmiUID", "podUID", "reason", "message", "since",
          "transitions", "endedVMI", "rejectedNodes", "summary"}) {
      status[field] = nullptr;
    }
  }
  if (write.has_node_name())
    status["nodeName"] = text_or_null(write.node_name());
  if (write.has_vmi_uid()) status["vmiUID"] = text_or_null(write.vmi_uid());
  if (write.has_pod_uid()) status["podUID"] = text_or_null(write.pod_uid());
  if (write.has_reason()) status["reason"] = ReasonJson(write.reason());
  if (write.has_message()) status["message"] = text_or_null(write.message());
  if (write.has_since_unix_seconds()) {
    status["since"] = TimestampText(write.since_unix_seconds());
  }
  if (write.has_transitions()) status["transitions"] = write.transitions();
  if (write.has_ended_vmi()) {
    status["endedVMI"] = text_or_null(write.ended_vmi());
  }
  if (write.set_summary()) {
    status["summary"] = Json::array();
    for (const v1::SummaryLine& line : write.summary()) {
      status["summary"].push_back(SummaryLineJson(line));
    }
  }
  return status;
}

}  // namespace

EffectRequest CreateClaimRequest(const Effect& effect) {
  const v1::CreateTemplateClaim& write = effect.create_template_claim();
  return CreateRequest(
      effect.target(),
      {{"apiVersion", kGpuApiVersion},
       {"kind", "GPUClaim"},
       {"metadata",
        {{"name", effect.target().name()},
         {"namespace", effect.target().namespace_()},
         {"labels", {{kTemplateClaimLabel, write.vmi_name()}}},
         {"finalizers", Json::array({kClaimFinalizer})},
         {"ownerReferences", OwnerReferences(write.owner())}}},
       {"spec",
        {{"className", write.class_name()}, {"count", write.count()}}}});
}

EffectRequest BindClaimRequest(const Effect& effect, const DecisionKey& key) {
  const v1::BindClaim& write = effect.bind_claim();
  Json status = {{"phase", "Bound"},
                 {"nodeName", write.node_name()},
                 {"resourceName", write.resource_name()},
                 {"boundAt", TimestampText(write.bound_at_unix_seconds())},
                 {"decision", DecisionJson(key)}};
  if (!write.conditions().empty()) {
    status["conditions"] = ConditionsJson(write.conditions());
  }
  return StatusPatch(effect.target(), std::move(status));
}

// The claim keeps its resourceName: in budgets it still counts.
EffectRequest LoseClaimRequest(const Effect& effect, const DecisionKey& key) {
  const v1::LoseClaim& write = effect.lose_claim();
  Json status = {{"phase", "Lost"},
                 {"nodeName", nullptr},
                 {"boundAt", nullptr},
                 {"decision", DecisionJson(key)}};
  if (!write.conditions().empty()) {
    status["conditions"] = ConditionsJson(write.conditions());
  }
  return StatusPatch(effect.target(), std::move(status));
}

EffectRequest RecordRejectionRequest(const Effect& effect) {
  Json list = Json::array();
  for (const v1::RejectionEntry& entry : effect.record_rejection().list()) {
    list.push_back(RejectionJson(entry));
  }
  return StatusPatch(effect.target(), {{"rejectedNodes", std::move(list)}});
}

EffectRequest AttachClaimRequest(const Effect& effect) {
  const v1::AttachClaim& write = effect.attach_claim();
  return StatusPatch(
      effect.target(),
      {{"attachedTo",
        {{"name", write.name()},
         {"uid", write.uid()},
         {"since", TimestampText(write.since_unix_seconds())}}}});
}

EffectRequest ReleaseClaimRequest(const Effect& effect) {
  return StatusPatch(effect.target(), {{"attachedTo", nullptr}});
}

EffectRequest SetConditionRequest(const Effect& effect) {
  return StatusPatch(
      effect.target(),
      {{"conditions", ConditionsJson(effect.set_condition().conditions())}});
}

bool HasClaimSetSpec(const Effect& effect) {
  const v1::WriteClaimSet& write = effect.write_claim_set();
  return effect.target().uid().empty() || write.has_owner() ||
         write.set_claims();
}

bool HasClaimSetStatus(const Effect& effect) {
  return !ClaimSetStatus(effect.write_claim_set()).empty();
}

EffectRequest ClaimSetSpecRequest(const Effect& effect) {
  const v1::WriteClaimSet& write = effect.write_claim_set();
  const Target& set = effect.target();
  Json body = Json::object();
  if (write.has_owner()) {
    body["metadata"]["ownerReferences"] = OwnerReferences(write.owner());
  }
  if (write.set_claims() || set.uid().empty()) {
    body["spec"]["claims"] = ClaimNames(write);
  }
  if (!set.uid().empty()) return MergePatch(set, "", std::move(body));
  body["apiVersion"] = kGpuApiVersion;
  body["kind"] = "GPUClaimSet";
  body["metadata"]["name"] = set.name();
  body["metadata"]["namespace"] = set.namespace_();
  return CreateRequest(set, body);
}

EffectRequest ClaimSetStatusRequest(const Effect& effect,
                                    const DecisionKey& key) {
  Json status = ClaimSetStatus(effect.write_claim_set());
  status["decision"] = DecisionJson(key);
  return StatusPatch(effect.target(), std::move(status));
}

}  // namespace gpubinder
