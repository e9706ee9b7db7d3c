#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "journal/journal.h"
#include "reconciler/replay.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/journal_operand.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder replay JOURNAL_DIR\n\n"
    "Folds the records of a journal and runs every pass again; each must give "
    "the effects\nand explanations that were recorded, byte for byte. Prints "
    "the first difference as a\ndiff ('-' recorded, '+' computed). Passes of "
    "another model version are counted, not\ncompared. The journal is not "
    "changed; no binder may have it open.\n\n"
    "Exit codes: 0 all equal, 1 a pass differs, 2 usage, 3 the journal cannot "
    "be read.\n";

// Every so many records a line on a terminal.
constexpr uint64_t kProgress = 10000;

}  // namespace

int RunReplay(Args args, const Console& console) {
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, {});
  if (!parsed.ok()) return Fail("replay", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage;
    return kExitDone;
  }
  const absl::StatusOr<std::unique_ptr<Journal>> journal =
      OpenJournalOperand(parsed->operands);
  if (!journal.ok()) return Fail("replay", journal.status(), console);
  ReplayOptions options;
  options.on_record = RecordProgress(**journal, kProgress, console);
  const absl::StatusOr<ReplayResult> result = Replay(**journal, options);
  if (!result.ok()) return Fail("replay", result.status(), console);
  if (!result->first_difference.empty()) {
    console.out << "journal " << (*journal)->uid() << ": the pass decided in "
                << "record " << result->differing_pass
                << " gives another result\n"
                << result->first_difference;
    return kExitNo;
  }
  console.out << "journal " << (*journal)->uid() << ": " << result->records
              << " records, " << result->passes
              << " passes run again, all equal";
  if (result->skipped > 0) {
    console.out << "; " << result->skipped
                << " of another model version not compared";
  }
  console.out << "\n";
  return kExitDone;
}

}  // namespace gpubinder
