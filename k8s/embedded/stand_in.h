// What the stand-ins share: reading owners and conditions, and writes that
// fail quietly when somebody else was faster (the next step looks again).

#ifndef K8S_EMBEDDED_STAND_IN_H_
#define K8S_EMBEDDED_STAND_IN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "k8s/embedded/backend.h"
#include "k8s/embedded/write.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

ObjectPlace PlaceOfObject(const Resource& resource,
                          const nlohmann::json& object);
// Uid of the owner with controller=true; empty when there is none.
std::string ControllerUid(const nlohmann::json& object);
// The condition of that type; null JSON when there is none.
const nlohmann::json& ConditionOf(const nlohmann::json& object,
                                  absl::string_view type);
// Puts `condition` in the place of the one of its type. lastTransitionTime is
// kept when the status is the same, else it is `now`.
void SetCondition(nlohmann::json& object, nlohmann::json condition,
                  absl::Time now);

// Writes `next` over what was read as `old`. False: it was refused, or there
// was nothing to change.
bool WriteOver(Backend& backend, const ObjectPlace& place,
               const nlohmann::json& old, nlohmann::json next,
               absl::string_view user);
// Deletes this very object (by uid).
bool DeleteThis(Backend& backend, const ObjectPlace& place,
                const nlohmann::json& object, absl::string_view user);
bool DropFinalizer(Backend& backend, const ObjectPlace& place,
                   const nlohmann::json& object, absl::string_view finalizer,
                   absl::string_view user);

struct EventText {
  std::string type, reason, message, component;
};
// A core/v1 Event about the object, in its namespace.
void EmitEvent(Backend& backend, const nlohmann::json& object,
               const EventText& text);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_STAND_IN_H_
