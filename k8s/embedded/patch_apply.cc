#include "k8s/embedded/patch_apply.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr size_t kMaxOperations = 10000;

absl::Status Failed(absl::string_view op, absl::string_view path,
                    absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(op, " operation does not apply at \"", path, "\": ", why));
}

std::vector<std::string> Tokens(absl::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  for (absl::string_view part : absl::StrSplit(pointer.substr(1), '/')) {
    tokens.push_back(absl::StrReplaceAll(
        absl::StrReplaceAll(part, {{"~1", "/"}}), {{"~0", "~"}}));
  }
  return tokens;
}

// Negative indices count from the end: the dialect takes them.
std::optional<size_t> Index(const std::string& token, size_t size,
                            size_t limit) {
  int64_t index = 0;
  if (!absl::SimpleAtoi(token, &index)) return std::nullopt;
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || static_cast<size_t>(index) >= limit) return std::nullopt;
  return static_cast<size_t>(index);
}

Json* Child(Json& parent, const std::string& token) {
  if (parent.is_object()) {
    const auto it = parent.find(token);
    return it == parent.end() ? nullptr : &*it;
  }
  if (!parent.is_array()) return nullptr;
  const auto index = Index(token, parent.size(), parent.size());
  return index.has_value() ? &parent[*index] : nullptr;
}

// The container of the last token; a parent that is null counts as missing.
Json* Parent(Json& document, const std::vector<std::string>& tokens) {
  Json* at = &document;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    at = Child(*at, tokens[i]);
    if (at == nullptr) return nullptr;
  }
  return at->is_structured() ? at : nullptr;
}

// Numbers are compared as they are written: 1 and 1.0 differ.
bool SameText(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_number_float() == b.is_number_float() && a == b;
  }
  if (a.type() != b.type()) return false;
  if (!a.is_structured()) return a == b;
  if (a.size() != b.size()) return false;
  if (a.is_array()) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!SameText(a[i], b[i])) return false;
    }
    return true;
  }
  for (const auto& [name, member] : a.items()) {
    const auto it = b.find(name);
    if (it == b.end() || !SameText(member, *it)) return false;
  }
  return true;
}

absl::Status Add(Json& document, const std::string& path, Json value) {
  const std::vector<std::string> tokens = Tokens(path);
  if (tokens.empty()) {
    document = std::move(value);
    return absl::OkStatus();
  }
  Json* parent = Parent(document, tokens);
  if (parent == nullptr) return Failed("add", path, "missing parent");
  if (parent->is_object()) {
    (*parent)[tokens.back()] = std::move(value);
    return absl::OkStatus();
  }
  if (tokens.back() == "-") {
    parent->push_back(std::move(value));
    return absl::OkStatus();
  }
  // A negative index counts from the end of the list as it will be.
  const size_t grown = parent->size() + 1;
  const auto index = Index(tokens.back(), grown, grown);
  if (!index.has_value()) return Failed("add", path, "index out of range");
  parent->insert(parent->begin() + static_cast<int64_t>(*index),
                 std::move(value));
  return absl::OkStatus();
}

absl::Status Remove(Json& document, const std::string& path, Json* removed) {
  const std::vector<std::string> tokens = Tokens(path);
  Json* parent = tokens.empty() ? nullptr : Parent(document, tokens);
  Json* child = parent == nullptr ? nullptr : Child(*parent, tokens.back());
  if (child == nullptr) return Failed("remove", path, "missing value");
  if (removed != nullptr) *removed = *child;
  if (parent->is_object()) {
    parent->erase(tokens.back());
  } else {
    parent->erase(static_cast<size_t>(child - &(*parent)[0]));
  }
  return absl::OkStatus();
}

absl::Status Replace(Json& document, const std::string& path, Json value) {
  const std::vector<std::string> tokens = Tokens(path);
  if (tokens.empty()) {
    document = std::move(value);
    return absl::OkStatus();
  }
  Json* parent = Parent(document, tokens);
  if (parent == nullptr) return Failed("replace", path, "missing parent");
  // The dialect adds a missing key of an object, and fails on a bad index.
  if (parent->is_object()) {
    (*parent)[tokens.back()] = std::move(value);
    return absl::OkStatus();
  }
  Json* child = Child(*parent, tokens.back());
  if (child == nullptr) return Failed("replace", path, "index out of range");
  *child = std::move(value);
  return absl::OkStatus();
}

const Json* Find(Json& document, const std::string& path) {
  const std::vector<std::string> tokens = Tokens(path);
  if (tokens.empty()) return &document;
  Json* parent = Parent(document, tokens);
  return parent == nullptr ? nullptr : Child(*parent, tokens.back());
}

absl::Status Test(Json& document, const std::string& path, const Json& value) {
  const Json* found = Find(document, path);
  if (found != nullptr) {
    if (SameText(*found, value)) return absl::OkStatus();
    return Failed("test", path, "differs");
  }
  // The dialect lets a missing key of an object pass against null.
  const Json* parent = Parent(document, Tokens(path));
  if (parent != nullptr && parent->is_object() && value.is_null()) {
    return absl::OkStatus();
  }
  return Failed("test", path, "missing value");
}

absl::Status ApplyOperation(const Json& operation, Json& document) {
  const std::string op = TextAt(operation, {"op"});
  const std::string path = TextAt(operation, {"path"});
  const std::string from = TextAt(operation, {"from"});
  if (!path.empty() && path[0] != '/') return Failed(op, path, "bad pointer");
  if (op == "add") return Add(document, path, Member(operation, "value"));
  if (op == "remove") return Remove(document, path, nullptr);
  if (op == "replace") {
    return Replace(document, path, Member(operation, "value"));
  }
  if (op == "test") return Test(document, path, Member(operation, "value"));
  if (op == "move") {
    Json moved;
    if (absl::Status s = Remove(document, from, &moved); !s.ok()) return s;
    return Add(document, path, std::move(moved));
  }
  if (op == "copy") {
    const Json* found = Find(document, from);
    if (found == nullptr) return Failed("copy", from, "missing value");
    return Add(document, path, *found);
  }
  return Failed(op, path, "unknown operation");
}

// The key by which a list of a built-in kind is merged; empty: replaced.
absl::string_view MergeKey(const std::string& list) {
  static const auto* const kKeys = new std::map<std::string, std::string>{
      {"containers", "name"},
      {"initContainers", "name"},
      {"conditions", "type"},
      {"schedulingGates", "name"},
      {"taints", "key"},
      {"volumes", "name"},
      {"env", "name"},
      {"ownerReferences", "uid"},
      {"volumeMounts", "mountPath"},
  };
  const auto it = kKeys->find(list);
  return it == kKeys->end() ? absl::string_view() : it->second;
}

void MergeStrategically(const Json& patch, Json& target);

void MergeList(const Json& patch, absl::string_view key, Json& target) {
  if (!target.is_array()) target = Json::array();
  for (const Json& item : patch) {
    if (TextAt(item, {"$patch"}) == "replace") {
      target = Json::array();
      continue;
    }
    const std::string value = TextAt(item, {key});
    size_t at = 0;
    while (at < target.size() && TextAt(target[at], {key}) != value) ++at;
    if (TextAt(item, {"$patch"}) == "delete") {
      if (at < target.size()) target.erase(at);
      continue;
    }
    if (at == target.size()) target.push_back(Json::object());
    MergeStrategically(item, target[at]);
  }
}

// finalizers are a set; "$deleteFromPrimitiveList/finalizers" takes away.
void MergeFinalizers(const Json& patch, Json& target) {
  if (!target.is_array()) target = Json::array();
  for (const Json& item : patch) {
    if (item.is_string() && !HasText(target, item.get<std::string>())) {
      target.push_back(item);
    }
  }
}

void DeleteFromList(const Json& values, Json& target) {
  if (!target.is_array()) return;
  Json kept = Json::array();
  for (const Json& item : target) {
    if (!item.is_string() || !HasText(values, item.get<std::string>())) {
      kept.push_back(item);
    }
  }
  target = std::move(kept);
}

void MergeStrategically(const Json& patch, Json& target) {
  if (!target.is_object() || TextAt(patch, {"$patch"}) == "replace") {
    target = Json::object();
  }
  for (const auto& [name, value] : patch.items()) {
    constexpr absl::string_view kDelete = "$deleteFromPrimitiveList/";
    if (absl::StartsWith(name, kDelete)) {
      const std::string list = name.substr(kDelete.size());
      if (target.contains(list)) DeleteFromList(value, target[list]);
    } else if (absl::StartsWith(name, "$")) {
      continue;
    } else if (value.is_null()) {
      target.erase(name);
    } else if (value.is_object()) {
      if (TextAt(value, {"$patch"}) == "delete") {
        target.erase(name);
      } else {
        MergeStrategically(value, target[name]);
      }
    } else if (value.is_array() && name == "finalizers") {
      MergeFinalizers(value, target[name]);
    } else if (value.is_array() && !MergeKey(name).empty()) {
      MergeList(value, MergeKey(name), target[name]);
    } else {
      target[name] = value;
    }
  }
}

}  // namespace

absl::Status ApplyJsonPatch(const Json& patch, Json& document) {
  if (!patch.is_array()) {
    return absl::InvalidArgumentError("a JSON patch is a list");
  }
  if (patch.size() > kMaxOperations) {
    return absl::InvalidArgumentError(
        absl::StrCat("the patch has ", patch.size(), " operations, at most ",
                     kMaxOperations, " are allowed"));
  }
  Json changed = document;
  for (const Json& operation : patch) {
    if (!operation.is_object()) {
      return absl::InvalidArgumentError("an operation is an object");
    }
    if (absl::Status s = ApplyOperation(operation, changed); !s.ok()) return s;
  }
  document = std::move(changed);
  return absl::OkStatus();
}

absl::Status ApplyMergePatch(const Json& patch, Json& document) {
  if (!patch.is_object()) {
    return absl::InvalidArgumentError("a merge patch is an object");
  }
  document.merge_patch(patch);
  return absl::OkStatus();
}

absl::Status ApplyStrategicMergePatch(const Json& patch, Json& document) {
  if (!patch.is_object()) {
    return absl::InvalidArgumentError("a strategic merge patch is an object");
  }
  MergeStrategically(patch, document);
  return absl::OkStatus();
}

}  // namespace gpubinder::embedded
