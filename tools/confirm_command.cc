#include <pwd.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reconciler/explain_client.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/text_table.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder confirm [--address HOST:PORT] [--user NAME] [--show] "
    "[NODE...]\n\n"
    "When at least 3 nodes, and more than massLossThreshold per cent of those "
    "with bookings,\nstop keeping their claims within 10 minutes, the binder "
    "ends no VMI and gives no claim up\nuntil they return. This confirms to "
    "the leader that they are lost: it goes on then, at the\npace of the "
    "safety valve. Nodes that are named have to be just those, so that none "
    "is\nconfirmed unseen. The command is a record of the journal, with the "
    "user's name.\n\n"
    "Exit codes: 0 done, 1 there is nothing to confirm, other nodes are "
    "concerned, or the\nbinder asked does not lead, 2 usage, 3 nobody "
    "answers.\n\nflags:\n";

std::string LoginName() {
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr ? "" : entry->pw_name;
}

void Print(const v1::ConfirmResponse& answer, const Console& console) {
  const bool shown = answer.journal_uid().empty();
  const std::string text = absl::StrCat(
      shown ? "to be confirmed: " : "confirmed: ", answer.nodes_size(),
      " nodes that stopped keeping their claims: ",
      absl::StrJoin(answer.nodes(), ", "));
  for (const std::string& line : WrapText(text, kTextColumns)) {
    console.out << line << "\n";
  }
  if (shown) return;
  console.out << "record " << answer.sequence() << " of journal "
              << answer.journal_uid() << "\n";
}

}  // namespace

int RunConfirm(Args args, const Console& console) {
  std::string address = "127.0.0.1:9797";
  v1::ConfirmRequest request;
  request.set_user(LoginName());
  bool show = false;
  const std::vector<Flag> table = {
      {.name = "address",
       .value = "HOST:PORT",
       .help = "of the leader's gRPC service (default 127.0.0.1:9797)",
       .set = IntoAddress(&address)},
      {.name = "user",
       .value = "NAME",
       .help = "who confirms (default: the login name)",
       .set = IntoText(request.mutable_user())},
      {.name = "show",
       .help = "only show the nodes that would be confirmed",
       .set = IntoSwitch(&show)}};
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, table);
  if (!parsed.ok()) return Fail("confirm", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(table);
    return kExitDone;
  }
  request.set_show_only(show);
  for (const std::string& node : parsed->operands) request.add_nodes(node);
  const absl::StatusOr<v1::ConfirmResponse> answer =
      SendConfirm(address, request, absl::Seconds(10));
  if (!answer.ok()) {
    const int code = FailToAsk("confirm", answer.status(), console);
    return absl::IsFailedPrecondition(answer.status()) ? kExitNo : code;
  }
  Print(*answer, console);
  return kExitDone;
}

}  // namespace gpubinder
