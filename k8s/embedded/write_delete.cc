#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/write.h"
#include "k8s/embedded/write_common.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int64_t kDefaultGrace = 30;

std::optional<ApiFailure> CheckPreconditions(const Resource& resource,
                                             const Json& object,
                                             const Json& wanted) {
  const auto differs = [&](const char* field, absl::string_view label,
                           absl::string_view end) -> std::optional<ApiFailure> {
    const std::string want = TextAt(wanted, {field});
    const std::string have = TextAt(object, {"metadata", field});
    if (want.empty() || want == have) return std::nullopt;
    return ConflictFailure(resource, resource.QualifiedKind(),
                           TextAt(object, {"metadata", "name"}),
                           absl::StrCat("the ", label, " in the precondition (",
                                        want, ") does not match the ", label,
                                        " in record (", have, "). ", end));
  };
  if (auto failed =
          differs("uid", "UID",
                  "The object might have been deleted and then recreated")) {
    return failed;
  }
  return differs("resourceVersion", "ResourceVersion",
                 "The object might have been modified");
}

// PD-1. Nothing for kinds that have no grace.
std::optional<int64_t> GraceOf(const Resource& resource, const Json& object,
                               const Json& options) {
  if (resource.kind != "Pod") return std::nullopt;
  const std::string phase = TextAt(object, {"status", "phase"});
  if (TextAt(object, {"spec", "nodeName"}).empty() || phase == "Succeeded" ||
      phase == "Failed") {
    return 0;
  }
  const int64_t own = NumberAt(
      object, {"spec", "terminationGracePeriodSeconds"}, kDefaultGrace);
  const int64_t grace = NumberAt(options, {"gracePeriodSeconds"}, own);
  return grace < 0 ? 1 : grace;
}

JsonPtr GoneStatus(const Resource& resource, const Json& object) {
  Json details = {{"name", TextAt(object, {"metadata", "name"})},
                  {"kind", resource.plural},
                  {"uid", TextAt(object, {"metadata", "uid"})}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return std::make_shared<const Json>(Json{{"kind", "Status"},
                                           {"apiVersion", "v1"},
                                           {"metadata", Json::object()},
                                           {"status", "Success"},
                                           {"details", std::move(details)}});
}

// The object with its deletion begun, or nothing when it is begun already and
// this call shortens nothing.
std::optional<Json> BeginDeletion(const Resource& resource, const Json& object,
                                  std::optional<int64_t> grace,
                                  absl::Time now) {
  Json next = object;
  Json& metadata = next["metadata"];
  if (IsBeingDeleted(object)) {
    const int64_t left = NumberAt(metadata, {"deletionGracePeriodSeconds"}, 0);
    if (!grace.has_value() || *grace >= left) return std::nullopt;
    const absl::Time until =
        TimeOf(Member(metadata, "deletionTimestamp")).value_or(now);
    metadata["deletionTimestamp"] =
        TimeText(until - absl::Seconds(left) + absl::Seconds(*grace));
    metadata["deletionGracePeriodSeconds"] = *grace;
    return next;
  }
  metadata["deletionTimestamp"] =
      TimeText(now + absl::Seconds(grace.value_or(0)));
  metadata["deletionGracePeriodSeconds"] = grace.value_or(0);
  if (resource.has_generation) {
    metadata["generation"] = NumberAt(metadata, {"generation"}, 1) + 1;
  }
  if (resource.kind == "Namespace") {
    metadata.erase("deletionGracePeriodSeconds");
    next["status"]["phase"] = "Terminating";
  }
  return next;
}

bool StaysForNow(const Resource& resource, const Json& object,
                 std::optional<int64_t> grace) {
  return HasFinalizers(object) || resource.kind == "Namespace" ||
         grace.value_or(0) > 0;
}

}  // namespace

WriteResult DeleteObject(Backend& backend, const ObjectPlace& place,
                         const Json& delete_options,
                         const WriteOptions& options) {
  const Resource& resource = *place.resource;
  const std::string policy = TextAt(delete_options, {"propagationPolicy"});
  if (!policy.empty() && policy != "Background") {
    return Failed(BadRequest(absl::StrCat(
        "propagationPolicy is ", policy,
        ", only Background is served by the embedded API server")));
  }
  absl::MutexLock lock(&backend.mutex);
  const StoreKey key = KeyOf(resource, place.name_space, place.name);
  const JsonPtr existing = backend.store.Get(key);
  if (existing == nullptr) {
    return Failed(NotFoundFailure(resource, place.name));
  }
  if (auto failed = CheckPreconditions(
          resource, *existing, Member(delete_options, "preconditions"))) {
    return Failed(*failed);
  }
  const std::optional<int64_t> grace =
      GraceOf(resource, *existing, delete_options);
  const bool stays = StaysForNow(resource, *existing, grace);
  WriteResult result;
  result.object = existing;
  // A pod is marked before it goes even without grace: watchers see both.
  if (stays || grace.has_value()) {
    std::optional<Json> marked =
        BeginDeletion(resource, *existing, grace, backend.clock());
    if (marked.has_value() && options.dry_run) {
      result.object = std::make_shared<const Json>(*std::move(marked));
    } else if (marked.has_value()) {
      result.object = backend.store.Put(key, *std::move(marked));
    }
  }
  if (!options.dry_run) {
    if (!stays) {
      const JsonPtr last = backend.store.Remove(key);
      if (grace.has_value()) result.object = last;
    }
    backend.changed.SignalAll();
  }
  if (!stays && !grace.has_value()) {
    result.object = GoneStatus(resource, *existing);
  }
  return result;
}

WriteResult BindPod(Backend& backend, const ObjectPlace& place,
                    absl::string_view node) {
  const Resource& resource = *place.resource;
  absl::MutexLock lock(&backend.mutex);
  const StoreKey key = KeyOf(resource, place.name_space, place.name);
  const JsonPtr existing = backend.store.Get(key);
  if (existing == nullptr) {
    return Failed(NotFoundFailure(resource, place.name));
  }
  const auto refuse = [&](absl::string_view why) {
    ApiFailure failure = ConflictFailure(resource, "pods/binding", place.name,
                                         absl::StrCat("pod ", place.name, why));
    failure.kind = "pods/binding";
    return Failed(std::move(failure));
  };
  if (IsBeingDeleted(*existing)) {
    return refuse(" is being deleted, cannot be assigned to a host");
  }
  const std::string bound = TextAt(*existing, {"spec", "nodeName"});
  if (!bound.empty()) {
    return refuse(absl::StrCat(" is already assigned to node \"", bound, "\""));
  }
  const Json& gates = At(*existing, {"spec", "schedulingGates"});
  if (gates.is_array() && !gates.empty()) {
    return refuse(" has non-empty .spec.schedulingGates");
  }
  Json pod = *existing;
  pod["spec"]["nodeName"] = std::string(node);
  Json kept = Json::array();
  for (const Json& condition : At(pod, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) != "PodScheduled") {
      kept.push_back(condition);
    }
  }
  kept.push_back({{"type", "PodScheduled"},
                  {"status", "True"},
                  {"lastProbeTime", nullptr},
                  {"lastTransitionTime", TimeText(backend.clock())}});
  pod["status"]["conditions"] = std::move(kept);
  WriteResult result;
  result.code = 201;
  result.object = backend.store.Put(key, std::move(pod));
  backend.changed.SignalAll();
  return result;
}

}  // namespace gpubinder::embedded
