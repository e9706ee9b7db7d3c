#include "reconciler/model/effect.h"

#include "reconciler/model/config.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/taint.h"

namespace gpubinder {

v1::Effect EffectOn(Kind kind, const ObjectMeta& meta) {
  v1::Effect effect;
  v1::Target& target = *effect.mutable_target();
  target.set_kind(std::string(KindName(kind)));
  target.set_namespace_(meta.name_space);
  target.set_name(meta.name);
  target.set_uid(meta.uid);
  if (!Planted(Bug::kNoPrecondition)) {
    target.set_resource_version(meta.resource_version);
  }
  return effect;
}

v1::Effect EffectCreating(absl::string_view kind, absl::string_view name_space,
                          absl::string_view name) {
  v1::Effect effect;
  v1::Target& target = *effect.mutable_target();
  target.set_kind(std::string(kind));
  target.set_namespace_(std::string(name_space));
  target.set_name(std::string(name));
  return effect;
}

v1::RejectionEntry RejectionProto(const RejectedNode& entry) {
  v1::RejectionEntry proto;
  proto.set_node_name(entry.node_name);
  proto.set_node_uid(entry.node_uid);
  proto.set_pod_uid(entry.pod_uid);
  for (const std::string& resource : entry.resources) {
    proto.add_resources(resource);
  }
  proto.set_reason(entry.reason);
  proto.set_rejected_at_unix_seconds(absl::ToUnixSeconds(entry.rejected_at));
  proto.set_until_unix_seconds(absl::ToUnixSeconds(entry.until));
  proto.set_fingerprint(entry.fingerprint);
  return proto;
}

v1::PinPod PinTo(absl::string_view node, const Pod& pod,
                 const std::vector<const GpuClass*>& classes) {
  v1::PinPod pin;
  pin.set_node_name(std::string(node));
  pin.set_has_affinity(pod.has_affinity);
  pin.set_has_node_affinity(pod.has_node_affinity);
  pin.set_add_term(!pod.required.has_value());
  if (pod.required.has_value()) {
    const std::vector<SelectorTerm>& terms = pod.required->terms;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].empty() && !Planted(Bug::kPinInEmptyTerm)) continue;
      pin.add_term_indices(static_cast<int>(i));
      if (terms[i].fields.empty()) {
        pin.add_terms_without_match_fields(static_cast<int>(i));
      }
    }
  }
  for (size_t i = 0; i < pod.gates.size(); ++i) {
    if (pod.gates[i] == kGate) pin.set_gate_index(static_cast<int>(i));
  }
  if (Planted(Bug::kPinKeepsGate)) pin.set_gate_index(-1);
  std::vector<Toleration> wanted;
  for (const GpuClass* found : classes) {
    wanted.insert(wanted.end(), found->tolerations.begin(),
                  found->tolerations.end());
  }
  pin.set_has_tolerations(!pod.tolerations.empty());
  for (const Toleration& missing :
       MissingTolerations(pod.tolerations, wanted)) {
    v1::Toleration& toleration = *pin.add_add_tolerations();
    toleration.set_key(missing.key);
    toleration.set_operator_(missing.op);
    toleration.set_value(missing.value);
    toleration.set_effect(missing.effect);
    if (missing.seconds.has_value()) {
      toleration.set_toleration_seconds(*missing.seconds);
    }
  }
  return pin;
}

}  // namespace gpubinder
