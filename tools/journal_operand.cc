#include "tools/journal_operand.h"

#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

namespace fs = std::filesystem;

// What may be wrong with a directory that is no journal; empty: nothing that
// is seen from outside.
std::string HintFor(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) return ": there is no such directory";
  if (fs::exists(directory / "SYNCED", ignored)) return "";
  for (const fs::path& near :
       {directory / "journal",
        fs::absolute(directory, ignored).parent_path()}) {
    if (fs::exists(near / "SYNCED", ignored)) {
      return absl::StrCat(", did you mean ", near.string());
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> OpenJournalOperand(
    const std::vector<std::string>& operands) {
  if (operands.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", operands.size(), " operands, want one JOURNAL_DIR"));
  }
  const std::string& directory = operands[0];
  absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::OpenReadOnly(directory);
  if (journal.ok()) return journal;
  const std::string hint = HintFor(directory);
  if (hint.empty()) return journal;
  return absl::Status(journal.status().code(),
                      absl::StrCat(journal.status().message(), hint));
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
