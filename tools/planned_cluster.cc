#include "tools/planned_cluster.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "k8s/api_client.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"
#include "reconciler/model/sha256.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A uid in the usual form that depends on `what` alone.
std::string UidOf(const std::string& what) {
  std::string uid = Sha256Hex(what).substr(0, 32);
  for (const size_t place : {20, 16, 12, 8}) uid.insert(place, "-");
  return uid;
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", time, absl::UTCTimeZone());
}

bool IsVersion(absl::string_view text) {
  uint64_t ignored = 0;
  return absl::SimpleAtoi(text, &ignored) &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

std::optional<Kind> KindAt(const ResourcePath& path) {
  for (int i = 0; i < kKinds; ++i) {
    if (kKindPlaces[i].plural == path.plural &&
        kKindPlaces[i].group == path.group) {
      return static_cast<Kind>(i);
    }
  }
  return std::nullopt;
}

// Whether the status of the kind is written only through its subresource.
bool HasStatusSubresource(Kind kind) {
  return kind != Kind::kPersistentVolume && kind != Kind::kWorkload;
}

absl::Status Refused(int code, const std::string& reason,
                     const std::string& message, const EffectRequest& request) {
  return StatusOfApiError(
      {.code = code, .reason = reason, .message = message, .sent = true},
      PathText(request.path));
}

absl::Status Conflict(const EffectRequest& request) {
  return Refused(409, "Conflict", "the object has been modified", request);
}

// The text at metadata.<name>; empty when there is none.
std::string MetaText(const Json& json, const char* name) {
  const Json::json_pointer place("/metadata/" + std::string(name));
  if (!json.contains(place) || !json.at(place).is_string()) return "";
  return json.at(place).get<std::string>();
}

bool HasFinalizers(const Json& json) {
  const Json::json_pointer place("/metadata/finalizers");
  return json.contains(place) && json.at(place).is_array() &&
         !json.at(place).empty();
}

// Whether a precondition says something else than the object.
bool Differs(const Json& wanted, const std::string& found) {
  return wanted.is_string() && wanted.get<std::string>() != found;
}

}  // namespace

struct PlannedCluster::Stored {
  std::string json;
  // Of fields that had to be filled in, so that the object stays malformed.
  std::vector<FieldProblem> problems;
  std::vector<std::string> owners;  // uids
  std::string uid;
};

// Handles one request.
class PlannedCluster::Writer {
 public:
  Writer(PlannedCluster& cluster, const EffectRequest& request)
      : cluster_(cluster), request_(request) {}

  absl::StatusOr<Answer> Write() {
    const std::optional<Kind> kind = KindAt(request_.path);
    if (!kind.has_value()) {
      if (request_.verb == EffectRequest::Verb::kCreate) return Answer{};
      return Refused(404, "NotFound", "the kind is not in the plan", request_);
    }
    const Json body = Json::parse(request_.body, nullptr, false);
    if (body.is_discarded()) {
      return Refused(400, "BadRequest", "the body is no JSON", request_);
    }
    absl::Status status;
    if (request_.verb == EffectRequest::Verb::kCreate) {
      status = Create(*kind, body);
    } else {
      const Key key = {*kind, request_.path.name_space, request_.path.name};
      if (!cluster_.objects_.contains(key)) {
        return Refused(404, "NotFound", "there is no such object", request_);
      }
      status = request_.verb == EffectRequest::Verb::kPatch ? Patch(key, body)
                                                            : Delete(key, body);
    }
    if (!status.ok()) return status;
    return std::move(answer_);
  }

 private:
  absl::Status Create(Kind kind, Json body) {
    const Key key = {kind, request_.path.name_space, MetaText(body, "name")};
    if (cluster_.objects_.contains(key)) {
      return Refused(409, "AlreadyExists", "the object exists", request_);
    }
    if (HasStatusSubresource(kind)) body.erase("status");
    Json& meta = body["metadata"];
    meta["uid"] =
        UidOf(absl::StrCat(KindName(kind), "/", std::get<1>(key), "/",
                           std::get<2>(key), "/", cluster_.version_ + 1));
    meta["creationTimestamp"] = TimeText(cluster_.now_);
    meta["generation"] = 1;
    auto stored = std::make_unique<Stored>();
    stored->uid = meta["uid"].get<std::string>();
    cluster_.uids_[{kind, stored->uid}] = std::get<2>(key);
    cluster_.objects_[key] = std::move(stored);
    Store(key, std::move(body), v1::ObjectEvent::ADDED);
    return absl::OkStatus();
  }

  absl::Status Patch(const Key& key, const Json& patch) {
    const Json old = Json::parse(cluster_.objects_.at(key)->json);
    absl::StatusOr<Json> changed = request_.patch_type == PatchType::kMerge
                                       ? Merged(old, patch)
                                       : JsonPatched(old, patch);
    if (!changed.ok()) return changed.status();
    KeepOtherHalf(key, old, *changed);
    answer_.json = Dump(old);
    if (*changed == old) return absl::OkStatus();
    if (changed->value("spec", Json()) != old.value("spec", Json())) {
      Json& meta = (*changed)["metadata"];
      if (meta.contains("generation") &&
          meta["generation"].is_number_integer()) {
        meta["generation"] = meta["generation"].get<int64_t>() + 1;
      }
    }
    if (!MetaText(*changed, "deletionTimestamp").empty() &&
        !HasFinalizers(*changed)) {
      cluster_.objects_.at(key)->json = Dump(*changed);
      answer_.json = cluster_.objects_.at(key)->json;
      Remove(key);
    } else {
      Store(key, *std::move(changed), v1::ObjectEvent::MODIFIED);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Json> Merged(const Json& old, Json patch) const {
    if (patch.contains("metadata") && patch["metadata"].is_object()) {
      Json& meta = patch["metadata"];
      if (Differs(meta.value("uid", Json()), MetaText(old, "uid")) ||
          Differs(meta.value("resourceVersion", Json()),
                  MetaText(old, "resourceVersion"))) {
        return Conflict(request_);
      }
      meta.erase("uid");
      meta.erase("resourceVersion");
    }
    Json changed = old;
    changed.merge_patch(patch);
    return changed;
  }

  absl::StatusOr<Json> JsonPatched(const Json& old, const Json& patch) const {
    try {
      Json changed = old.patch(patch);
      if (MetaText(changed, "resourceVersion") !=
          MetaText(old, "resourceVersion")) {
        return Conflict(request_);
      }
      return changed;
    } catch (const Json::exception&) {
      return Refused(422, "Invalid", "the patch does not fit the object",
                     request_);
    }
  }

  // A write to the object leaves its status alone, and the other way round.
  void KeepOtherHalf(const Key& key, const Json& old, Json& changed) const {
    if (!HasStatusSubresource(std::get<0>(key))) return;
    const bool status_only = request_.path.subresource == "status";
    Json status = (status_only ? changed : old).value("status", Json());
    if (status_only) changed = old;
    changed.erase("status");
    if (!status.is_null()) changed["status"] = std::move(status);
  }

  absl::Status Delete(const Key& key, const Json& options) {
    const Json wanted = options.value("preconditions", Json::object());
    const Json old = Json::parse(cluster_.objects_.at(key)->json);
    if (Differs(wanted.value("uid", Json()), MetaText(old, "uid")) ||
        Differs(wanted.value("resourceVersion", Json()),
                MetaText(old, "resourceVersion"))) {
      return Conflict(request_);
    }
    answer_.json = cluster_.objects_.at(key)->json;
    End(key);
    return absl::OkStatus();
  }

  // What a deletion makes of an object.
  void End(const Key& key) {
    Json json = Json::parse(cluster_.objects_.at(key)->json);
    if (!HasFinalizers(json)) return Remove(key);
    if (!MetaText(json, "deletionTimestamp").empty()) return;
    json["metadata"]["deletionTimestamp"] = TimeText(cluster_.now_);
    Store(key, std::move(json), v1::ObjectEvent::MODIFIED);
  }

  void Store(const Key& key, Json json, v1::ObjectEvent::Type type) {
    Stored& stored = *cluster_.objects_.at(key);
    json["metadata"]["resourceVersion"] = absl::StrCat(++cluster_.version_);
    stored.json = Dump(json);
    if (answer_.changes.empty()) answer_.json = stored.json;
    answer_.changes.push_back(cluster_.StateOf(key, stored, type));
    cluster_.SetOwners(key, answer_.changes.back().object, stored);
  }

  // The object is gone, and what only gone objects own is deleted.
  void Remove(const Key& key) {
    std::unique_ptr<Stored> stored = std::move(cluster_.objects_.at(key));
    cluster_.objects_.erase(key);
    cluster_.uids_.erase({std::get<0>(key), stored->uid});
    cluster_.gone_.insert(stored->uid);
    Json json = Json::parse(stored->json);
    json["metadata"]["resourceVersion"] = absl::StrCat(++cluster_.version_);
    stored->json = Dump(json);
    answer_.changes.push_back(
        cluster_.StateOf(key, *stored, v1::ObjectEvent::DELETED));
    auto owned = cluster_.owned_.find(stored->uid);
    if (owned == cluster_.owned_.end()) return;
    const std::vector<Key> keys = owned->second;
    cluster_.owned_.erase(owned);
    for (const Key& dependent : keys) {
      auto found = cluster_.objects_.find(dependent);
      if (found == cluster_.objects_.end()) continue;
      const std::vector<std::string>& owners = found->second->owners;
      const bool all_gone =
          !owners.empty() &&
          std::all_of(owners.begin(), owners.end(), [&](const auto& uid) {
            return cluster_.gone_.contains(uid);
          });
      if (all_gone) End(dependent);
    }
  }

  PlannedCluster& cluster_;
  const EffectRequest& request_;
  Answer answer_;
};

PlannedCluster::PlannedCluster(absl::Time now) : now_(now) {}
PlannedCluster::~PlannedCluster() = default;

ObjectState PlannedCluster::StateOf(const Key& key, const Stored& stored,
                                    v1::ObjectEvent::Type type) const {
  const auto& [kind, name_space, name] = key;
  absl::StatusOr<Object> object = DecodeObject(kind, stored.json);
  BINDER_CHECK(object.ok());  // what is stored was an object once
  ObjectState state{.object = *std::move(object)};
  std::visit(
      [&](auto& o) {
        o.meta.name_space = std::get<1>(key);
        o.meta.problems.insert(o.meta.problems.begin(), stored.problems.begin(),
                               stored.problems.end());
      },
      state.object);
  state.event.set_type(type);
  state.event.set_kind(std::string(KindName(kind)));
  state.event.set_namespace_(name_space);
  state.event.set_name(name);
  state.event.set_uid(stored.uid);
  state.event.set_resource_version(MetaOf(state.object).resource_version);
  state.event.set_json(stored.json);
  return state;
}

void PlannedCluster::SetOwners(const Key& key, const Object& object,
                               Stored& stored) {
  std::vector<std::string> owners;
  for (const OwnerReference& owner : MetaOf(object).owners) {
    owners.push_back(owner.uid);
    std::vector<Key>& owned = owned_[owner.uid];
    if (std::find(owned.begin(), owned.end(), key) == owned.end()) {
      owned.push_back(key);
    }
  }
  stored.owners = std::move(owners);
}

absl::Status PlannedCluster::Add(const InputObject& input) {
  const ObjectMeta& meta = MetaOf(input.object);
  const Kind kind = KindOf(input.object);
  const Key key = {kind, meta.name_space, meta.name};
  auto stored = std::make_unique<Stored>();
  stored->uid = meta.uid;
  stored->json = input.json;
  if (meta.uid.empty() || !IsVersion(meta.resource_version)) {
    for (const FieldProblem& problem : meta.problems) {
      if (problem.field == "metadata.uid" ||
          problem.field == "metadata.resourceVersion") {
        stored->problems.push_back(problem);
      }
    }
    Json json = Json::parse(input.json, nullptr, false);
    if (!json.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat(input.where, ": cannot be read"));
    }
    if (meta.uid.empty()) {
      stored->uid = UidOf(
          absl::StrCat(KindName(kind), "/", meta.name_space, "/", meta.name));
      json["metadata"]["uid"] = stored->uid;
    }
    if (!IsVersion(meta.resource_version)) {
      json["metadata"]["resourceVersion"] = "1";
    }
    stored->json = Dump(json);
  }
  auto [seen, is_new] = uids_.emplace(std::pair(kind, stored->uid), meta.name);
  if (!is_new) {
    return absl::InvalidArgumentError(
        absl::StrCat(input.where, ": ", KindName(kind), " ", meta.name,
                     ": metadata.uid: found \"", stored->uid, "\", which ",
                     seen->second, " has too, want one of its own"));
  }
  uint64_t version = 0;
  if (absl::SimpleAtoi(meta.resource_version, &version)) {
    version_ = std::max(version_, version);
  }
  SetOwners(key, input.object, *stored);
  objects_[key] = std::move(stored);
  return absl::OkStatus();
}

void PlannedCluster::ForEach(Kind kind,
                             absl::FunctionRef<void(ObjectState)> visit) const {
  for (auto next = objects_.lower_bound(Key{kind, "", ""});
       next != objects_.end() && std::get<0>(next->first) == kind; ++next) {
    visit(StateOf(next->first, *next->second, v1::ObjectEvent::LISTED));
  }
}

absl::StatusOr<PlannedCluster::Answer> PlannedCluster::Send(
    const EffectRequest& request) {
  return Writer(*this, request).Write();
}

}  // namespace gpubinder
