// The subcommands of gpubinder: each in a file of its own, called with the
// arguments after its name, and returning the exit code.
//
// A new one: declare it here, give it a row in CommandTable() (commands.cc)
// and a file NAME_command.cc.

#ifndef TOOLS_COMMANDS_H_
#define TOOLS_COMMANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/console.h"

namespace gpubinder {

using Args = absl::Span<const char* const>;

int RunAudit(Args args, const Console& console);
int RunConfirm(Args args, const Console& console);
int RunExplain(Args args, const Console& console);
int RunManifests(Args args, const Console& console);
int RunPlan(Args args, const Console& console);
int RunAdmit(Args args, const Console& console);
int RunReplay(Args args, const Console& console);
int RunRun(Args args, const Console& console);
int RunSandbox(Args args, const Console& console);

struct Command {
  const char* name;
  const char* summary;  // one line of the help
  int (*run)(Args args, const Console& console);
};

const std::vector<Command>& CommandTable();

// What main does: finds the command, answers --help and --version, and
// suggests the nearest name for an unknown one.
int RunGpubinder(Args args, const Console& console);

// Fail, for a call of a running binder: where none answers, with a hint.
int FailToAsk(const char* command, const absl::Status& status,
              const Console& console);

// "gpubinder plan: <message>" to the console; the exit code for the status.
int Fail(const char* command, const absl::Status& status,
         const Console& console);

}  // namespace gpubinder

#endif  // TOOLS_COMMANDS_H_
