#include "reconciler/watch_record.h"

#include <string>
#include <utility>

#include "k8s/object_filter.h"

namespace gpubinder {
namespace {

v1::ObjectEvent::Type TypeOf(ReflectedEvent::Type type) {
  switch (type) {
    case ReflectedEvent::kListed:
      return v1::ObjectEvent::LISTED;
    case ReflectedEvent::kAdded:
      return v1::ObjectEvent::ADDED;
    case ReflectedEvent::kModified:
      return v1::ObjectEvent::MODIFIED;
    default:
      return v1::ObjectEvent::DELETED;
  }
}

}  // namespace

std::optional<v1::Record> RecordOf(ReflectedEvent event,
                                   const Snapshot& snapshot) {
  v1::Record record;
  const std::string kind(KindName(event.kind));
  switch (event.type) {
    case ReflectedEvent::kListBegan:
      record.mutable_list_began()->set_kind(kind);
      return record;
    case ReflectedEvent::kListEnded:
      record.mutable_list_ended()->set_kind(kind);
      record.mutable_list_ended()->set_resource_version(event.resource_version);
      return record;
    case ReflectedEvent::kServed:
    case ReflectedEvent::kNotServed:
      record.mutable_kind_served()->set_kind(kind);
      record.mutable_kind_served()->set_served(event.type ==
                                               ReflectedEvent::kServed);
      return record;
    default:
      break;
  }
  std::optional<std::string> json = FilterForJournal(event.kind, event.json);
  const bool known = event.kind == Kind::kPod &&
                     event.type != ReflectedEvent::kListed &&
                     snapshot.pods().FindUid(event.uid).has_value();
  if (!json.has_value() && !known) return std::nullopt;
  v1::ObjectEvent& object = *record.mutable_object();
  object.set_type(json.has_value() ? TypeOf(event.type)
                                   : v1::ObjectEvent::DELETED);
  object.set_kind(kind);
  object.set_namespace_(std::move(event.name_space));
  object.set_name(std::move(event.name));
  object.set_uid(std::move(event.uid));
  object.set_resource_version(std::move(event.resource_version));
  if (json.has_value()) object.set_json(*std::move(json));
  return record;
}

}  // namespace gpubinder
