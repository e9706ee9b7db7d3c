#include <optional>
#include <string>
#include <utility>

#include "k8s/effect_json.h"
#include "k8s/effect_requests.h"
#include "k8s/kinds.h"
#include "nlohmann/json.hpp"

namespace gpubinder {

namespace {

using Json = nlohmann::json;
using Verb = EffectRequest::Verb;
using v1::Target;

ResourcePath PathOf(const Target& target, absl::string_view subresource) {
  ResourcePath path = CollectionOf(target);
  path.name = target.name();
  path.subresource = std::string(subresource);
  return path;
}

}  // namespace

ResourcePath CollectionOf(const Target& target) {
  ResourcePath path;
  bool namespaced = true;
  if (const std::optional<Kind> kind = KindByName(target.kind())) {
    path = ResourcePathOf(*kind);
    namespaced = PlaceOf(*kind).namespaced;
  }
  if (namespaced) path.name_space = target.namespace_();
  return path;
}

EffectRequest CreateRequest(const Target& target, const Json& body) {
  return {.verb = Verb::kCreate,
          .path = CollectionOf(target),
          .body = JsonText(body)};
}

EffectRequest MergePatch(const Target& target, absl::string_view subresource,
                         Json body) {
  body["metadata"]["uid"] = target.uid();
  body["metadata"]["resourceVersion"] = target.resource_version();
  return {.verb = Verb::kPatch,
          .path = PathOf(target, subresource),
          .patch_type = PatchType::kMerge,
          .body = JsonText(body)};
}

EffectRequest StatusPatch(const Target& target, Json status) {
  return MergePatch(target, "status", {{"status", std::move(status)}});
}

EffectRequest JsonPatchRequest(const Target& target,
                               absl::string_view subresource,
                               const Json& operations) {
  return {.verb = Verb::kPatch,
          .path = PathOf(target, subresource),
          .patch_type = PatchType::kJson,
          .body = JsonText(operations)};
}

EffectRequest DeleteRequest(const Target& target) {
  Json preconditions = {{"uid", target.uid()}};
  if (!target.resource_version().empty()) {
    preconditions["resourceVersion"] = target.resource_version();
  }
  return {.verb = Verb::kDelete,
          .path = PathOf(target, ""),
          .body = JsonText({{"apiVersion", "v1"},
                            {"kind", "DeleteOptions"},
                            {"preconditions", preconditions}})};
}

Json OwnerReferences(const v1::OwnerReference& owner) {
  Json reference = OwnerJson(owner);
  reference["controller"] = false;
  reference["blockOwnerDeletion"] = false;
  return Json::array({reference});
}

}  // namespace gpubinder
