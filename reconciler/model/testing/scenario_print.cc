#include "reconciler/model/testing/scenario_print.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "reconciler/model/effect_text.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/testing/judge_as.h"
#include "reconciler/model/testing/scenario_words.h"

namespace gpubinder {
namespace {

std::string After(int64_t unix_seconds, absl::Time now) {
  return absl::FormatDuration(absl::FromUnixSeconds(unix_seconds) - now);
}

// The message without the reason that many begin with.
std::string Said(v1::Reason reason, absl::string_view message) {
  const std::string name(ReasonName(reason));
  if (message == name) return name;
  absl::ConsumePrefix(&message, name + ": ");
  return absl::StrCat(name, ": ", message);
}

std::string Text(const v1::CreateTemplateClaim& write) {
  return absl::StrCat(" class ", write.class_name(), " count ", write.count(),
                      " for ", write.owner().kind(), " ", write.owner().name());
}

std::string Text(const v1::BindClaim& write) {
  std::string text = absl::StrCat(" -> ", write.node_name());
  if (!write.leaves_node().empty()) {
    absl::StrAppend(&text, " (from ", write.leaves_node(), ")");
  }
  if (write.gathered()) absl::StrAppend(&text, " (gathered)");
  return text;
}

std::string Text(const v1::LoseClaim& write) {
  return absl::StrCat(" ", Said(write.reason(), write.message()));
}

std::string Text(const v1::PinPod& write) {
  std::vector<std::string> parts = {"gate removed"};
  if (write.add_term()) parts.push_back("term added");
  if (write.term_indices_size() > 0) {
    parts.push_back(
        absl::StrCat("terms ", absl::StrJoin(write.term_indices(), " ")));
  }
  for (const v1::Toleration& added : write.add_tolerations()) {
    parts.push_back(absl::StrCat("tolerates ", added.key(),
                                 added.value().empty() ? "" : "=",
                                 added.value(), ":", added.effect()));
  }
  return absl::StrCat(" -> ", write.node_name(), " (",
                      absl::StrJoin(parts, ", "), ")");
}

std::string Text(const v1::RecordRejection& write, absl::Time now) {
  std::vector<std::string> parts;
  for (const v1::RejectionEntry& entry : write.list()) {
    parts.push_back(absl::StrCat(entry.node_name(), " ", entry.reason(), " of ",
                                 entry.pod_uid(), " for ",
                                 After(entry.until_unix_seconds(), now)));
  }
  return absl::StrCat(": ", absl::StrJoin(parts, "; "));
}

std::string Text(const v1::SetCondition& write) {
  return absl::StrCat(" ", write.type(), "=", write.status(), " ",
                      Said(write.reason(), write.message()));
}

std::string Text(const v1::WriteClaimSet& write) {
  std::vector<std::string> parts;
  if (write.take_over()) parts.push_back("taken over");
  if (write.has_owner()) {
    parts.push_back(absl::StrCat("owner ", write.owner().uid()));
  }
  if (write.set_claims()) {
    parts.push_back(
        absl::StrCat("claims ", absl::StrJoin(write.claims(), ",")));
  }
  auto add = [&](bool has, const char* name, absl::string_view value) {
    if (has) {
      parts.push_back(absl::StrCat(name, " ", value.empty() ? "none" : value));
    }
  };
  add(write.has_node_name(), "node", write.node_name());
  add(write.has_vmi_uid(), "vmi", write.vmi_uid());
  add(write.has_pod_uid(), "pod", write.pod_uid());
  add(write.has_ended_vmi(), "ended", write.ended_vmi());
  if (write.has_reason()) {
    parts.push_back(absl::StrCat("reason ", ReasonName(write.reason()), " (",
                                 write.transitions(), ")"));
  }
  if (write.set_summary() && !write.has_reason()) parts.push_back("summary");
  return absl::StrCat(": ", absl::StrJoin(parts, ", "));
}

std::string Text(const v1::EmitWarning& write) {
  // The transition's number, which makes the Event's name its own.
  const std::vector<std::string> parts = absl::StrSplit(write.name(), '-');
  return absl::StrCat(" #", parts[2], " ", Said(write.reason(), write.note()));
}

std::string Rejections(const std::vector<RejectedNode>& entries,
                       absl::Time now) {
  std::vector<std::string> parts;
  for (const RejectedNode& entry : entries) {
    parts.push_back(absl::StrCat(entry.node_name, " for ",
                                 absl::FormatDuration(entry.until - now)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Conditions(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) {
    absl::StrAppend(&text, " ", condition.type, "=", condition.status, "/",
                    condition.reason);
  }
  return text;
}

std::string Text(const v1::WriteUsageRecord& write) {
  return absl::StrCat(" of ", write.owner().name(), ": ", write.class_name(),
                      " ", write.resource(), "=", write.units(),
                      write.set_owner() ? ", with its owner" : "",
                      write.remove_monitor_label() ? ", without label" : "");
}

std::string Text(const v1::WriteSettings& write) {
  return absl::StrCat(": resourceNames=\"", write.resource_names(),
                      "\" rawResourceNames=\"", write.raw_resource_names(),
                      "\"", write.remove_keys().empty() ? "" : " less ",
                      absl::StrJoin(write.remove_keys(), ","));
}

}  // namespace

std::string EffectText(const v1::Effect& effect, absl::Time now) {
  const bool of_class =
      effect.has_set_condition() && effect.target().kind() == "GPUClass";
  const bool names_kind = of_class || effect.has_record_rejection() ||
                          effect.has_add_finalizer() ||
                          effect.has_remove_finalizer();
  const std::string head =
      absl::StrCat(EffectKindName(effect), " ",
                   names_kind ? effect.target().kind() + " " : std::string(),
                   TargetText(effect.target()));
  switch (effect.write_case()) {
    case v1::Effect::kCreateTemplateClaim:
      return head + Text(effect.create_template_claim());
    case v1::Effect::kBindClaim:
      return head + Text(effect.bind_claim());
    case v1::Effect::kLoseClaim:
      return head + Text(effect.lose_claim());
    case v1::Effect::kPinPod:
      return head + Text(effect.pin_pod());
    case v1::Effect::kRecordRejection:
      return head + Text(effect.record_rejection(), now);
    case v1::Effect::kAttachClaim:
      return absl::StrCat(head, " -> ", effect.attach_claim().name(), " ",
                          effect.attach_claim().uid());
    case v1::Effect::kReleaseClaim:
      return absl::StrCat(head, " from ", effect.release_claim().name());
    case v1::Effect::kSetCondition:
      return head + Text(effect.set_condition());
    case v1::Effect::kWriteClaimSet:
      return head + Text(effect.write_claim_set());
    case v1::Effect::kEmitWarning:
      return head + Text(effect.emit_warning());
    case v1::Effect::kWriteUsageRecord:
      return head + Text(effect.write_usage_record());
    case v1::Effect::kWriteSettings:
      return head + Text(effect.write_settings());
    default:
      return head;
  }
}

std::vector<std::string> ViewText(const SetView& view) {
  std::vector<std::string> lines;
  std::string said(ReasonName(view.verdict.reason));
  if (said.empty()) said = "(no verdict)";
  if (view.frozen) said = "(frozen)";
  lines.push_back(absl::StrCat(view.set.key(), "  ", said));
  for (const v1::ReasonDetail& detail : view.verdict.details) {
    lines.push_back(absl::StrCat("  ", ReasonText(detail)));
  }
  for (const NodesAlike& group : NodesOf(view.verdict.judged)) {
    std::vector<std::string> reasons;
    for (const v1::ReasonDetail& detail : group.reasons) {
      reasons.push_back(ReasonText(detail));
    }
    lines.push_back(
        absl::StrCat("  ", absl::StrJoin(group.nodes, ","), ": ",
                     reasons.empty() ? "fits" : absl::StrJoin(reasons, "; ")));
  }
  return lines;
}

std::string ObjectText(const Object& object, absl::Time now) {
  const ObjectMeta& meta = MetaOf(object);
  std::string text = absl::StrCat(KindName(KindOf(object)), " ", meta.name);
  if (meta.deleting.has_value()) text += " deleting";
  if (const GpuClaim* claim = std::get_if<GpuClaim>(&object)) {
    absl::StrAppend(&text, " ", claim->phase.empty() ? "Pending" : claim->phase,
                    claim->node_name.empty() ? "" : " on ", claim->node_name);
    if (claim->bound_at.has_value() && *claim->bound_at != now) {
      absl::StrAppend(&text, " since ",
                      absl::FormatDuration(*claim->bound_at - now));
    }
    if (claim->attached_to.has_value()) {
      absl::StrAppend(&text, " of ", claim->attached_to->name);
    }
    text += Conditions(claim->conditions);
    absl::StrAppend(&text, claim->rejected_nodes.empty() ? "" : " rejected: ",
                    Rejections(claim->rejected_nodes, now));
  } else if (const GpuClaimSet* set = std::get_if<GpuClaimSet>(&object)) {
    absl::StrAppend(&text, " ", set->reason, " (", set->transitions, ")",
                    set->node_name.empty() ? "" : " on ", set->node_name,
                    set->message.empty() ? "" : ": ", set->message,
                    set->rejected_nodes.empty() ? "" : " rejected: ",
                    Rejections(set->rejected_nodes, now));
  } else if (const Pod* pod = std::get_if<Pod>(&object)) {
    absl::StrAppend(&text, " gates: ", absl::StrJoin(pod->gates, ","),
                    " terms: ",
                    pod->required.has_value() ? TermsText(*pod->required)
                                              : std::string("none"));
  } else if (const GpuClass* found = std::get_if<GpuClass>(&object)) {
    text += Conditions(found->conditions);
  } else if (const auto* record = std::get_if<Workload>(&object)) {
    absl::StrAppend(&text, " ", record->kind, " ", record->type,
                    record->operational ? "" : " stopped");
    for (const auto& [name, units] : record->resources) {
      absl::StrAppend(&text, " ", name, "=", units);
    }
    for (const OwnerReference& owner : meta.owners) {
      absl::StrAppend(&text, " of ", owner.name, " ", owner.uid);
    }
    for (const auto& [key, value] : meta.labels) {
      absl::StrAppend(&text, " ", key, "=", value);
    }
  } else if (const auto* map = std::get_if<ConfigMap>(&object)) {
    for (const auto& [key, value] : map->data) {
      absl::StrAppend(&text, " ", key, "=\"", value, "\"");
    }
  } else if (const auto* vm = std::get_if<VirtualMachine>(&object)) {
    for (const auto& [action, uid] : vm->state_changes) {
      absl::StrAppend(&text, " ", action, uid.empty() ? "" : " ", uid);
    }
  }
  return text;
}

}  // namespace gpubinder
