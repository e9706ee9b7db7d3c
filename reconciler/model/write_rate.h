// How fast the writes of a set may follow each other: refused ones at a rate
// that falls to two a minute, and so those that are taken and do not stick (an
// older CRD drops the field, a webhook puts it back).

#ifndef RECONCILER_MODEL_WRITE_RATE_H_
#define RECONCILER_MODEL_WRITE_RATE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Of a refusal's message so much is kept.
inline constexpr size_t kMostRefusalBytes = 200;

// What a write is known by while it is under way or has to wait: the uid of its
// object, or kind, namespace and name of one that is only to be made.
std::string WrittenObject(const v1::Target& target);
std::string WrittenObject(absl::string_view kind, absl::string_view name_space,
                          absl::string_view name);

// Keeps account of the outcome of an effect that was in flight. The first
// conflict in a row may be decided again at once; Retry-After is obeyed.
void NoteRate(const v1::Effect& effect, const v1::Outcome& outcome,
              absl::Time at, Snapshot& snapshot);

// Forgets the writes to an object that goes.
void ForgetWrites(const std::string& uid, Snapshot& snapshot);

// How long a usage record is left alone after it was written (rule H2).
inline constexpr absl::Duration kUsageRecordPause = absl::Minutes(1);

// Keeps account of when each usage record was last written, as far as is
// known. One that the binder itself has taken away may be written at once.
void NoteUsageWrite(const v1::Effect& effect, const v1::Outcome& outcome,
                    absl::Time at, Snapshot& snapshot);

// Forgets the writes that keep nobody waiting any more. O(writes of a minute).
void ForgetUsageWrites(absl::Time at, Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_WRITE_RATE_H_
