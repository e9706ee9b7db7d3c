#include <string>

#include "k8s/effect_codec.h"
#include "k8s/effect_json.h"
#include "nlohmann/json.hpp"

namespace gpubinder {

namespace {

using Json = nlohmann::json;
using v1::Effect;

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json RejectionFields(const v1::RejectionEntry& entry) {
  Json fields = RejectionJson(entry);
  fields.erase("rejectedAt");
  return fields;
}

Json ClaimSetFields(const v1::WriteClaimSet& write) {
  Json fields = Json::object();
  if (write.has_owner()) fields["owner"] = OwnerJson(write.owner());
  if (write.set_claims()) {
    fields["claims"] = Json::array();
    for (const std::string& claim : write.claims()) {
      fields["claims"].push_back(claim);
    }
  }
  if (write.has_node_name()) fields["nodeName"] = TextOrNull(write.node_name());
  if (write.has_vmi_uid()) fields["vmiUID"] = TextOrNull(write.vmi_uid());
  if (write.has_pod_uid()) fields["podUID"] = TextOrNull(write.pod_uid());
  if (write.has_reason()) fields["reason"] = ReasonJson(write.reason());
  if (write.has_message()) fields["message"] = TextOrNull(write.message());
  if (write.has_since_unix_seconds()) {
    fields["since"] = TimestampText(write.since_unix_seconds());
  }
  if (write.has_transitions()) fields["transitions"] = write.transitions();
  if (write.has_ended_vmi()) fields["endedVMI"] = TextOrNull(write.ended_vmi());
  if (write.set_summary()) {
    fields["summary"] = Json::array();
    for (const v1::SummaryLine& line : write.summary()) {
      fields["summary"].push_back(SummaryLineJson(line));
    }
  }
  return fields;
}

Json ReasonFields(v1::Reason reason) {
  return {{"reason", ReasonJson(reason)}};
}

// Of the kinds that write to claims and sets.
Json ClaimFields(const Effect& effect) {
  switch (effect.write_case()) {
    case Effect::kCreateTemplateClaim: {
      const v1::CreateTemplateClaim& write = effect.create_template_claim();
      return {{"className", write.class_name()},
              {"count", write.count()},
              {"owner", OwnerJson(write.owner())}};
    }
    case Effect::kBindClaim: {
      const v1::BindClaim& write = effect.bind_claim();
      return {{"nodeName", write.node_name()},
              {"boundAt", TimestampText(write.bound_at_unix_seconds())},
              {"resourceName", write.resource_name()}};
    }
    case Effect::kLoseClaim:
      return ReasonFields(effect.lose_claim().reason());
    case Effect::kRecordRejection:
      return RejectionFields(effect.record_rejection().entry());
    case Effect::kAttachClaim:
      return {{"name", effect.attach_claim().name()},
              {"uid", TextOrNull(effect.attach_claim().uid())}};
    case Effect::kReleaseClaim:
      return {{"name", effect.release_claim().name()},
              {"uid", TextOrNull(effect.release_claim().uid())}};
    case Effect::kSetCondition: {
      const v1::SetCondition& write = effect.set_condition();
      return {{"type", write.type()},
              {"status", write.status()},
              {"reason", ReasonJson(write.reason())},
              {"message", write.message()}};
    }
    case Effect::kWriteClaimSet:
      return ClaimSetFields(effect.write_claim_set());
    default:
      return Json::object();
  }
}

Json FieldsOf(const Effect& effect) {
  switch (effect.write_case()) {
    case Effect::kPinPod:
      return {{"nodeName", effect.pin_pod().node_name()},
              {"patch", PinPatch(effect.target(), effect.pin_pod())}};
    case Effect::kDeletePod:
      return ReasonFields(effect.delete_pod().reason());
    case Effect::kDeleteVmi:
      return ReasonFields(effect.delete_vmi().reason());
    case Effect::kRestartVm:
      return ReasonFields(effect.restart_vm().reason());
    case Effect::kEmitWarning:
      return {{"name", effect.emit_warning().name()},
              {"reason", ReasonJson(effect.emit_warning().reason())},
              {"note", effect.emit_warning().note()}};
    case Effect::kWriteUsageRecord: {
      const v1::WriteUsageRecord& write = effect.write_usage_record();
      Json resources = Json::object();
      resources[write.resource()] = std::to_string(write.units());
      return {{"resources", resources}};
    }
    case Effect::kAddFinalizer:
      return {{"finalizer", effect.add_finalizer().finalizer()}};
    case Effect::kRemoveFinalizer:
      return {{"finalizer", effect.remove_finalizer().finalizer()}};
    case Effect::kWriteSettings: {
      const v1::WriteSettings& write = effect.write_settings();
      return {{"data",
               {{"resourceNames", write.resource_names()},
                {"rawResourceNames", write.raw_resource_names()}}}};
    }
    default:
      return ClaimFields(effect);
  }
}

}  // namespace

std::string EffectFieldsJson(const Effect& effect) {
  return JsonText(FieldsOf(effect));
}

}  // namespace gpubinder
