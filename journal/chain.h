// Walks the stored records in order and checks what makes them a chain:
// density, checksums, digests.

#ifndef JOURNAL_CHAIN_H_
#define JOURNAL_CHAIN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "journal/database.h"
#include "journal/record.h"

namespace gpubinder {

struct ChainRange {
  std::string journal;  // its name in errors
  uint64_t from = 1;
  uint64_t to = 0;                 // the last that must be there
  std::optional<Digest> previous;  // of the record before `from`, if known
};

struct ChainLink {
  uint64_t sequence = 0;
  RecordHeader header;
  absl::string_view stored;
};

// Calls visit with each record of the range. A visit that returns CANCELLED
// ends the walk with OK; DATA_LOSS from it, and anything that breaks the
// chain, is a DamageError that names the record.
absl::Status WalkChain(
    const Database& database, const ChainRange& range,
    const std::function<absl::Status(const ChainLink&)>& visit);

}  // namespace gpubinder

#endif  // JOURNAL_CHAIN_H_
