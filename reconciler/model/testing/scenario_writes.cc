#include "reconciler/model/testing/scenario_writes.h"

#include <utility>
#include <variant>
#include <vector>

#include "reconciler/model/config.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

template <typename Entries>
std::vector<Condition> ConditionsOf(const Entries& entries) {
  std::vector<Condition> conditions;
  for (const v1::ConditionEntry& entry : entries) {
    conditions.push_back({.type = entry.type(),
                          .status = entry.status(),
                          .reason = entry.reason(),
                          .message = entry.message(),
                          .observed_generation = entry.observed_generation(),
                          .last_transition = absl::FromUnixSeconds(
                              entry.transition_unix_seconds())});
  }
  return conditions;
}

RejectedNode RejectedOf(const v1::RejectionEntry& entry) {
  return {
      .node_name = entry.node_name(),
      .node_uid = entry.node_uid(),
      .pod_uid = entry.pod_uid(),
      .resources = {entry.resources().begin(), entry.resources().end()},
      .reason = entry.reason(),
      .fingerprint = entry.fingerprint(),
      .rejected_at = absl::FromUnixSeconds(entry.rejected_at_unix_seconds()),
      .until = absl::FromUnixSeconds(entry.until_unix_seconds())};
}

OwnerReference OwnerOf(const v1::OwnerReference& owner) {
  return {.api_version = owner.api_version(),
          .kind = owner.kind(),
          .name = owner.name(),
          .uid = owner.uid(),
          .controller = owner.controller()};
}

std::string Bind(const v1::BindClaim& write, GpuClaim& claim) {
  claim.phase = "Bound";
  claim.node_name = write.node_name();
  claim.bound_at = absl::FromUnixSeconds(write.bound_at_unix_seconds());
  claim.resource_name = write.resource_name();
  if (!write.conditions().empty()) {
    claim.conditions = ConditionsOf(write.conditions());
  }
  return "";
}

std::string Lose(const v1::LoseClaim& write, GpuClaim& claim) {
  claim.phase = "Lost";
  claim.node_name.clear();
  claim.bound_at.reset();
  if (!write.conditions().empty()) {
    claim.conditions = ConditionsOf(write.conditions());
  }
  return "";
}

// One JSON patch: it tests the gate, appends to the terms, takes the gate off.
std::string Pin(const v1::PinPod& write, Pod& pod) {
  const size_t gate = static_cast<size_t>(write.gate_index());
  if (gate >= pod.gates.size() || pod.gates[gate] != kGate) {
    return "the gate is not where the patch tests it";
  }
  const Requirement pin{
      .key = "metadata.name", .op = "In", .values = {write.node_name()}};
  if (write.add_term()) {
    if (pod.required.has_value()) return "required terms are there already";
    pod.required = NodeSelector{.terms = {SelectorTerm{.fields = {pin}}}};
    pod.has_affinity = pod.has_node_affinity = true;
  }
  for (const int index : write.term_indices()) {
    if (!pod.required.has_value() ||
        static_cast<size_t>(index) >= pod.required->terms.size()) {
      return "no such term";
    }
    pod.required->terms[index].fields.push_back(pin);
  }
  for (const v1::Toleration& added : write.add_tolerations()) {
    pod.tolerations.push_back({.key = added.key(),
                               .op = added.operator_(),
                               .value = added.value(),
                               .effect = added.effect()});
  }
  pod.gates.erase(pod.gates.begin() + static_cast<std::ptrdiff_t>(gate));
  ++pod.meta.generation;
  return "";
}

std::string WriteSet(const v1::WriteClaimSet& write, GpuClaimSet& set) {
  if (write.take_over()) {
    set = GpuClaimSet{.meta = set.meta, .claims = set.claims};
  }
  if (write.has_owner()) set.meta.owners = {OwnerOf(write.owner())};
  if (write.set_claims()) {
    set.claims = {write.claims().begin(), write.claims().end()};
  }
  if (write.has_node_name()) set.node_name = write.node_name();
  if (write.has_vmi_uid()) set.vmi_uid = write.vmi_uid();
  if (write.has_pod_uid()) set.pod_uid = write.pod_uid();
  if (write.has_reason()) {
    set.reason = std::string(ReasonName(write.reason()));
  }
  if (write.has_message()) set.message = write.message();
  if (write.has_since_unix_seconds()) {
    set.since = absl::FromUnixSeconds(write.since_unix_seconds());
  }
  if (write.has_transitions()) set.transitions = write.transitions();
  if (write.has_ended_vmi()) set.ended_vmi = write.ended_vmi();
  if (write.set_summary()) {
    set.summary.clear();
    for (const v1::SummaryLine& line : write.summary()) {
      set.summary.push_back({.reason = std::string(ReasonName(line.reason())),
                             .example = line.example(),
                             .resource = line.resource(),
                             .key = line.key(),
                             .nodes = line.nodes()});
    }
  }
  return "";
}

std::string WriteFinalizers(const v1::Effect& effect, ObjectMeta& meta) {
  if (effect.has_add_finalizer()) {
    if (meta.deleting.has_value()) return "the object is being deleted";
    if (effect.add_finalizer().list_absent() != meta.finalizers.empty()) {
      return "the patch misjudges the list of finalizers";
    }
    meta.finalizers.push_back(effect.add_finalizer().finalizer());
    return "";
  }
  const v1::RemoveFinalizer& write = effect.remove_finalizer();
  const size_t index = static_cast<size_t>(write.index());
  if (index >= meta.finalizers.size() ||
      meta.finalizers[index] != write.finalizer()) {
    return "the finalizer is not where the patch tests it";
  }
  meta.finalizers.erase(meta.finalizers.begin() +
                        static_cast<std::ptrdiff_t>(index));
  return "";
}

std::string Reject(const v1::RecordRejection& write,
                   std::vector<RejectedNode>& nodes) {
  nodes.clear();
  for (const v1::RejectionEntry& entry : write.list()) {
    nodes.push_back(RejectedOf(entry));
  }
  return "";
}

std::string WriteToClaim(const v1::Effect& effect, GpuClaim& claim) {
  switch (effect.write_case()) {
    case v1::Effect::kBindClaim:
      return Bind(effect.bind_claim(), claim);
    case v1::Effect::kLoseClaim:
      return Lose(effect.lose_claim(), claim);
    case v1::Effect::kRecordRejection:
      return Reject(effect.record_rejection(), claim.rejected_nodes);
    case v1::Effect::kAttachClaim:
      claim.attached_to =
          Attachment{.name = effect.attach_claim().name(),
                     .uid = effect.attach_claim().uid(),
                     .since = absl::FromUnixSeconds(
                         effect.attach_claim().since_unix_seconds())};
      return "";
    case v1::Effect::kReleaseClaim:
      claim.attached_to.reset();
      return "";
    case v1::Effect::kSetCondition:
      claim.conditions = ConditionsOf(effect.set_condition().conditions());
      return "";
    default:
      return "no write to a claim";
  }
}

std::string WriteUsage(const v1::WriteUsageRecord& write, Workload& record) {
  if (write.set_owner()) record.meta.owners = {OwnerOf(write.owner())};
  if (write.remove_monitor_label() &&
      record.meta.labels.erase(kMonitorLabel) == 0) {
    return "the label is not there";
  }
  record.kind = "gpu";
  record.type = write.class_name();
  record.resources = {{write.resource(), std::to_string(write.units())}};
  record.operational = true;
  return "";
}

std::string WriteSettings(const v1::WriteSettings& write, ConfigMap& settings) {
  for (const std::string& key : write.remove_keys()) settings.data.erase(key);
  settings.data["resourceNames"] = write.resource_names();
  settings.data["rawResourceNames"] = write.raw_resource_names();
  return "";
}

}  // namespace

Object CreatedObject(const v1::Effect& effect, absl::Time now) {
  ObjectMeta meta{.name_space = effect.target().namespace_(),
                  .name = effect.target().name(),
                  .created = now,
                  .generation = 1};
  if (effect.has_create_template_claim()) {
    const v1::CreateTemplateClaim& write = effect.create_template_claim();
    meta.labels[kTemplateClaimLabel] = write.vmi_name();
    meta.owners = {OwnerOf(write.owner())};
    meta.finalizers = {kClaimFinalizer};
    return GpuClaim{.meta = std::move(meta),
                    .class_name = write.class_name(),
                    .units = write.count()};
  }
  if (effect.has_write_usage_record()) {
    Workload record{.meta = std::move(meta)};
    record.meta.owners = {OwnerOf(effect.write_usage_record().owner())};
    WriteUsage(effect.write_usage_record(), record);
    return record;
  }
  if (effect.has_write_settings()) {
    ConfigMap settings{.meta = std::move(meta)};
    WriteSettings(effect.write_settings(), settings);
    return settings;
  }
  GpuClaimSet set{.meta = std::move(meta)};
  WriteSet(effect.write_claim_set(), set);
  return set;
}

std::string WriteTo(const v1::Effect& effect, Object& object) {
  if (effect.has_add_finalizer() || effect.has_remove_finalizer()) {
    return std::visit([&](auto& o) { return WriteFinalizers(effect, o.meta); },
                      object);
  }
  if (GpuClaim* claim = std::get_if<GpuClaim>(&object)) {
    return WriteToClaim(effect, *claim);
  }
  if (GpuClass* found = std::get_if<GpuClass>(&object);
      found != nullptr && effect.has_set_condition()) {
    found->conditions = ConditionsOf(effect.set_condition().conditions());
    return "";
  }
  if (Pod* pod = std::get_if<Pod>(&object); pod && effect.has_pin_pod()) {
    return Pin(effect.pin_pod(), *pod);
  }
  if (VirtualMachine* vm = std::get_if<VirtualMachine>(&object);
      vm != nullptr && effect.has_restart_vm()) {
    vm->state_changes = {{"Stop", effect.restart_vm().vmi_uid()},
                         {"Start", ""}};
    return "";
  }
  if (Workload* record = std::get_if<Workload>(&object);
      record != nullptr && effect.has_write_usage_record()) {
    return WriteUsage(effect.write_usage_record(), *record);
  }
  if (ConfigMap* settings = std::get_if<ConfigMap>(&object);
      settings != nullptr && effect.has_write_settings()) {
    return WriteSettings(effect.write_settings(), *settings);
  }
  if (GpuClaimSet* set = std::get_if<GpuClaimSet>(&object)) {
    if (effect.has_write_claim_set()) {
      return WriteSet(effect.write_claim_set(), *set);
    }
    if (effect.has_record_rejection()) {
      return Reject(effect.record_rejection(), set->rejected_nodes);
    }
  }
  return "no such write to this kind";
}

}  // namespace gpubinder
