#include "k8s/embedded/collector.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/stand_in.h"
#include "k8s/embedded/write.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kCollector[] =
    "system:serviceaccount:kube-system:generic-garbage-collector";
constexpr char kNamespaces[] =
    "system:serviceaccount:kube-system:namespace-controller";

bool IsDeleting(const Json& object) {
  return !At(object, {"metadata", "deletionTimestamp"}).is_null();
}

}  // namespace

void Collector::Step() {
  ReadEvents();
  for (const StoreKey& key : std::exchange(to_check_, {})) Collect(key);
  for (const JsonPtr& one :
       ReadAll(backend_, ResourceNamed("namespaces"), "")) {
    if (IsDeleting(*one)) StepNamespace(*one);
  }
}

void Collector::ReadEvents() {
  absl::MutexLock lock(&backend_.mutex);
  if (position_ < backend_.store.compacted()) {
    Rescan();
    return;
  }
  while (const StoreEvent* event = backend_.store.EventAfter(position_)) {
    position_ = event->revision;
    if (event->type != StoreEventType::kDeleted) {
      Note(event->key, *event->object);
      continue;
    }
    const auto it =
        dependents_.find(TextAt(*event->object, {"metadata", "uid"}));
    if (it == dependents_.end()) continue;
    to_check_.insert(it->second.begin(), it->second.end());
    dependents_.erase(it);
  }
}

void Collector::Rescan() {
  backend_.mutex.AssertHeld();
  dependents_.clear();
  for (const Resource& resource : AllResources()) {
    for (const JsonPtr& object :
         backend_.store.List(resource.QualifiedPlural(), "")) {
      Note(KeyOf(resource, TextAt(*object, {"metadata", "namespace"}),
                 TextAt(*object, {"metadata", "name"})),
           *object);
    }
  }
  position_ = backend_.store.revision();
}

void Collector::Note(const StoreKey& key, const Json& object) {
  const Json& owners = At(object, {"metadata", "ownerReferences"});
  if (!owners.is_array() || owners.empty()) return;
  for (const Json& owner : owners) {
    dependents_[TextAt(owner, {"uid"})].insert(key);
  }
  to_check_.insert(key);  // its owner may never have existed
}

std::vector<Collector::Owner> Collector::OwnersOf(const Json& object) {
  std::vector<Owner> owners;
  const std::string name_space = TextAt(object, {"metadata", "namespace"});
  for (const Json& one : At(object, {"metadata", "ownerReferences"})) {
    Owner owner;
    owner.resource =
        FindResourceByKind(TextAt(one, {"apiVersion"}), TextAt(one, {"kind"}));
    owner.uid = TextAt(one, {"uid"});
    if (owner.resource != nullptr) {
      owner.key =
          KeyOf(*owner.resource, owner.resource->namespaced ? name_space : "",
                TextAt(one, {"name"}));
    }
    owners.push_back(std::move(owner));
  }
  return owners;
}

// GC-2: a namespaced owner is looked for in the dependent's own namespace; a
// cluster-scoped dependent of a namespaced owner is never collected.
bool Collector::IsPresent(const Owner& owner) {
  if (owner.resource == nullptr) return true;
  if (owner.resource->namespaced && owner.key.name_space.empty()) return true;
  const JsonPtr found = ReadObject(backend_, *owner.resource,
                                   owner.key.name_space, owner.key.name);
  return found != nullptr && TextAt(*found, {"metadata", "uid"}) == owner.uid;
}

void Collector::Collect(const StoreKey& key) {
  const Resource& resource = ResourceNamed(key.resource);
  const JsonPtr object =
      ReadObject(backend_, resource, key.name_space, key.name);
  if (object == nullptr) return;
  const std::vector<Owner> owners = OwnersOf(*object);
  Json kept = Json::array();
  for (size_t i = 0; i < owners.size(); ++i) {
    if (IsPresent(owners[i])) {
      kept.push_back((*object)["metadata"]["ownerReferences"][i]);
    }
  }
  if (owners.empty() || kept.size() == owners.size()) return;
  const ObjectPlace place = PlaceOfObject(resource, *object);
  if (kept.empty()) {
    if (!IsDeleting(*object)) DeleteThis(backend_, place, *object, kCollector);
    return;
  }
  // GC-3: a living owner keeps it; dangling references go.
  Json next = *object;
  next["metadata"]["ownerReferences"] = std::move(kept);
  WriteOver(backend_, place, *object, std::move(next), kCollector);
}

void Collector::StepNamespace(const Json& name_space) {
  const std::string name = TextAt(name_space, {"metadata", "name"});
  size_t left = 0;
  std::map<std::string, int> finalizers;
  for (const Resource& resource : AllResources()) {
    if (!resource.namespaced) continue;
    for (const JsonPtr& object : ReadAll(backend_, resource, name)) {
      if (!IsDeleting(*object)) {
        DeleteThis(backend_, PlaceOfObject(resource, *object), *object,
                   kNamespaces);
      }
      const JsonPtr still = ReadObject(backend_, resource, name,
                                       TextAt(*object, {"metadata", "name"}));
      if (still == nullptr) continue;
      ++left;
      for (const Json& one : At(*still, {"metadata", "finalizers"})) {
        if (one.is_string()) ++finalizers[one.get<std::string>()];
      }
    }
  }
  const ObjectPlace place =
      PlaceOfObject(ResourceNamed("namespaces"), name_space);
  ObjectPlace part = place;
  Json next = name_space;
  if (left == 0) {
    part.subresource = "finalize";
    next["spec"]["finalizers"] = Json::array();
  } else {
    part.subresource = "status";
    std::vector<std::string> held;
    for (const auto& [finalizer, count] : finalizers) {
      held.push_back(
          absl::StrCat(finalizer, " in ", count, " resource instances"));
    }
    SetCondition(
        next,
        {{"type", "NamespaceFinalizersRemaining"},
         {"status", held.empty() ? "False" : "True"},
         {"reason",
          held.empty() ? "ContentHasNoFinalizers" : "SomeFinalizersRemain"},
         {"message", held.empty()
                         ? "All content-preserving finalizers finished"
                         : absl::StrCat("Some content in the namespace has "
                                        "finalizers remaining: ",
                                        absl::StrJoin(held, ", "))}},
        backend_.clock());
  }
  WriteOver(backend_, part, name_space, std::move(next), kNamespaces);
}

}  // namespace gpubinder::embedded
