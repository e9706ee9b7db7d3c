#include "tools/journal_operand.h"

#include <unistd.h>

#include <ostream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {

absl::StatusOr<std::unique_ptr<Journal>> OpenJournalOperand(
    const std::vector<std::string>& operands) {
  if (operands.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", operands.size(), " operands, want one JOURNAL_DIR"));
  }
  return Journal::OpenReadOnly(operands[0]);
}

std::function<void(uint64_t sequence)> RecordProgress(const Journal& journal,
                                                      uint64_t every,
                                                      const Console& console) {
  if (!isatty(STDERR_FILENO)) return nullptr;
  const uint64_t last = journal.last_sequence();
  return [&console, every, last](uint64_t sequence) {
    if (sequence % every != 0) return;
    console.err << "\rrecord " << sequence << " of " << last << std::flush;
  };
}

}  // namespace gpubinder
