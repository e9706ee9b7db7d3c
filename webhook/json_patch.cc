#include "webhook/json_patch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

Json ItemJson(const FlatObject& item) {
  Json object = Json::object();
  for (const auto& field : item) {
    std::visit([&](const auto& plain) { object[field.first] = plain; },
               field.second);
  }
  return object;
}

// Class tolerations and the like are not ours to vouch for, so bytes that are
// no UTF-8 are replaced instead of thrown about.
std::string AddOperation(absl::string_view path, const Json& value) {
  const Json operation = {
      {"op", "add"}, {"path", std::string(path)}, {"value", value}};
  return operation.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Pointer(const std::vector<std::string>& steps, size_t length) {
  std::string pointer;
  for (size_t i = 0; i < length; ++i) {
    absl::StrAppend(&pointer, "/", EscapePointerStep(steps[i]));
  }
  return pointer;
}

// How many steps both paths begin with.
size_t CommonSteps(const std::vector<std::string>& a,
                   const std::vector<std::string>& b) {
  size_t common = 0;
  while (common < std::min(a.size(), b.size()) && a[common] == b[common]) {
    ++common;
  }
  return common;
}

}  // namespace

void JsonPatch::Append(const ListPlace& place,
                       const std::vector<FlatObject>& items) {
  BINDER_CHECK(!place.steps.empty());
  BINDER_CHECK(place.present <= place.steps.size());
  if (items.empty()) return;
  if (place.present == place.steps.size()) {
    const std::string end =
        absl::StrCat(Pointer(place.steps, place.steps.size()), "/-");
    for (const FlatObject& item : items) {
      operations_.push_back(AddOperation(end, ItemJson(item)));
    }
    return;
  }
  const std::vector<std::string> parents(place.steps.begin(),
                                         place.steps.end() - 1);
  size_t present = place.present;
  for (const std::vector<std::string>& made : made_) {
    present = std::max(present, CommonSteps(made, parents));
  }
  if (present < parents.size()) made_.push_back(parents);
  Json value = Json::array();
  for (const FlatObject& item : items) value.push_back(ItemJson(item));
  for (size_t i = place.steps.size() - 1; i > present; --i) {
    Json parent = Json::object();
    parent[place.steps[i]] = std::move(value);
    value = std::move(parent);
  }
  operations_.push_back(AddOperation(Pointer(place.steps, present + 1), value));
}

std::string JsonPatch::Text() const {
  if (operations_.empty()) return "";
  return absl::StrCat("[", absl::StrJoin(operations_, ","), "]");
}

std::string EscapePointerStep(absl::string_view step) {
  return absl::StrReplaceAll(step, {{"~", "~0"}, {"/", "~1"}});
}

}  // namespace gpubinder
