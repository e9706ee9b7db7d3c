// Runs the passes of a journal again and compares them with what was recorded.
//
//   absl::StatusOr<ReplayResult> result = Replay(*journal, ReplayOptions{});
//   if (result.ok() && result->first_difference.empty()) ...

#ifndef RECONCILER_REPLAY_H_
#define RECONCILER_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "journal/journal.h"
#include "proto/journal.pb.h"

namespace gpubinder {

struct ReplayOptions {
  // Called with each sequence read, for a progress line. May be empty.
  std::function<void(uint64_t sequence)> on_record;
};

struct ReplayResult {
  uint64_t records = 0;
  uint64_t passes = 0;   // compared, leader's and shadow
  uint64_t skipped = 0;  // of another model version: `diff` compares those
  // Empty when every pass gave the recorded bytes; else the first that did
  // not, as lines that begin with ' ', '-' (recorded) or '+' (computed).
  uint64_t differing_pass = 0;
  std::string first_difference;
};

// Reads the journal from its first record. Stops at the first difference.
// Errors are the journal's own (DATA_LOSS). O(records + passes).
absl::StatusOr<ReplayResult> Replay(const Journal& journal,
                                    const ReplayOptions& options);

// The same pass as recorded and as computed, line by line, with what is equal
// at both ends cut to a few lines.
std::string DiffOf(const v1::Decision& recorded, const v1::Decision& computed);

}  // namespace gpubinder

#endif  // RECONCILER_REPLAY_H_
