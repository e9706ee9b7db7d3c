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
    "Exit codes: 0 done, 1 --once was interrupted before all had settled, 2 "
    "usage or bad\ninput, 3 a file cannot be read, the journal or a port "
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
               "is kept unless the start fails)",
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

// A file whose objects are applied together.
struct Stage {
  std::string name;
  std::vector<InputText> objects;
};

// The files that are applied one by one.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    const std::string kind = entry.path().extension();
    if (kind == ".yaml" || kind == ".yml" || kind == ".json") {
      files.push_back(entry.path());
    }
  }
  if (failed) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be listed: ", failed.message()));
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found no file in it, want .yaml, .yml or .json"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// All of them are read before anything is started.
absl::StatusOr<std::vector<Stage>> StagesOf(
    const std::vector<std::string>& paths, const Console& console) {
  std::vector<Stage> stages;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<std::string>> files = FilesOf(path);
    if (!files.ok()) return files.status();
    for (const std::string& file : *files) {
      absl::StatusOr<std::vector<InputText>> texts =
          ReadTextFiles({file}, console.in);
      if (!texts.ok()) return texts.status();
      stages.push_back({.name = file, .objects = *std::move(texts)});
    }
  }
  return stages;
}

// Where the journal is. A temporary directory goes away with the value unless
// it is kept.
class JournalPlace {
 public:
  explicit JournalPlace(const SandboxFlags& flags)
      : directory_(flags.journal) {}
  ~JournalPlace() {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove_all(made_, ignored);
  }
  JournalPlace(const JournalPlace&) = delete;
  JournalPlace& operator=(const JournalPlace&) = delete;

  absl::Status Prepare() {
    if (!directory_.empty()) return absl::OkStatus();
    std::string name =
        std::filesystem::temp_directory_path() / "gpubinder-sandbox-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("making a temporary directory ", name, " failed"));
    }
    made_ = name;
    directory_ = name + "/journal";
    return absl::OkStatus();
  }
  void Keep() { made_.clear(); }
  bool stays() const { return made_.empty(); }
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
  std::string made_;  // empty: nothing to remove
};

// What ends it. All threads block them, so that one stays pending until it is
// waited for.
sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

bool IsInterrupted() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1 ||
         sigismember(&pending, SIGTERM) == 1;
}

// CANCELLED: interrupted before all had settled.
absl::Status ApplyStages(const std::vector<Stage>& stages,
                         SandboxCluster& cluster, SandboxDisplay& display) {
  for (const Stage& stage : stages) {
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat(
          "interrupted: ", stage.name, " and what follows is not applied"));
    }
    display.Say(absl::StrCat("applying ", stage.name));
    std::vector<std::string> skipped;
    absl::Status applied = cluster.Apply(stage.objects, skipped);
    for (const std::string& name : skipped) {
      display.Say(
          absl::StrCat("  skipped  ", name, ": not a kind the sandbox has"));
    }
    // The server is in this process: what it refuses is bad input.
    if (absl::IsCancelled(applied)) return applied;
    if (!applied.ok()) return absl::InvalidArgumentError(applied.message());
    if (!cluster.AwaitQuiet(kQuiet, kMostWait) && !IsInterrupted()) {
      display.Say("  (still busy; going on)");
    }
  }
  if (!IsInterrupted()) return absl::OkStatus();
  return absl::CancelledError("interrupted before all had settled");
}

// Commands to be typed, each on a line of its own.
std::string ReplayText(const JournalPlace& journal, const Console& console) {
  return absl::StrCat("\n  ", console.program, " replay ", journal.directory());
}

void SayWhere(const JournalPlace& journal, const Console& console,
              SandboxCluster& cluster, SandboxDisplay& display) {
  display.Say(absl::StrCat(
      "\nlook at it:\n  kubectl --server http://127.0.0.1:",
      cluster.server().port(),
      " get vm,vmi,pods,gpuclaims,gpuclaimsets -A\nask why:\n  ",
      console.program, " explain --address 127.0.0.1:",
      cluster.binder().grpc_port(), " NAMESPACE/NAME\n",
      "run the passes again, afterwards:", ReplayText(journal, console),
      "\nrunning until interrupted"));
}

void SayEnd(const SandboxFlags& flags, const JournalPlace& journal,
            const Console& console, SandboxDisplay& display) {
  std::string text =
      absl::StrCat("\nrun the passes again:", ReplayText(journal, console));
  if (flags.once) {
    absl::StrAppend(&text, "\nkeep such a cluster, and look at it:\n  ",
                    console.program, " sandbox");
    for (const std::string& file : flags.files) {
      absl::StrAppend(&text, " -f ", file);
    }
  }
  display.Say(text);
}

// From the start of the cluster to its end.
absl::Status Serve(const SandboxFlags& flags, SandboxOptions options,
                   const std::vector<Stage>& stages, JournalPlace& journal,
                   const Console& console, SandboxDisplay& display) {
  const auto cluster = SandboxCluster::Start(std::move(options));
  if (!cluster.ok()) return cluster.status();
  const absl::Status listening =
      (*cluster)->server().ListenHttp(flags.http_port);
  if (!listening.ok()) {
    return absl::Status(listening.code(),
                        absl::StrCat("--http-port: ", listening.message()));
  }
  const absl::Status applied = ApplyStages(stages, **cluster, display);
  if (applied.ok() || absl::IsCancelled(applied)) journal.Keep();
  if (!applied.ok()) return applied;
  display.Table();
  if (flags.once) return absl::OkStatus();
  SayWhere(journal, console, **cluster, display);
  const sigset_t signals = EndingSignals();
  int signal = 0;
  sigwait(&signals, &signal);
  return absl::OkStatus();
}

int Run(const SandboxFlags& flags, const Console& console) {
  SandboxOptions options{.config = SandboxConfig(),
                         .grpc_address = flags.grpc_address,
                         .start_backoff = kStartBackoff,
                         .is_interrupted = IsInterrupted};
  if (absl::Status s = ApplyChanges(flags.changes, options.config); !s.ok()) {
    return Fail("sandbox", s, console);
  }
  const absl::StatusOr<std::vector<Stage>> stages =
      StagesOf(flags.files, console);
  if (!stages.ok()) return Fail("sandbox", stages.status(), console);
  // From here on an interrupt is waited for, and what was made is tidied up.
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  JournalPlace journal(flags);
  if (absl::Status s = journal.Prepare(); !s.ok()) {
    return Fail("sandbox", s, console);
  }
  options.journal_directory = journal.directory();
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
  const absl::Status served =
      Serve(flags, std::move(options), *stages, journal, console, display);
  if (!served.ok() && !absl::IsCancelled(served)) {
    return Fail("sandbox", served, console);
  }
  if (!served.ok()) display.Say(served.message());
  if (journal.stays()) SayEnd(flags, journal, console, display);
  return flags.once && !served.ok() ? kExitNo : kExitDone;
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
