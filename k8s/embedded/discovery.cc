#include "k8s/embedded/discovery.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/resource_table.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

const Json& Verbs() {
  static const Json* const kVerbs =
      new Json({"create", "delete", "get", "list", "patch", "update", "watch"});
  return *kVerbs;
}

Json VersionDocument() {
  return {{"major", "1"},
          {"minor", "34"},
          {"gitVersion", "v1.34.4+gpubinder"},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""},
          {"compiler", ""},
          {"platform", "linux/amd64"}};
}

Json GroupDocument(const std::string& group, const std::string& version) {
  const Json one = {{"groupVersion", absl::StrCat(group, "/", version)},
                    {"version", version}};
  return {{"name", group},
          {"versions", Json::array({one})},
          {"preferredVersion", one}};
}

Json ResourceEntry(const Resource& resource) {
  Json entry = {{"name", resource.plural},
                {"singularName", resource.singular},
                {"namespaced", resource.namespaced},
                {"kind", resource.kind},
                {"verbs", Verbs()}};
  if (!resource.short_names.empty()) {
    entry["shortNames"] = resource.short_names;
  }
  if (!resource.categories.empty()) entry["categories"] = resource.categories;
  return entry;
}

Json Subresource(const Resource& resource, const char* name, const char* kind,
                 Json verbs) {
  return {{"name", absl::StrCat(resource.plural, "/", name)},
          {"singularName", ""},
          {"namespaced", resource.namespaced},
          {"kind", kind},
          {"verbs", std::move(verbs)}};
}

Json ResourceListDocument(const std::string& group_version) {
  Json list = {{"kind", "APIResourceList"},
               {"apiVersion", "v1"},
               {"groupVersion", group_version},
               {"resources", Json::array()}};
  for (const Resource& resource : AllResources()) {
    if (resource.GroupVersion() != group_version) continue;
    list["resources"].push_back(ResourceEntry(resource));
    if (resource.has_status) {
      list["resources"].push_back(Subresource(resource, "status",
                                              resource.kind.c_str(),
                                              {"get", "patch", "update"}));
    }
    if (resource.kind == "Pod") {
      list["resources"].push_back(
          Subresource(resource, "binding", "Binding", Json::array({"create"})));
    }
  }
  return list;
}

std::set<std::pair<std::string, std::string>> Groups() {
  std::set<std::pair<std::string, std::string>> groups;
  for (const Resource& resource : AllResources()) {
    if (!resource.group.empty()) {
      groups.insert({resource.group, resource.version});
    }
  }
  return groups;
}

Json GroupListDocument() {
  Json list = {{"kind", "APIGroupList"},
               {"apiVersion", "v1"},
               {"groups", Json::array()}};
  for (const auto& [group, version] : Groups()) {
    list["groups"].push_back(GroupDocument(group, version));
  }
  return list;
}

std::string RootOf(const Resource& resource) {
  return absl::StrCat(resource.group.empty() ? "api/" : "apis/",
                      resource.GroupVersion());
}

Json OpenApiIndex() {
  Json paths = Json::object();
  for (const Resource& resource : AllResources()) {
    const std::string root = RootOf(resource);
    paths[root] = {{"serverRelativeURL", "/openapi/v3/" + root}};
  }
  return {{"paths", std::move(paths)}};
}

Json SchemaWithType(const Resource& resource, const Json& kind) {
  Json schema = {{"type", "object"}};
  if (resource.schema != nullptr) schema = *resource.schema;
  schema["properties"]["apiVersion"] = {{"type", "string"}};
  schema["properties"]["kind"] = {{"type", "string"}};
  schema["properties"]["metadata"] = {{"type", "object"}};
  schema["x-kubernetes-group-version-kind"] = Json::array({kind});
  return schema;
}

Json OpenApiDocument(const std::string& root) {
  Json document = {{"openapi", "3.0.0"},
                   {"info", {{"title", "Kubernetes"}, {"version", "v1.34.4"}}},
                   {"paths", Json::object()},
                   {"components", {{"schemas", Json::object()}}}};
  const auto parameter = [](const char* name) {
    return Json{{"name", name},
                {"in", "query"},
                {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
  };
  for (const Resource& resource : AllResources()) {
    if (RootOf(resource) != root) continue;
    const Json kind = {{"group", resource.group},
                       {"version", resource.version},
                       {"kind", resource.kind}};
    const std::string path = absl::StrCat(
        "/", root, resource.namespaced ? "/namespaces/{namespace}" : "", "/",
        resource.plural, "/{name}");
    for (const char* verb : {"patch", "put"}) {
      document["paths"][path][verb] = {
          {"parameters",
           Json::array({parameter("dryRun"), parameter("fieldManager"),
                        parameter("fieldValidation")})},
          {"responses", Json::object()},
          {"x-kubernetes-action", verb},
          {"x-kubernetes-group-version-kind", kind}};
    }
    document["components"]["schemas"][absl::StrCat(
        resource.group, ".", resource.version, ".", resource.kind)] =
        SchemaWithType(resource, kind);
  }
  return document;
}

}  // namespace

std::optional<std::string> DiscoveryDocument(const RequestTarget& target) {
  const std::vector<std::string>& path = target.path;
  const std::string first = path.empty() ? "" : path[0];
  if (first == "healthz" || first == "livez" || first == "readyz") return "ok";
  if (first == "version") return DumpJson(VersionDocument());
  if (first == "api" && path.size() == 1) {
    return DumpJson({{"kind", "APIVersions"},
                     {"versions", Json::array({"v1"})},
                     {"serverAddressByClientCIDRs", Json::array()}});
  }
  if (first == "apis" && path.size() == 1) return DumpJson(GroupListDocument());
  if (first == "openapi" && path.size() >= 2 && path[1] == "v3") {
    if (path.size() == 2) return DumpJson(OpenApiIndex());
    return DumpJson(
        OpenApiDocument(absl::StrJoin(path.begin() + 2, path.end(), "/")));
  }
  for (const Resource& resource : AllResources()) {
    const bool core = resource.group.empty();
    if (core && first == "api" && path.size() == 2 &&
        path[1] == resource.version) {
      return DumpJson(ResourceListDocument(resource.GroupVersion()));
    }
    if (core || first != "apis" || path.size() < 2 ||
        path[1] != resource.group) {
      continue;
    }
    if (path.size() == 2) {
      Json group = GroupDocument(resource.group, resource.version);
      group["kind"] = "APIGroup";
      group["apiVersion"] = "v1";
      return DumpJson(group);
    }
    if (path.size() == 3 && path[2] == resource.version) {
      return DumpJson(ResourceListDocument(resource.GroupVersion()));
    }
  }
  return std::nullopt;
}

}  // namespace gpubinder::embedded
