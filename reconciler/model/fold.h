// How records become the snapshot: the only code that changes one.
//
//   Snapshot snapshot;
//   for (const v1::Record& record : records)
//     if (Fold(record, Decode(record), snapshot) == Change::kMatters) ...
//
// The fold is total: any sequence of records gives a snapshot. It ignores
// repeated and older versions of watch events, a deletion is final for its
// uid, and a complete list replaces its kind. It reads no clock; a record's
// own time is the only one.

#ifndef RECONCILER_MODEL_FOLD_H_
#define RECONCILER_MODEL_FOLD_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "proto/journal.pb.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Whether a pass could now decide otherwise than before the record.
enum class Change { kNone, kMatters };

// The version of fold and pass together: raised when either would give
// another result for an old journal.
inline constexpr uint32_t kModelVersion = 6;

// Folds one record. `object` is the decoded object of an ObjectEvent or of an
// Outcome's, and nothing for the other payloads and for text that is no JSON
// object. O(log objects); a list's end is O(objects of the kind).
Change Fold(const v1::Record& record, std::optional<Object> object,
            Snapshot& snapshot);

// Whether resource version `a` is older than `b`: decimal strings of any
// length. An unset one is older than any other.
bool IsOlderVersion(absl::string_view a, absl::string_view b);

// Whether the scheduler says no to `pod` in the way of rule R1: by its text
// alone, without the graces and the node's state.
bool ShowsSchedulerRefusal(const Pod& pod);
// Whether the kubelet refused `pod` (rule R2).
bool ShowsKubeletRefusal(const Pod& pod);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_H_
