#include <optional>
#include <utility>
#include <vector>

#include "k8s/object_decoders.h"

namespace gpubinder {

namespace {

// kubectl's copy of the whole object: the filter removes it, since it may hold
// what the filter removes elsewhere.
constexpr char kLastApplied[] =
    "kubectl.kubernetes.io/last-applied-configuration";

void ReadRequirements(const FieldReader& term, absl::string_view name,
                      std::vector<Requirement>* out) {
  term.ReadEach(name, out,
                [&](const FieldReader& item, Requirement& requirement) {
                  item.Read("key", &requirement.key);
                  item.Read("operator", &requirement.op);
                  item.Read("values", &requirement.values);
                });
}

}  // namespace

void ReadMeta(const FieldReader& root, ObjectMeta* meta) {
  const FieldReader from = root.Object("metadata");
  from.Read("namespace", &meta->name_space);
  from.Read("name", &meta->name);
  from.Read("uid", &meta->uid);
  from.Read("resourceVersion", &meta->resource_version);
  from.Read("creationTimestamp", &meta->created);
  from.Read("deletionTimestamp", &meta->deleting);
  from.Read("generation", &meta->generation);
  from.Read("labels", &meta->labels);
  from.ReadExcept("annotations", kLastApplied, &meta->annotations);
  from.Read("finalizers", &meta->finalizers);
  from.ReadEach("ownerReferences", &meta->owners,
                [&](const FieldReader& item, OwnerReference& owner) {
                  item.Read("apiVersion", &owner.api_version);
                  item.Read("kind", &owner.kind);
                  item.Read("name", &owner.name);
                  item.Read("uid", &owner.uid);
                  item.Read("controller", &owner.controller);
                });
}

void ReadConditions(const FieldReader& status, std::vector<Condition>* out) {
  status.ReadEach(
      "conditions", out, [&](const FieldReader& item, Condition& condition) {
        item.Read("type", &condition.type);
        item.Read("status", &condition.status);
        item.Read("reason", &condition.reason);
        item.Read("message", &condition.message);
        item.Read("observedGeneration", &condition.observed_generation);
        item.Read("lastTransitionTime", &condition.last_transition);
      });
}

void ReadTolerations(const FieldReader& spec, std::vector<Toleration>* out) {
  spec.ReadEach("tolerations", out,
                [&](const FieldReader& item, Toleration& toleration) {
                  item.Read("key", &toleration.key);
                  item.Read("operator", &toleration.op);
                  item.Read("value", &toleration.value);
                  item.Read("effect", &toleration.effect);
                  item.Read("tolerationSeconds", &toleration.seconds);
                });
}

void ReadNodeSelector(const FieldReader& selector,
                      std::optional<NodeSelector>* out) {
  if (!selector.present()) return;
  NodeSelector read;
  selector.ReadEach("nodeSelectorTerms", &read.terms,
                    [&](const FieldReader& item, SelectorTerm& term) {
                      ReadRequirements(item, "matchExpressions",
                                       &term.expressions);
                      ReadRequirements(item, "matchFields", &term.fields);
                    });
  *out = std::move(read);
}

}  // namespace gpubinder
