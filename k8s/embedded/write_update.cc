#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/object_rules.h"
#include "k8s/embedded/patch_apply.h"
#include "k8s/embedded/pod_rules.h"
#include "k8s/embedded/schema.h"
#include "k8s/embedded/write.h"
#include "k8s/embedded/write_common.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

void CopyField(const Json& from, const char* name, Json& to) {
  const Json& value = Member(from, name);
  if (value.is_null()) {
    to.erase(name);
  } else {
    to[name] = value;
  }
}

// What a client leaves out of metadata is kept; generation is the server's.
void FillMetadata(const Json& old, Json& object) {
  const Json& before = Member(old, "metadata");
  Json& metadata = ObjectAt(object, "metadata");
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds"}) {
    if (Member(metadata, field).is_null()) CopyField(before, field, metadata);
  }
  CopyField(before, "generation", metadata);
  for (const char* field :
       {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const Json& value = Member(metadata, field);
    if (value.is_null() || value.empty()) metadata.erase(field);
  }
  metadata.erase("managedFields");
  metadata.erase("selfLink");
}

// PA-7: which part of the object the endpoint takes.
void TakeEndpointPart(const ObjectPlace& place, const Json& old, Json& object) {
  const Resource& resource = *place.resource;
  if (place.subresource == "finalize") {  // of a Namespace
    Json next = old;
    CopyField(object, "spec", next);
    object = std::move(next);
    return;
  }
  if (place.subresource.empty()) {
    if (resource.has_status) CopyField(old, "status", object);
    if (resource.kind == "Namespace") CopyField(old, "spec", object);
    return;
  }
  if (resource.is_custom) {
    Json next = old;
    CopyField(object, "status", next);
    object = std::move(next);
    return;
  }
  for (const auto& [name, value] : old.items()) {
    if (name != "status" && name != "metadata") object[name] = value;
  }
  CopyField(Member(old, "metadata"), "ownerReferences", object["metadata"]);
}

// Without metadata, and without status where that is a subresource.
Json GenerationPart(const Resource& resource, const Json& object) {
  Json part = object;
  part.erase("metadata");
  if (resource.has_status) part.erase("status");
  return part;
}

bool SameButVersion(Json a, Json b) {
  ObjectAt(a, "metadata").erase("resourceVersion");
  ObjectAt(b, "metadata").erase("resourceVersion");
  return a == b;
}

// FZ-1: the update that takes the last finalizer of a deleted object ends it.
bool IsFinished(const Resource& resource, const Json& object) {
  if (!IsBeingDeleted(object) || HasFinalizers(object)) return false;
  if (resource.kind == "Namespace") {
    const Json& finalizers = At(object, {"spec", "finalizers"});
    return !finalizers.is_array() || finalizers.empty();
  }
  return NumberAt(object, {"metadata", "deletionGracePeriodSeconds"}, 0) == 0;
}

FieldErrors CheckChange(const ObjectPlace& place, const Json& old,
                        const Json& object) {
  const Resource& resource = *place.resource;
  FieldErrors errors = CheckMetadataUpdate(old, object);
  FieldErrors more;
  if (resource.kind == "Pod" && place.subresource.empty()) {
    more = CheckPod(object);
    const FieldErrors changes = CheckPodUpdate(old, object);
    more.insert(more.end(), changes.begin(), changes.end());
  }
  if (resource.schema != nullptr) {
    more = CheckSchema(*resource.schema, object, old);
  }
  errors.insert(errors.end(), more.begin(), more.end());
  return errors;
}

WriteResult Finish(Backend& backend, const ObjectPlace& place,
                   const JsonPtr& existing, Json object,
                   const WriteOptions& options)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(backend.mutex) {
  const Resource& resource = *place.resource;
  if (resource.has_generation &&
      GenerationPart(resource, *existing) != GenerationPart(resource, object)) {
    object["metadata"]["generation"] =
        NumberAt(object, {"metadata", "generation"}, 1) + 1;
  }
  WriteResult result;
  if (SameButVersion(*existing, object)) {  // RV-4: a no-op writes nothing
    result.object = existing;
    return result;
  }
  if (options.dry_run) {
    result.object = std::make_shared<const Json>(std::move(object));
    return result;
  }
  const StoreKey key = KeyOf(resource, place.name_space, place.name);
  const bool finished = IsFinished(resource, object);
  result.object = backend.store.Put(key, std::move(object));
  if (finished) result.object = backend.store.Remove(key);
  backend.changed.SignalAll();
  return result;
}

// `object` is what the client wants the whole to be.
WriteResult Change(Backend& backend, const ObjectPlace& place,
                   const JsonPtr& existing, Json object,
                   const WriteOptions& options)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(backend.mutex) {
  const Resource& resource = *place.resource;
  std::vector<std::string> warnings;
  if (auto failed = CheckTypeAndPlace(place, object)) return Failed(*failed);
  if (TextAt(object, {"metadata", "resourceVersion"}) !=
      TextAt(*existing, {"metadata", "resourceVersion"})) {
    return Failed(StaleFailure(resource, place.name));
  }
  FillMetadata(*existing, object);
  TakeEndpointPart(place, *existing, object);
  if (auto failed = PruneUnknown(resource, options, object, warnings)) {
    return Failed(*failed);
  }
  if (resource.kind == "Pod") DefaultPod(object);
  if (FieldErrors errors = CheckChange(place, *existing, object);
      !errors.empty()) {
    return Failed(InvalidFailure(resource, place.name, std::move(errors)));
  }
  WriteResult result =
      Finish(backend, place, existing, std::move(object), options);
  result.warnings = std::move(warnings);
  return result;
}

absl::Status ApplyPatch(PatchKind kind, const Json& patch, Json& object) {
  if (kind == PatchKind::kJson) return ApplyJsonPatch(patch, object);
  if (kind == PatchKind::kMerge) return ApplyMergePatch(patch, object);
  return ApplyStrategicMergePatch(patch, object);
}

}  // namespace

WriteResult ReplaceObject(Backend& backend, const ObjectPlace& place, Json body,
                          const WriteOptions& options) {
  const Resource& resource = *place.resource;
  if (auto failed = CheckTypeAndPlace(place, body)) return Failed(*failed);
  if (auto failed = CheckLease(resource, body)) return Failed(*failed);
  const std::string uid = TextAt(body, {"metadata", "uid"});
  Json& version = body["metadata"]["resourceVersion"];
  const bool unconditional = !version.is_string() || version == "";
  JsonPtr existing =
      ReadObject(backend, resource, place.name_space, place.name);
  if (existing == nullptr && resource.kind == "Lease" && unconditional) {
    // Leases may be created by a PUT.
    body["metadata"].erase("resourceVersion");
    return CreateObject(backend, place, std::move(body), options);
  }
  absl::MutexLock lock(&backend.mutex);
  existing = backend.store.Get(KeyOf(resource, place.name_space, place.name));
  if (existing == nullptr) {
    return Failed(NotFoundFailure(resource, place.name));
  }
  if (const std::string known = TextAt(*existing, {"metadata", "uid"});
      !uid.empty() && uid != known) {
    return Failed(ConflictFailure(
        resource, resource.QualifiedPlural(), place.name,
        absl::StrCat("Precondition failed: UID in precondition: ", uid,
                     ", UID in object meta: ", known)));
  }
  if (unconditional) {
    if (resource.needs_version) {
      ApiFailure invalid =
          InvalidFailure(resource, place.name,
                         {InvalidValue("metadata.resourceVersion", 0,
                                       "must be specified for an update")});
      invalid.message =
          absl::StrCat(resource.QualifiedPlural(), " \"", place.name,
                       "\" is invalid: ", invalid.causes[0].field, ": ",
                       invalid.causes[0].message);
      return Failed(std::move(invalid));
    }
    version = At(*existing, {"metadata", "resourceVersion"});
  }
  return Change(backend, place, existing, std::move(body), options);
}

WriteResult PatchObject(Backend& backend, const ObjectPlace& place,
                        PatchKind kind, const Json& patch,
                        const WriteOptions& options) {
  const Resource& resource = *place.resource;
  if (kind == PatchKind::kStrategic && resource.is_custom) {
    return Failed(PlainFailure(
        415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media "
        "types include: application/json-patch+json, "
        "application/merge-patch+json"));
  }
  absl::MutexLock lock(&backend.mutex);
  const JsonPtr existing =
      backend.store.Get(KeyOf(resource, place.name_space, place.name));
  if (existing == nullptr) {
    return Failed(NotFoundFailure(resource, place.name));
  }
  Json object = *existing;
  if (absl::Status s = ApplyPatch(kind, patch, object); !s.ok()) {
    if (absl::IsFailedPrecondition(s)) return Failed(PatchFailure());
    return Failed(BadRequest(
        absl::StrCat("error decoding patch: ", std::string(s.message()))));
  }
  if (resource.kind == "Lease") {
    if (const auto error = LeaseTimeError(object)) {
      ApiFailure invalid = PatchFailure();
      invalid.message = absl::StrCat(" \"\" is invalid: patch: Invalid value: ",
                                     DumpJson(DumpJson(object)), ": ", *error);
      return Failed(std::move(invalid));
    }
  }
  // A patch that takes the version away asks for no precondition.
  Json& version = ObjectAt(object, "metadata")["resourceVersion"];
  if (!version.is_string()) {
    version = At(*existing, {"metadata", "resourceVersion"});
  }
  return Change(backend, place, existing, std::move(object), options);
}

}  // namespace gpubinder::embedded
