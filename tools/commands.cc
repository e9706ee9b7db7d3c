#include "tools/commands.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "k8s/object_filter.h"
#include "reconciler/model/fold.h"
#include "tools/flags.h"
#include "tools/version.h"

namespace gpubinder {
namespace {

void PrintHelp(std::ostream& out) {
  out << "gpubinder binds GPUs to KubeVirt virtual machines\n\n"
         "usage: gpubinder COMMAND [flags]\n\n";
  for (const Command& command : CommandTable()) {
    out << absl::StrFormat("  %-12s %s\n", command.name, command.summary);
  }
  out << "\ngpubinder COMMAND --help tells a command's flags, gpubinder "
         "--version this build\n"
         "exit codes: 0 done, 1 the answer is no, 2 usage or bad input, 3 the "
         "environment failed (a\nfile or journal cannot be read, a port is "
         "taken, nobody answers), 4 plan --check found a\nfault of ours\n";
}

void PrintVersion(std::ostream& out) {
  out << "gpubinder " << kGpubinderVersion << " (model " << kModelVersion
      << ", filter " << kFilterVersion << ")\n";
}

int UnknownCommand(absl::string_view name, const Console& console) {
  std::vector<std::string> names;
  for (const Command& command : CommandTable()) names.push_back(command.name);
  const std::string nearest = NearestName(name, names);
  console.err << "gpubinder: unknown command \"" << name << "\", "
              << (nearest.empty() ? std::string("see gpubinder --help")
                                  : absl::StrCat("did you mean ", nearest))
              << "\n";
  return kExitBadInput;
}

}  // namespace

const std::vector<Command>& CommandTable() {
  static const auto& table = *new std::vector<Command>{
      {"run", "the controller, against a cluster", RunRun},
      {"sandbox", "a cluster in this process, with the controller in it",
       RunSandbox},
      {"plan", "decide on objects from files, without a cluster", RunPlan},
      {"admit", "answer an AdmissionReview from a file", RunAdmit},
      {"explain", "ask a running controller why", RunExplain},
      {"confirm", "tell a controller that nodes are lost", RunConfirm},
      {"replay", "run the passes of a journal again and compare", RunReplay},
      {"audit", "hold a journal against what must be true of it", RunAudit},
      {"manifests", "print what has to be installed", RunManifests},
  };
  return table;
}

int RunGpubinder(Args args, const Console& console) {
  if (args.empty()) {
    PrintHelp(console.err);
    return kExitBadInput;
  }
  const absl::string_view name = args[0];
  if (name == "--help" || name == "-h" || name == "help") {
    PrintHelp(console.out);
    return kExitDone;
  }
  if (name == "--version" || name == "version") {
    PrintVersion(console.out);
    return kExitDone;
  }
  for (const Command& command : CommandTable()) {
    if (name == command.name) return command.run(args.subspan(1), console);
  }
  return UnknownCommand(name, console);
}

int FailToAsk(const char* command, const absl::Status& status,
              const Console& console) {
  if (!absl::IsUnavailable(status)) return Fail(command, status, console);
  const std::string message = absl::StrCat(
      status.message(),
      "; --address has to be what `gpubinder run --grpc-address` was given, or "
      "what the sandbox says once its files are applied");
  return Fail(command, absl::UnavailableError(message), console);
}

int Fail(const char* command, const absl::Status& status,
         const Console& console) {
  console.err << "gpubinder " << command << ": " << status.message() << "\n";
  return absl::IsInvalidArgument(status) ? kExitBadInput : kExitEnvironment;
}

}  // namespace gpubinder
