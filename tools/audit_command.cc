#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "journal/journal.h"
#include "nlohmann/json.hpp"
#include "reconciler/audit.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/journal_operand.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kUsage[] =
    "usage: gpubinder audit JOURNAL_DIR [flags]\n\n"
    "Reads a journal from its first record to the last and holds it against "
    "what must be true:\nthe chain of digests, times that never run backwards, "
    "every pass run again and judged by\na second, naive implementation of the "
    "rules and by the invariants, every answer against\nthe write that it "
    "answers. Prints a summary, or each fault with the sequence of the\nrecord "
    "that shows it. Passes of another model version are counted, not judged. "
    "The journal\nis not changed; no binder may have it open. It is slow where "
    "there are thousands of claims.\n\n"
    "-o json: {\"apiVersion\": \"gpubinder/v1\", \"kind\": \"Audit\", "
    "\"journal\", \"records\", \"passes\",\n\"skipped\", \"effects\", "
    "\"outcomes\", \"lastDigest\", \"damage\", \"faults\": [{\"sequence\", "
    "\"text\"}]}\n\n"
    "Exit codes: 0 no fault, 1 a fault or a damaged journal, 2 usage, 3 the "
    "journal cannot be\nread.\n\n"
    "flags:\n";

// Every so many records a line on a terminal.
constexpr uint64_t kProgress = 1000;

void PrintJson(const Journal& journal, const AuditReport& report, Json faults,
               std::ostream& out) {
  Json document;
  document["apiVersion"] = "gpubinder/v1";
  document["kind"] = "Audit";
  document["journal"] = journal.uid();
  document["records"] = report.records;
  document["passes"] = report.passes;
  document["skipped"] = report.skipped;
  document["effects"] = report.effects;
  document["outcomes"] = report.outcomes;
  document["lastDigest"] = report.last_digest;
  document["damage"] =
      report.read.ok() ? Json() : Json(std::string(report.read.message()));
  document["faults"] = std::move(faults);
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

void PrintSummary(const Journal& journal, const AuditReport& report,
                  std::ostream& out) {
  out << "journal " << journal.uid() << ": " << report.records << " records, "
      << report.passes << " passes judged, " << report.effects << " effects, "
      << report.outcomes << " answers";
  if (report.skipped > 0) {
    out << "; " << report.skipped
        << " passes of another model version not judged";
  }
  out << "\n";
  if (report.read.ok()) {
    out << "chain whole, last digest " << report.last_digest << "\n";
  } else {
    out << "chain broken: " << report.read.message() << "\n";
  }
  out << (report.faults == 0 ? "no faults\n"
                             : absl::StrCat(report.faults, " faults\n"));
}

// What one run collects and prints.
int AuditJournal(const Journal& journal, const std::string& form,
                 const Console& console) {
  Json faults = Json::array();
  AuditOptions options;
  options.on_fault = [&](uint64_t sequence, const std::string& text) {
    if (form == "json") {
      faults.push_back({{"sequence", sequence}, {"text", text}});
    } else {
      console.out << "record " << sequence << ": " << text << "\n";
    }
  };
  options.on_record = RecordProgress(journal, kProgress, console);
  const AuditReport report = Audit(journal, options);
  if (!report.read.ok() && !absl::IsDataLoss(report.read)) {
    return Fail("audit", report.read, console);
  }
  if (form == "json") {
    PrintJson(journal, report, std::move(faults), console.out);
  } else {
    PrintSummary(journal, report, console.out);
  }
  return report.faults > 0 || !report.read.ok() ? kExitNo : kExitDone;
}

absl::Status SetForm(absl::string_view text, std::string* form) {
  if (text != "table" && text != "json") {
    return absl::InvalidArgumentError(
        absl::StrCat("found \"", text.substr(0, 64), "\", want table or json"));
  }
  *form = std::string(text);
  return absl::OkStatus();
}

}  // namespace

int RunAudit(Args args, const Console& console) {
  std::string form = "table";
  const std::vector<Flag> flags = {
      {.name = "output",
       .letter = 'o',
       .value = "table|json",
       .help = "form of the answer (default table)",
       .set = [&form](absl::string_view text) {
         return SetForm(text, &form);
       }}};
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, flags);
  if (!parsed.ok()) return Fail("audit", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(flags);
    return kExitDone;
  }
  const absl::StatusOr<std::unique_ptr<Journal>> journal =
      OpenJournalOperand(parsed->operands);
  if (!journal.ok()) {
    const int code = Fail("audit", journal.status(), console);
    return absl::IsDataLoss(journal.status()) ? kExitNo : code;
  }
  return AuditJournal(**journal, form, console);
}

}  // namespace gpubinder
