// Holds a whole journal against what must be true of it: its chain, its times,
// every pass against the naive model and the invariants, every answer against
// the write that it answers.
//
//   absl::StatusOr<AuditReport> report = Audit(*journal, AuditOptions{...});
//   if (report.ok() && report->faults == 0) ...

#ifndef RECONCILER_AUDIT_H_
#define RECONCILER_AUDIT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "journal/journal.h"

namespace gpubinder {

struct AuditOptions {
  // Called with each fault as it is found: the record that shows it, and a
  // sentence that begins with the rule's letter or the judge's name.
  std::function<void(uint64_t sequence, const std::string& text)> on_fault;
  // Called with each sequence read, for a progress line. May be empty.
  std::function<void(uint64_t sequence)> on_record;
};

struct AuditReport {
  uint64_t records = 0;
  uint64_t passes = 0;   // judged, leader's and shadow
  uint64_t skipped = 0;  // passes of another model version: not judged
  uint64_t effects = 0;  // of the judged passes
  uint64_t outcomes = 0;
  uint64_t faults = 0;
  std::string last_digest;  // of the chain, in hex
  // OK, or what ended the reading early: the journal's own error. What was
  // counted before it is right.
  absl::Status read;
};

// Reads the journal from its first record to the last; `on_fault` must be
// set. O(records + passes x objects squared): offline.
AuditReport Audit(const Journal& journal, const AuditOptions& options);

}  // namespace gpubinder

#endif  // RECONCILER_AUDIT_H_
