#include "k8s/embedded/crd_resources.h"

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "k8s/embedded/json_value.h"
#include "k8s/manifests/crd_manifests.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder::embedded {
namespace {

Json ScalarOf(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "true" || text == "false") return text == "true";
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  return text;
}

Json JsonOf(const YAML::Node& node) {
  if (node.IsScalar()) return ScalarOf(node);
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& item : node) list.push_back(JsonOf(item));
    return list;
  }
  if (!node.IsMap()) return Json();
  Json object = Json::object();
  for (const auto& pair : node) {
    object[pair.first.Scalar()] = JsonOf(pair.second);
  }
  return object;
}

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

Resource ResourceFrom(const Json& crd) {
  const Json& spec = Member(crd, "spec");
  const Json& names = Member(spec, "names");
  const Json& versions = Member(spec, "versions");
  BINDER_CHECK(versions.is_array());
  BINDER_CHECK(versions.size() == 1);
  const Json& version = versions[0];
  Resource resource;
  resource.group = TextAt(spec, {"group"});
  resource.version = TextAt(version, {"name"});
  resource.plural = TextAt(names, {"plural"});
  resource.singular = TextAt(names, {"singular"});
  resource.kind = TextAt(names, {"kind"});
  resource.short_names = Texts(Member(names, "shortNames"));
  resource.categories = Texts(Member(names, "categories"));
  resource.namespaced = TextAt(spec, {"scope"}) == "Namespaced";
  resource.has_status = !At(version, {"subresources", "status"}).is_null();
  resource.is_custom = true;
  resource.has_generation = true;
  resource.needs_version = true;
  for (const Json& column : Member(version, "additionalPrinterColumns")) {
    resource.columns.push_back(
        {TextAt(column, {"name"}), TextAt(column, {"type"}),
         TextAt(column, {"jsonPath"}),
         static_cast<int>(NumberAt(column, {"priority"}, 0))});
  }
  resource.schema =
      std::make_shared<const Json>(At(version, {"schema", "openAPIV3Schema"}));
  return resource;
}

}  // namespace

std::vector<Resource> ResourcesOfOurCrds() {
  std::vector<Resource> all;
  for (absl::string_view yaml : CrdManifests()) {
    all.push_back(ResourceOfCrd(yaml));
  }
  return all;
}

Resource ResourceOfCrd(absl::string_view yaml) {
  Json crd;
  try {
    crd = JsonOf(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception&) {
    BINDER_CHECK(!"a CRD that is built in is YAML");
  }
  return ResourceFrom(crd);
}

}  // namespace gpubinder::embedded
