#include "k8s/embedded/stand_in.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {

ObjectPlace PlaceOfObject(const Resource& resource, const Json& object) {
  return {&resource, TextAt(object, {"metadata", "namespace"}),
          TextAt(object, {"metadata", "name"}), ""};
}

std::string ControllerUid(const Json& object) {
  for (const Json& owner : At(object, {"metadata", "ownerReferences"})) {
    if (Member(owner, "controller") == true) return TextAt(owner, {"uid"});
  }
  return "";
}

const Json& ConditionOf(const Json& object, absl::string_view type) {
  for (const Json& one : At(object, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) == type) return one;
  }
  return Member(Json(), "");
}

void SetCondition(Json& object, Json condition, absl::Time now) {
  Json& conditions = ObjectAt(object, "status")["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  condition["lastTransitionTime"] = TimeText(now);
  for (Json& one : conditions) {
    if (TextAt(one, {"type"}) != TextAt(condition, {"type"})) continue;
    if (TextAt(one, {"status"}) == TextAt(condition, {"status"})) {
      condition["lastTransitionTime"] = Member(one, "lastTransitionTime");
    }
    one = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

bool WriteOver(Backend& backend, const ObjectPlace& place, const Json& old,
               Json next, absl::string_view user) {
  if (old == next) return false;
  WriteOptions options;
  options.user = std::string(user);
  return ReplaceObject(backend, place, std::move(next), options).ok();
}

bool DeleteThis(Backend& backend, const ObjectPlace& place, const Json& object,
                absl::string_view user) {
  WriteOptions options;
  options.user = std::string(user);
  const Json preconditions = {
      {"preconditions", {{"uid", At(object, {"metadata", "uid"})}}}};
  return DeleteObject(backend, place, preconditions, options).ok();
}

bool DropFinalizer(Backend& backend, const ObjectPlace& place,
                   const Json& object, absl::string_view finalizer,
                   absl::string_view user) {
  if (!HasText(At(object, {"metadata", "finalizers"}), finalizer)) return false;
  Json next = object;
  Json kept = Json::array();
  for (const Json& one : At(object, {"metadata", "finalizers"})) {
    if (one != std::string(finalizer)) kept.push_back(one);
  }
  next["metadata"]["finalizers"] = std::move(kept);
  return WriteOver(backend, place, object, std::move(next), user);
}

void EmitEvent(Backend& backend, const Json& object, const EventText& text) {
  std::string name_space = TextAt(object, {"metadata", "namespace"});
  if (name_space.empty()) name_space = "default";
  const std::string name = TextAt(object, {"metadata", "name"});
  const std::string now = TimeText(backend.clock());
  Json event = {{"metadata", {{"generateName", name.substr(0, 50) + "."}}},
                {"involvedObject",
                 {{"apiVersion", Member(object, "apiVersion")},
                  {"kind", Member(object, "kind")},
                  {"name", name},
                  {"namespace", name_space},
                  {"uid", At(object, {"metadata", "uid"})}}},
                {"type", text.type},
                {"reason", text.reason},
                {"message", text.message},
                {"source", {{"component", text.component}}},
                {"firstTimestamp", now},
                {"lastTimestamp", now},
                {"count", 1}};
  WriteOptions options;
  options.user = text.component;
  CreateObject(backend, {&ResourceNamed("events"), name_space, "", ""},
               std::move(event), options);
}

}  // namespace gpubinder::embedded
