#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "k8s/http_api_client.h"
#include "k8s/identity.h"
#include "reconciler/binder.h"
#include "tools/commands.h"
#include "tools/config_file.h"
#include "tools/flags.h"
#include "tools/run_log.h"
#include "tools/run_webhooks.h"
#include "tools/text_files.h"

namespace gpubinder {
namespace {

constexpr char kUsage[] =
    "usage: gpubinder run --journal DIR [--kubeconfig FILE] [flags]\n\n"
    "The controller: watches the cluster, journals what it sees, and places "
    "claims and pins\nlaunchers while it holds the Lease. Without --kubeconfig "
    "the identity of the pod it\nruns in is used. With --webhook-certificates "
    "it answers the admission webhooks\n/mutate-vmi and /mutate-pod, leader or "
    "not. Ends on SIGTERM and SIGINT; the Lease is\ngiven up then.\n\n"
    "Exit codes: 0 ended by a signal, 2 usage, a bad configuration or "
    "kubeconfig, 3 a file\ncannot be read, the journal, the pod's credentials "
    "or the address failed.\n\nflags:\n";

// Damaged journals that are kept aside.
constexpr int kKeptAside = 3;

struct RunFlags {
  std::string journal, kubeconfig, config_file, pod_name;
  std::string grpc_address = "127.0.0.1:9797";
  std::string log_format = "text";
  bool rebuild = false;
  WebhookSettings webhooks;
  ConfigChanges changes;
};

std::vector<Flag> FlagsOf(RunFlags& flags) {
  std::vector<Flag> all = {
      {.name = "journal",
       .value = "DIR",
       .help = "the journal's directory; created if it is not there",
       .set = IntoText(&flags.journal)},
      {.name = "kubeconfig",
       .value = "FILE",
       .help = "credentials, when not running in a pod",
       .set = IntoText(&flags.kubeconfig)},
      {.name = "config",
       .value = "FILE",
       .help = "YAML; each of its fields is also a flag below, which wins",
       .set = IntoText(&flags.config_file)},
      {.name = "pod-name",
       .value = "NAME",
       .help = "first part of the Lease's identity (default: $POD_NAME, else "
               "the host's name)",
       .set = IntoText(&flags.pod_name)},
      {.name = "grpc-address",
       .value = "HOST:PORT",
       .help = "loopback address that answers explain (default "
               "127.0.0.1:9797; port 0: any; empty: none)",
       .set = IntoText(&flags.grpc_address)},
      {.name = "log-format",
       .value = "text|json",
       .help = "of the log on standard error (default text)",
       .set = IntoText(&flags.log_format)},
      {.name = "rebuild-on-data-loss",
       .help = "move a damaged journal aside and start from the cluster, "
               "which holds the truth",
       .set = IntoSwitch(&flags.rebuild)}};
  for (Flag& flag : WebhookFlags(flags.webhooks)) {
    all.push_back(std::move(flag));
  }
  for (Flag& flag : ConfigFlags(Config(), &flags.changes)) {
    all.push_back(std::move(flag));
  }
  return all;
}

absl::StatusOr<Config> ConfigOf(const RunFlags& flags, const Console& console) {
  absl::StatusOr<Config> config =
      LoadConfig(flags.config_file, flags.changes, console.in);
  if (!config.ok()) return config;
  if (absl::Status s = CheckLeaseTimes(*config); !s.ok()) return s;
  return config;
}

std::string PodName(const RunFlags& flags) {
  if (!flags.pod_name.empty()) return flags.pod_name;
  if (const char* name = std::getenv("POD_NAME")) return name;
  char host[256] = "gpubinder";
  gethostname(host, sizeof(host) - 1);
  return host;
}

// Keeps the damaged directory, and the newest few of earlier ones.
absl::Status MoveAside(const std::string& directory) {
  std::error_code failed;
  const auto aside = [&](int i) {
    return absl::StrCat(directory, ".damaged-", i);
  };
  std::filesystem::remove_all(aside(kKeptAside), failed);
  for (int i = kKeptAside - 1; i >= 1; --i) {
    if (std::filesystem::exists(aside(i), failed)) {
      std::filesystem::rename(aside(i), aside(i + 1), failed);
    }
  }
  std::filesystem::rename(directory, aside(1), failed);
  if (!failed) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("moving ", directory, " to ",
                                             aside(1), ": ", failed.message()));
}

// Looks at the config file now and then, and hands a changed one on. A bad one
// is refused whole: the binder keeps the last good one.
class ConfigWatch {
 public:
  ConfigWatch(const RunFlags& flags, const Console& console, Config config)
      : flags_(flags), console_(console), config_(std::move(config)) {}

  void Look(Binder& binder, RunLog& log) {
    if (flags_.config_file.empty() || flags_.config_file == "-") return;
    absl::StatusOr<Config> config = ConfigOf(flags_, console_);
    const std::string trouble =
        config.ok() ? "" : std::string(config.status().message());
    if (!trouble.empty() && trouble != trouble_) {
      log.Error(absl::StrCat("keeping the last good configuration: ", trouble));
    }
    trouble_ = trouble;
    if (!config.ok() || *config == config_) return;
    log.Info("the configuration has changed");
    config_ = *config;
    binder.OnConfig(*std::move(config));
  }

 private:
  const RunFlags& flags_;
  const Console& console_;
  Config config_;
  std::string trouble_;
};

struct Running {
  Binder& binder;
  Webhooks* webhooks;  // null: none
  absl::Duration drain;
  const sigset_t& signals;  // SIGUSR1: the binder has ended by itself
};

// Hands the Lease over first; the webhooks go on for those who have not heard
// yet that they end.
void EndOrderly(const Running& running) {
  const absl::Time end = absl::Now() + running.drain;
  if (running.webhooks != nullptr) running.webhooks->server().BeginDrain();
  running.binder.Stop();
  if (running.webhooks == nullptr) return;
  sigset_t again = running.signals;
  sigdelset(&again, SIGUSR1);
  const timespec left =
      absl::ToTimespec(std::max(end - absl::Now(), absl::ZeroDuration()));
  sigtimedwait(&again, nullptr, &left);
  running.webhooks->Stop();
}

// Runs the binder until a signal comes or its journal fails.
absl::Status RunUntilSignal(const Running& running, ConfigWatch& config,
                            RunLog& log) {
  running.binder.Start();
  absl::Status end;
  std::thread waiter([&] {
    end = running.binder.Wait();
    kill(getpid(), SIGUSR1);
  });
  const timespec look = {.tv_sec = 5};
  int signal = -1;
  while (signal < 0) {
    signal = sigtimedwait(&running.signals, nullptr, &look);
    if (signal < 0) config.Look(running.binder, log);
  }
  if (signal == SIGUSR1) {
    if (running.webhooks != nullptr) running.webhooks->StopAtOnce();
    running.binder.Stop();
  } else {
    log.Info(absl::StrCat("ending on signal ", signal));
    EndOrderly(running);
  }
  waiter.join();
  return end;
}

// Null: there are none to serve.
absl::StatusOr<std::unique_ptr<Webhooks>> StartWebhooks(
    const WebhookSettings& settings, const Binder& binder,
    const Identity& identity, RunLog& log) {
  if (settings.certificates.empty()) return std::unique_ptr<Webhooks>();
  absl::StatusOr<std::unique_ptr<Webhooks>> webhooks = Webhooks::Start(
      settings, binder.loop(), *HttpApiClient::Open(identity, {}),
      [&log](const absl::Status& news) {
        if (news.ok()) return log.Info("webhook certificates: taken anew");
        log.Error(absl::StrCat("webhook ", news.message()));
      });
  if (webhooks.ok()) {
    log.Info(absl::StrCat("webhooks on ", settings.address, ", port ",
                          (*webhooks)->server().port()));
  }
  return webhooks;
}

absl::StatusOr<std::unique_ptr<Binder>> OpenBinder(BinderOptions options,
                                                   const RunFlags& flags,
                                                   RunLog& log) {
  absl::StatusOr<std::unique_ptr<Binder>> binder = Binder::Open(options);
  if (!absl::IsDataLoss(binder.status()) || !flags.rebuild) return binder;
  log.Error(absl::StrCat(binder.status().ToString(),
                         "; moving the journal aside and starting from the "
                         "cluster"));
  if (absl::Status s = MoveAside(flags.journal); !s.ok()) return s;
  return Binder::Open(std::move(options));
}

int Run(const RunFlags& flags, const Console& console) {
  const absl::StatusOr<Config> config = ConfigOf(flags, console);
  if (!config.ok()) return Fail("run", config.status(), console);
  // All threads inherit the mask, so signals come to sigwait alone.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (!flags.kubeconfig.empty()) {
    // One that is not there is no bad input yet.
    const absl::Status read =
        ReadWholeFile(flags.kubeconfig, console.in).status();
    if (!read.ok()) return Fail("run", read, console);
  }
  const absl::StatusOr<Identity> identity =
      FindIdentity(flags.kubeconfig, ReadPodSettings());
  if (!identity.ok()) {
    Fail("run", identity.status(), console);
    return flags.kubeconfig.empty() ? kExitEnvironment : kExitBadInput;
  }
  // Said once here, so that later clients cannot fail on it.
  const auto probe = HttpApiClient::Open(*identity, {});
  if (!probe.ok()) return Fail("run", probe.status(), console);
  RunLog log(flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  absl::StatusOr<std::unique_ptr<Binder>> binder = OpenBinder(
      {.config = *config,
       .journal_directory = flags.journal,
       .pod_name = PodName(flags),
       .grpc_address = flags.grpc_address,
       .new_client = [&identity]() -> std::unique_ptr<ApiClient> {
         return *HttpApiClient::Open(*identity, {});
       },
       .on_pass = [&log](const FinishedPass& pass) { log.Pass(pass); },
       .on_outcome = [&log](const v1::Record& r) { log.Outcome(r); },
       .on_trouble = [&log](Kind kind,
                            const absl::Status& s) { log.Trouble(kind, s); },
       .on_leadership = [&log](const LeaderState& s) { log.Leadership(s); }},
      flags, log);
  if (!binder.ok()) return Fail("run", binder.status(), console);
  log.Info(absl::StrCat("journal ", (*binder)->journal_uid(), " in ",
                        flags.journal));
  if ((*binder)->grpc_port() != 0) {
    log.Info(absl::StrCat("answering on 127.0.0.1:", (*binder)->grpc_port()));
  }
  const absl::StatusOr<std::unique_ptr<Webhooks>> webhooks =
      StartWebhooks(flags.webhooks, **binder, *identity, log);
  if (!webhooks.ok()) return Fail("run", webhooks.status(), console);
  ConfigWatch watch(flags, console, *config);
  const absl::Status end = RunUntilSignal({.binder = **binder,
                                           .webhooks = webhooks->get(),
                                           .drain = flags.webhooks.drain,
                                           .signals = signals},
                                          watch, log);
  if (end.ok()) return kExitDone;
  log.Error(end.ToString());
  return kExitEnvironment;
}

}  // namespace

int RunRun(Args args, const Console& console) {
  RunFlags flags;
  const std::vector<Flag> table = FlagsOf(flags);
  const absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, table);
  if (!parsed.ok()) return Fail("run", parsed.status(), console);
  if (parsed->help) {
    console.out << kUsage << FlagsHelp(table);
    return kExitDone;
  }
  if (!parsed->operands.empty()) {
    return Fail(
        "run",
        absl::InvalidArgumentError(absl::StrCat(
            "found the operand '", parsed->operands[0], "', want flags only")),
        console);
  }
  if (flags.journal.empty()) {
    return Fail("run", absl::InvalidArgumentError("--journal is required"),
                console);
  }
  if (flags.log_format != "text" && flags.log_format != "json") {
    return Fail(
        "run",
        absl::InvalidArgumentError(absl::StrCat(
            "--log-format: found '", flags.log_format, "', want text or json")),
        console);
  }
  return Run(flags, console);
}

}  // namespace gpubinder
