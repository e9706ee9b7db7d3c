// The operand of the commands that read a journal offline.

#ifndef TOOLS_JOURNAL_OPERAND_H_
#define TOOLS_JOURNAL_OPERAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "journal/journal.h"
#include "tools/console.h"

namespace gpubinder {

// Opens the one JOURNAL_DIR for reading. kInvalidArgument: there are none or
// several; else the errors of Journal::OpenReadOnly.
absl::StatusOr<std::unique_ptr<Journal>> OpenJournalOperand(
    const std::vector<std::string>& operands);

// Where stderr is a terminal, says there at which record a reader is, every so
// many; else empty. The console outlives it.
std::function<void(uint64_t sequence)> RecordProgress(const Journal& journal,
                                                      uint64_t every,
                                                      const Console& console);

}  // namespace gpubinder

#endif  // TOOLS_JOURNAL_OPERAND_H_
