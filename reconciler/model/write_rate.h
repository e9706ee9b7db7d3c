// How fast the writes of a set may follow each other: refused ones at a rate
// that falls to two a minute, and so those that are taken and do not stick (an
// older CRD drops the field, a webhook puts it back).

#ifndef RECONCILER_MODEL_WRITE_RATE_H_
#define RECONCILER_MODEL_WRITE_RATE_H_

#include <string>

#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Keeps account of the outcome of an effect that was in flight. The first
// conflict in a row may be decided again at once; Retry-After is obeyed.
void NoteRate(const v1::Effect& effect, const v1::Outcome& outcome,
              absl::Time at, Snapshot& snapshot);

// Forgets the writes to an object that goes.
void ForgetWrites(const std::string& uid, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_WRITE_RATE_H_
