// The one way a journal becomes a snapshot: live, in a replay, in an audit.

#ifndef RECONCILER_RECORD_FOLD_H_
#define RECONCILER_RECORD_FOLD_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "journal/journal.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Decodes the object that the record holds, if it holds one, and folds the
// record. Text that is no JSON object folds as nothing. Not thread-safe on
// one snapshot. O(record + log objects).
Change FoldRecord(const v1::Record& record, Snapshot& snapshot);

// Journal::Read, which decodes on both of its threads: visits each record with
// what Fold wants beside it, until `visit` returns false.
absl::Status ReadDecoded(
    const Journal& journal, uint64_t from,
    absl::FunctionRef<bool(const v1::Record&, std::optional<Object>)> visit);

}  // namespace gpubinder

#endif  // RECONCILER_RECORD_FOLD_H_
