// What a watch tells, as a record of the journal.

#ifndef RECONCILER_WATCH_RECORD_H_
#define RECONCILER_WATCH_RECORD_H_

#include <optional>

#include "k8s/reflector.h"
#include "proto/journal.pb.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// The record of a watch's event; nothing for an object that is not journaled.
// One that was and is of no concern any more (a pod that lost its label) is
// gone for the journal.
std::optional<v1::Record> RecordOf(ReflectedEvent event,
                                   const Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_WATCH_RECORD_H_
