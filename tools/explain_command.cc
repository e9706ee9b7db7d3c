#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "reconciler/explain_client.h"
#include "reconciler/model/reason.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/text_table.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder explain [--address HOST:PORT] NAMESPACE/NAME\n\n"
    "Asks a running binder (or sandbox) why a claim, VM or VMI is where it is, "
    "or waits:\nthe verdict, the members, the nodes that refused it and until "
    "when, and on every node\nall the reasons with their numbers.\n\n"
    "Exit codes: 0 placed, 1 it waits, 2 usage or no such object, 3 nobody "
    "answers.\n\nflags:\n";

// A VM that orders from templates is nothing to place before it has a VMI.
constexpr char kNotFoundHint[] =
    "a VM counts once it has a VMI, or names a claim that is there: see "
    "kubectl describe vm\n";

// The lines after the first are indented.
void PrintWrapped(absl::string_view text, const Console& console) {
  constexpr absl::string_view kIndent = "    ";
  absl::string_view before;
  for (const std::string& line :
       WrapText(text, kTextColumns - kIndent.size())) {
    console.out << before << line << "\n";
    before = kIndent;
  }
}

std::string TimeText(int64_t unix_seconds) {
  return absl::FormatTime(absl::RFC3339_sec,
                          absl::FromUnixSeconds(unix_seconds),
                          absl::UTCTimeZone());
}

void PrintNodes(const v1::ExplainResponse& answer, const Console& console) {
  if (answer.rows().empty()) return;
  console.out << "nodes:\n";
  for (const v1::NodeRow& row : answer.rows()) {
    if (row.fits()) console.out << "  " << row.node() << ": fits\n";
    for (const v1::ReasonDetail& reason : row.reasons()) {
      console.out << "  " << row.node() << ": " << ReasonText(reason) << "\n";
    }
  }
  if (answer.truncated()) console.out << "  ... and more nodes\n";
}

void Print(const v1::ExplainResponse& answer, const Console& console) {
  const v1::Explanation& verdict = answer.explanation();
  const absl::string_view reason = ReasonName(verdict.reason());
  const bool said = absl::StartsWith(verdict.message(), reason);
  PrintWrapped(
      absl::StrCat(verdict.namespace_(), "/", verdict.name(), ": ",
                   said ? "" : absl::StrCat(reason, ": "), verdict.message()),
      console);
  console.out << "members:\n";
  for (const v1::Member& member : answer.members()) {
    console.out << "  " << member.name() << ": "
                << (member.phase().empty() ? "not made yet" : member.phase())
                << ", " << member.units() << " of class "
                << member.class_name();
    if (!member.node().empty()) console.out << " on " << member.node();
    console.out << "\n";
  }
  for (const v1::RejectionEntry& entry : answer.rejections()) {
    console.out << "refused by " << entry.node_name() << " (" << entry.reason()
                << ") until " << TimeText(entry.until_unix_seconds()) << "\n";
  }
  if (answer.has_held_write()) {
    const v1::HeldWrite& held = answer.held_write();
    PrintWrapped(
        absl::StrCat("its next write is held back: ", held.write(), ", tried ",
                     held.tries(), held.tries() == 1 ? " time" : " times",
                     ", answer ", held.answer(), "; not again before ",
                     TimeText(held.next_try_unix_seconds())),
        console);
  }
  PrintNodes(answer, console);
  console.out << "decided by record " << answer.source().sequence()
              << " of journal " << answer.source().journal_uid() << ", epoch "
              << answer.source().epoch() << "\n";
}

}  // namespace

int RunExplain(Args args, const Console& console) {
  std::string address = "127.0.0.1:9797";
  const std::vector<Flag> table = {
      {.name = "address",
       .value = "HOST:PORT",
       .help = "of the binder's gRPC service (default 127.0.0.1:9797)",
       .set = IntoAddress(&address)}};
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, table);
  if (!parsed.ok()) return Fail("explain", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(table);
    return kExitDone;
  }
  const std::vector<std::string> name =
      parsed->operands.size() == 1 ? absl::StrSplit(parsed->operands[0], '/')
                                   : std::vector<std::string>();
  if (name.size() != 2) {
    return Fail("explain",
                absl::InvalidArgumentError(absl::StrCat(
                    "found ",
                    parsed->operands.size() == 1
                        ? absl::StrCat("\"", parsed->operands[0], "\"")
                        : absl::StrCat(parsed->operands.size(), " operands"),
                    ", want one of the form NAMESPACE/NAME")),
                console);
  }
  v1::ExplainRequest request;
  request.set_namespace_(name[0]);
  request.set_name(name[1]);
  request.set_rows(true);
  const absl::StatusOr<v1::ExplainResponse> answer =
      QueryExplain(address, request, absl::Seconds(10));
  if (absl::IsNotFound(answer.status())) {
    console.err << "gpubinder explain: " << answer.status().message() << "; "
                << kNotFoundHint;
    return kExitBadInput;
  }
  if (!answer.ok()) return FailToAsk("explain", answer.status(), console);
  Print(*answer, console);
  const v1::Reason reason = answer->explanation().reason();
  return reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE
             ? kExitDone
             : kExitNo;
}

}  // namespace gpubinder
