#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/admission_call.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/object_rules.h"
#include "k8s/embedded/pod_rules.h"
#include "k8s/embedded/quota.h"
#include "k8s/embedded/schema.h"
#include "k8s/embedded/write.h"
#include "k8s/embedded/write_common.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr int kNameTries = 8;
constexpr size_t kMaxGeneratedBase = 58;

// OC-6: what the server sets itself is not taken from a client.
void DropServerFields(Json& metadata) {
  for (const char* field :
       {"uid", "creationTimestamp", "deletionTimestamp", "managedFields",
        "deletionGracePeriodSeconds", "generation", "selfLink"}) {
    metadata.erase(field);
  }
}

std::optional<ApiFailure> CheckNamespace(const Store& store,
                                         const ObjectPlace& place,
                                         const Json& body) {
  if (!place.resource->namespaced) return std::nullopt;
  const Resource& namespaces = ResourceNamed("namespaces");
  const JsonPtr found = store.Get(KeyOf(namespaces, "", place.name_space));
  if (found == nullptr) return NotFoundFailure(namespaces, place.name_space);
  if (!IsBeingDeleted(*found)) return std::nullopt;
  ApiFailure refused = ForbiddenFailure(
      *place.resource, TextAt(body, {"metadata", "name"}),
      absl::StrCat("unable to create new content in namespace ",
                   place.name_space, " because it is being terminated"));
  refused.causes.push_back(
      {"metadata.namespace", "NamespaceTerminating",
       absl::StrCat("namespace ", place.name_space, " is being terminated")});
  return refused;
}

void SetInitialStatus(const Resource& resource, const std::string& now,
                      Json& body) {
  if (resource.kind == "Pod") {
    body["status"] = NewPodStatus(body, now);
  } else if (resource.kind == "Namespace") {
    body["status"] = {{"phase", "Active"}};
    body["spec"] = {{"finalizers", {"kubernetes"}}};
    ObjectAt(body["metadata"], "labels")["kubernetes.io/metadata.name"] =
        TextAt(body, {"metadata", "name"});
  } else if (resource.kind == "PersistentVolumeClaim" ||
             resource.kind == "PersistentVolume") {
    body["status"] = {{"phase", "Pending"}};
  } else if (resource.has_status && resource.kind != "Node") {
    // A Node's status is kept, as the real server does: kubelets register
    // with it.
    body.erase("status");
  }
}

void NameObject(const Store& store, const ObjectPlace& place, IdSource& ids,
                Json& metadata) {
  const std::string base = TextAt(metadata, {"generateName"});
  if (!TextAt(metadata, {"name"}).empty() || base.empty()) return;
  for (int i = 0; i < kNameTries; ++i) {
    const std::string name =
        base.substr(0, kMaxGeneratedBase) + ids.NameSuffix();
    metadata["name"] = name;
    if (store.Get(KeyOf(*place.resource, place.name_space, name)) == nullptr) {
      return;
    }
  }
}

FieldErrors CheckNew(const Resource& resource, const Json& body) {
  FieldErrors errors = CheckMetadata(resource, body);
  FieldErrors more;
  if (resource.kind == "Pod") more = CheckPodCreate(body);
  if (resource.schema != nullptr) {
    more = CheckSchema(*resource.schema, body, Json());
  }
  errors.insert(errors.end(), more.begin(), more.end());
  return errors;
}

std::optional<ApiFailure> CheckExisting(const Store& store,
                                        const ObjectPlace& place,
                                        const std::string& name) {
  const JsonPtr existing =
      store.Get(KeyOf(*place.resource, place.name_space, name));
  if (existing == nullptr) return std::nullopt;
  ApiFailure exists = ExistsFailure(*place.resource, name);
  if (IsBeingDeleted(*existing)) {
    exists.message = "object is being deleted: " + exists.message;
  }
  return exists;
}

// The checks and the write that must be one step.
WriteResult Insert(Backend& backend, const ObjectPlace& place, Json body,
                   const WriteOptions& options)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(backend.mutex) {
  const Resource& resource = *place.resource;
  Store& store = backend.store;
  const std::string now = TimeText(backend.clock());
  if (auto failed = CheckNamespace(store, place, body)) return Failed(*failed);
  Json& metadata = ObjectAt(body, "metadata");
  NameObject(store, place, backend.ids, metadata);
  metadata["uid"] = backend.ids.Uid();
  metadata["creationTimestamp"] = now;
  if (resource.has_generation) metadata["generation"] = 1;
  SetInitialStatus(resource, now, body);
  if (resource.schema != nullptr) PruneAndDefault(*resource.schema, body);
  const std::string name = TextAt(body, {"metadata", "name"});
  if (FieldErrors errors = CheckNew(resource, body); !errors.empty()) {
    return Failed(InvalidFailure(resource, name, std::move(errors)));
  }
  if (resource.kind == "Pod") {
    const auto refusal =
        QuotaRefusal(store.List("resourcequotas", place.name_space),
                     store.List("pods", place.name_space), body);
    if (refusal.has_value()) {
      return Failed(ForbiddenFailure(resource, name, *refusal));
    }
  }
  if (auto failed = CheckExisting(store, place, name)) return Failed(*failed);
  WriteResult result;
  result.code = 201;
  if (options.dry_run) {
    result.object = std::make_shared<const Json>(std::move(body));
    return result;
  }
  result.object =
      store.Put(KeyOf(resource, place.name_space, name), std::move(body));
  backend.changed.SignalAll();
  return result;
}

}  // namespace

WriteResult CreateObject(Backend& backend, const ObjectPlace& place, Json body,
                         const WriteOptions& options) {
  const Resource& resource = *place.resource;
  ObjectPlace unnamed = place;
  unnamed.name.clear();
  std::vector<std::string> warnings;
  if (auto failed = CheckTypeAndPlace(unnamed, body)) return Failed(*failed);
  if (auto failed = CheckLease(resource, body)) return Failed(*failed);
  if (!TextAt(body, {"metadata", "resourceVersion"}).empty()) {
    return Failed(PlainFailure(
        500, "", "resourceVersion should not be set on objects to be created"));
  }
  if (auto failed = PruneUnknown(resource, options, body, warnings)) {
    return Failed(*failed);
  }
  DropServerFields(body["metadata"]);
  if (resource.kind == "Pod") DefaultPod(body);
  {
    // Before the webhooks, as the namespace admission is.
    absl::MutexLock lock(&backend.mutex);
    if (auto failed = CheckNamespace(backend.store, unnamed, body)) {
      return Failed(*failed);
    }
  }
  if (auto failed = AdmitCreate(backend, unnamed, options, body, warnings)) {
    return Failed(*failed);
  }
  if (resource.kind == "Pod") DefaultPod(body);
  absl::MutexLock lock(&backend.mutex);
  WriteResult result = Insert(backend, unnamed, std::move(body), options);
  result.warnings = std::move(warnings);
  return result;
}

}  // namespace gpubinder::embedded
