#include "reconciler/model/testing/scenario_server.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"
#include "reconciler/model/reason.h"
#include "reconciler/model/testing/scenario_writes.h"

namespace gpubinder {
namespace {

ObjectMeta& MutableMeta(Object& object) {
  return std::visit([](auto& o) -> ObjectMeta& { return o.meta; }, object);
}

Answer Refused(int code, std::string message) {
  return {.code = code, .message = std::move(message)};
}

}  // namespace

const Object* ScenarioServer::Find(Kind kind, absl::string_view name_space,
                                   absl::string_view name) const {
  auto found =
      objects_.find({kind, std::string(name_space), std::string(name)});
  return found == objects_.end() ? nullptr : &found->second;
}

const Object& ScenarioServer::Put(Object object) {
  ObjectMeta& meta = MutableMeta(object);
  const Key key{KindOf(object), meta.name_space, meta.name};
  if (meta.uid.empty()) {
    const int incarnation = ++incarnations_[key];
    meta.uid = absl::StrCat(
        kKindWords[static_cast<size_t>(std::get<Kind>(key))], "-", meta.name);
    if (incarnation > 1) absl::StrAppend(&meta.uid, "-", incarnation);
  }
  meta.resource_version = absl::StrCat(++version_);
  return objects_[key] = std::move(object);
}

bool ScenarioServer::Delete(Kind kind, absl::string_view name_space,
                            absl::string_view name, absl::Time now) {
  const Object* found = Find(kind, name_space, name);
  if (found == nullptr) return false;
  if (MetaOf(*found).finalizers.empty()) {
    Erase(kind, name_space, name);
    return true;
  }
  Object object = *found;
  if (!MutableMeta(object).deleting.has_value()) {
    MutableMeta(object).deleting = now;
    Put(std::move(object));
  }
  return true;
}

void ScenarioServer::Erase(Kind kind, absl::string_view name_space,
                           absl::string_view name) {
  objects_.erase({kind, std::string(name_space), std::string(name)});
}

Answer ScenarioServer::Store(Object object) {
  const ObjectMeta& meta = MetaOf(object);
  if (meta.deleting.has_value() && meta.finalizers.empty()) {
    Erase(KindOf(object), meta.name_space, meta.name);
    return {};
  }
  return {.object = Put(std::move(object))};
}

Answer ScenarioServer::Create(const v1::Effect& effect, absl::Time now) {
  const v1::Target& target = effect.target();
  const Kind kind = *KindByName(target.kind());
  if (Find(kind, target.namespace_(), target.name()) != nullptr) {
    return Refused(409, "already exists");
  }
  const Object* space = Find(Kind::kNamespace, "", target.namespace_());
  if (space != nullptr && std::get<Namespace>(*space).terminating) {
    return Refused(403, "namespace is being terminated");
  }
  return {.object = Put(CreatedObject(effect, now))};
}

Answer ScenarioServer::DeleteTarget(const v1::Effect& effect, absl::Time now) {
  const v1::Target& target = effect.target();
  const Kind kind = *KindByName(target.kind());
  Object object = *Find(kind, target.namespace_(), target.name());
  ObjectMeta& meta = MutableMeta(object);
  // A pod on a node ends in its own time; a VMI keeps KubeVirt's finalizers.
  const bool stays =
      !meta.finalizers.empty() || kind == Kind::kVirtualMachineInstance ||
      (kind == Kind::kPod && !std::get<Pod>(object).node_name.empty());
  if (!stays) {
    Erase(kind, target.namespace_(), target.name());
    return {};
  }
  if (!meta.deleting.has_value()) meta.deleting = now;
  return {.object = Put(std::move(object))};
}

Answer ScenarioServer::Apply(const v1::Effect& effect,
                             const std::string& version, absl::Time now) {
  const v1::Target& target = effect.target();
  if (effect.has_emit_warning()) {
    // An Event is an object of its own; a repeat counts as done.
    events_.insert(effect.emit_warning().name());
    return {};
  }
  if (target.uid().empty()) return Create(effect, now);
  const Object* found =
      Find(*KindByName(target.kind()), target.namespace_(), target.name());
  if (found == nullptr) return Refused(404, "not found");
  const ObjectMeta& meta = MetaOf(*found);
  if (meta.uid != target.uid()) return Refused(409, "another uid");
  if (effect.has_delete_pod() || effect.has_delete_vmi() ||
      effect.has_delete_template_claim() || effect.has_delete_usage_record()) {
    return DeleteTarget(effect, now);
  }
  if (meta.resource_version != version) return Refused(409, "another version");
  Object object = *found;
  const std::string problem = WriteTo(effect, object);
  if (!problem.empty()) return Refused(422, problem);
  return Store(std::move(object));
}

}  // namespace gpubinder
