#include "k8s/embedded/store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder::embedded {
namespace {

bool IsIn(const StoreKey& key, absl::string_view resource,
          absl::string_view name_space) {
  return key.resource == resource &&
         (name_space.empty() || key.name_space == name_space);
}

JsonPtr WithRevision(nlohmann::json object, uint64_t revision) {
  object["metadata"]["resourceVersion"] = absl::StrCat(revision);
  return std::make_shared<const nlohmann::json>(std::move(object));
}

}  // namespace

Store::Store(size_t event_window)
    : window_(std::max<size_t>(event_window, 1)) {}

JsonPtr Store::Get(const StoreKey& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : it->second;
}

std::vector<JsonPtr> Store::List(absl::string_view resource,
                                 absl::string_view name_space) const {
  std::vector<JsonPtr> found;
  const StoreKey first{std::string(resource), std::string(name_space), ""};
  for (auto it = objects_.lower_bound(first);
       it != objects_.end() && IsIn(it->first, resource, name_space); ++it) {
    found.push_back(it->second);
  }
  return found;
}

std::optional<std::vector<JsonPtr>> Store::ListAt(absl::string_view resource,
                                                  absl::string_view name_space,
                                                  uint64_t revision) const {
  if (revision < compacted_) return std::nullopt;
  Objects then;
  const StoreKey first{std::string(resource), std::string(name_space), ""};
  for (auto it = objects_.lower_bound(first);
       it != objects_.end() && IsIn(it->first, resource, name_space); ++it) {
    then.insert(*it);
  }
  for (auto it = events_.rbegin();
       it != events_.rend() && it->revision > revision; ++it) {
    if (!IsIn(it->key, resource, name_space)) continue;
    if (it->previous == nullptr) {
      then.erase(it->key);
    } else {
      then[it->key] = it->previous;
    }
  }
  std::vector<JsonPtr> found;
  for (const auto& [key, object] : then) found.push_back(object);
  return found;
}

JsonPtr Store::Put(const StoreKey& key, nlohmann::json object) {
  const JsonPtr stored = WithRevision(std::move(object), revision_ + 1);
  JsonPtr& slot = objects_[key];
  const StoreEventType type =
      slot == nullptr ? StoreEventType::kAdded : StoreEventType::kModified;
  JsonPtr previous = std::exchange(slot, stored);
  Append({revision_ + 1, type, key, stored, std::move(previous)});
  return stored;
}

JsonPtr Store::Remove(const StoreKey& key) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) return nullptr;
  JsonPtr previous = it->second;
  objects_.erase(it);
  const JsonPtr last = WithRevision(*previous, revision_ + 1);
  Append({revision_ + 1, StoreEventType::kDeleted, key, last, previous});
  return last;
}

const StoreEvent* Store::EventAfter(uint64_t revision) const {
  BINDER_CHECK(revision >= compacted_);
  const uint64_t index = revision - compacted_;
  return index < events_.size() ? &events_[index] : nullptr;
}

void Store::Compact(uint64_t revision) {
  while (!events_.empty() && compacted_ < revision) {
    events_.pop_front();
    ++compacted_;
  }
}

void Store::SetObserver(RevisionObserver observer) {
  observer_ = std::move(observer);
}

void Store::Append(StoreEvent event) {
  revision_ = event.revision;
  events_.push_back(std::move(event));
  if (events_.size() > window_) Compact(compacted_ + 1);
  if (observer_) observer_(events_.back());
}

}  // namespace gpubinder::embedded
