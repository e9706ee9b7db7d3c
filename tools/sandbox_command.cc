#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/commands.h"
#include "tools/config_file.h"
#include "tools/flags.h"
#include "tools/sandbox_cluster.h"
#include "tools/sandbox_display.h"
#include "tools/text_files.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder sandbox [-f FILE|FOLDER]... [--once] [flags]\n\n"
    "A cluster in this process: an API server that kubectl can use, small "
    "stand-ins for\nKubeVirt, scheduler and kubelets, and the real binder "
    "with a real journal. Files are\napplied in order, each once the cluster "
    "has settled after the one before; those of a\nfolder by name. Placements "
    "are printed as they happen. Runs until interrupted, or with\n--once "
    "until all has settled, and ends with a table.\n\n"
    "Exit codes: 0 done, 2 usage or bad input, 3 the journal or a port "
    "failed.\n\nflags:\n";

// How long nothing may happen before the cluster counts as settled: longer
// than the graces below.
constexpr absl::Duration kQuiet = absl::Milliseconds(2500);
constexpr absl::Duration kMostWait = absl::Minutes(2);
constexpr absl::Duration kStartBackoff = absl::Seconds(1);

struct SandboxFlags {
  std::vector<std::string> files;
  std::string journal;
  int http_port = 0;
  std::string grpc_address = "127.0.0.1:0";
  bool once = false;
  ConfigChanges changes;
};

// Its scheduler refuses at once or never.
Config SandboxConfig() {
  Config config;
  config.refusal_grace = absl::Seconds(1);
  return config;
}

absl::Status IntoPort(absl::string_view text, int* port) {
  if (absl::SimpleAtoi(text, port) && *port >= 0 && *port < 65536) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found '", text, "', want a port from 0 to 65535"));
}

std::vector<Flag> FlagsOf(SandboxFlags& flags) {
  std::vector<Flag> all = {
      {.name = "file",
       .letter = 'f',
       .value = "FILE",
       .help =
           "YAML or JSON, or a folder of such files, or - for stdin; may be "
           "given again",
       .set =
           [&flags](absl::string_view text) {
             flags.files.emplace_back(text);
             return absl::OkStatus();
           }},
      {.name = "once",
       .help = "end with a table when all has settled",
       .set = IntoSwitch(&flags.once)},
      {.name = "journal",
       .value = "DIR",
       .help = "the journal's directory (default: a new temporary one, which "
               "is kept)",
       .set = IntoText(&flags.journal)},
      {.name = "http-port",
       .value = "PORT",
       .help = "of the API server on 127.0.0.1 (default 0: any free one)",
       .set =
           [&flags](absl::string_view text) {
             return IntoPort(text, &flags.http_port);
           }},
      {.name = "grpc-address",
       .value = "HOST:PORT",
       .help = "loopback address that answers explain (default: any free "
               "port)",
       .set = IntoText(&flags.grpc_address)}};
  for (Flag& flag : ConfigFlags(SandboxConfig(), &flags.changes)) {
    all.push_back(std::move(flag));
  }
  return all;
}

// The files that are applied one by one.
absl::StatusOr<std::vector<std::string>> StagesOf(
    const std::vector<std::string>& paths) {
  std::vector<std::string> stages;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      stages.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry :
         std::filesystem::directory_iterator(path, failed)) {
      const std::string kind = entry.path().extension();
      if (kind == ".yaml" || kind == ".yml" || kind == ".json") {
        inside.push_back(entry.path());
      }
    }
    if (inside.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": found no file in it, want .yaml, .yml or .json"));
    }
    std::sort(inside.begin(), inside.end());
    stages.insert(stages.end(), inside.begin(), inside.end());
  }
  return stages;
}

absl::StatusOr<std::string> JournalDirectory(const SandboxFlags& flags) {
  if (!flags.journal.empty()) return flags.journal;
  std::string name =
      std::filesystem::temp_directory_path() / "gpubinder-sandbox-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("making a temporary directory ", name, " failed"));
  }
  return name + "/journal";
}

absl::Status ApplyStages(const SandboxFlags& flags, const Console& console,
                         SandboxCluster& cluster, SandboxDisplay& display) {
  const absl::StatusOr<std::vector<std::string>> stages = StagesOf(flags.files);
  if (!stages.ok()) return stages.status();
  for (const std::string& stage : *stages) {
    const absl::StatusOr<std::vector<InputText>> texts =
        ReadTextFiles({stage}, console.in);
    if (!texts.ok()) return texts.status();
    display.Say(absl::StrCat("applying ", stage));
    std::vector<std::string> skipped;
    absl::Status applied = cluster.Apply(*texts, skipped);
    for (const std::string& name : skipped) {
      display.Say(
          absl::StrCat("  skipped  ", name, ": not a kind the sandbox has"));
    }
    // The server is in this process: what it refuses is bad input.
    if (!applied.ok()) return absl::InvalidArgumentError(applied.message());
    if (!cluster.AwaitQuiet(kQuiet, kMostWait)) {
      display.Say("  (still busy; going on)");
    }
  }
  return absl::OkStatus();
}

// Commands to be typed, each on a line of its own.
void SayWhere(const SandboxFlags& flags, const std::string& journal,
              const Console& console, SandboxCluster& cluster,
              SandboxDisplay& display) {
  const std::string replay =
      absl::StrCat("\n  ", console.program, " replay ", journal);
  if (flags.once) {
    std::string files;
    for (const std::string& file : flags.files) {
      absl::StrAppend(&files, " -f ", file);
    }
    display.Say(absl::StrCat("\nrun the passes again:", replay,
                             "\nkeep such a cluster, and look at it:\n  ",
                             console.program, " sandbox", files));
    return;
  }
  display.Say(absl::StrCat(
      "\nlook at it:\n  kubectl --server http://127.0.0.1:",
      cluster.server().port(),
      " get vm,vmi,pods,gpuclaims,gpuclaimsets -A\nask why:\n  ",
      console.program,
      " explain --address 127.0.0.1:", cluster.binder().grpc_port(),
      " NAMESPACE/NAME\n", "run the passes again, afterwards:", replay,
      "\nrunning until interrupted"));
}

int Run(const SandboxFlags& flags, const Console& console) {
  SandboxOptions options{.config = SandboxConfig(),
                         .grpc_address = flags.grpc_address,
                         .start_backoff = kStartBackoff};
  if (absl::Status s = ApplyChanges(flags.changes, options.config); !s.ok()) {
    return Fail("sandbox", s, console);
  }
  const absl::StatusOr<std::string> journal = JournalDirectory(flags);
  if (!journal.ok()) return Fail("sandbox", journal.status(), console);
  options.journal_directory = *journal;
  SandboxDisplay display(console);
  options.on_pass = [&display](const FinishedPass& pass) {
    display.Pass(pass);
  };
  options.on_outcome = [&display](const v1::Record& record) {
    display.Outcome(record);
  };
  options.on_revision = [&display](const embedded::StoreEvent& event) {
    display.Revision(event);
  };
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto cluster = SandboxCluster::Start(std::move(options));
  if (!cluster.ok()) return Fail("sandbox", cluster.status(), console);
  const absl::Status listening =
      (*cluster)->server().ListenHttp(flags.http_port);
  if (!listening.ok()) return Fail("sandbox", listening, console);
  const absl::Status applied = ApplyStages(flags, console, **cluster, display);
  if (!applied.ok()) return Fail("sandbox", applied, console);
  display.Table();
  SayWhere(flags, *journal, console, **cluster, display);
  if (!flags.once) {
    int signal = 0;
    sigwait(&signals, &signal);
  }
  return kExitDone;
}

}  // namespace

int RunSandbox(Args args, const Console& console) {
  SandboxFlags flags;
  const std::vector<Flag> table = FlagsOf(flags);
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, table);
  if (!parsed.ok()) return Fail("sandbox", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(table);
    return kExitDone;
  }
  if (!parsed->operands.empty()) {
    return Fail("sandbox",
                absl::InvalidArgumentError(
                    absl::StrCat("found the operand '", parsed->operands[0],
                                 "', want flags only; files go behind -f")),
                console);
  }
  return Run(flags, console);
}

}  // namespace gpubinder
