// Test only: the watch event that tells of an object.

#ifndef RECONCILER_MODEL_TESTING_OBJECT_EVENT_H_
#define RECONCILER_MODEL_TESTING_OBJECT_EVENT_H_

#include "proto/journal.pb.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// Names the object as it is; without its JSON, which the fold does not read.
v1::ObjectEvent EventOf(v1::ObjectEvent::Type type, const Object& object);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_OBJECT_EVENT_H_
