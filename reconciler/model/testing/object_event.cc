#include "reconciler/model/testing/object_event.h"

#include <string>

namespace gpubinder {

v1::ObjectEvent EventOf(v1::ObjectEvent::Type type, const Object& object) {
  const ObjectMeta& meta = MetaOf(object);
  v1::ObjectEvent event;
  event.set_type(type);
  event.set_kind(std::string(KindName(KindOf(object))));
  event.set_namespace_(meta.name_space);
  event.set_name(meta.name);
  event.set_uid(meta.uid);
  event.set_resource_version(meta.resource_version);
  return event;
}

}  // namespace gpubinder
