#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reconciler/model/invariants.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"
#include "reconciler/naive/judge.h"
#include "tools/commands.h"
#include "tools/input.h"
#include "tools/offline_flags.h"
#include "tools/plan_document.h"
#include "tools/plan_run.h"
#include "tools/plan_table.h"
#include "tools/progress_line.h"
#include "tools/text_files.h"

namespace gpubinder {
namespace {

constexpr int kMostPasses = 100;

struct PlanArgs {
  OfflineArgs offline;
  int passes = kMostPasses;
  bool fail_on_waiting = false, check = false;
};

std::vector<Flag> PlanFlags(PlanArgs* args) {
  std::vector<Flag> flags = {
      OutputFlag("table|json|yaml", &args->offline),
      {.name = "passes",
       .value = "N",
       .help = "the most passes to run, 1 to 100 (default 100)",
       .set =
           [args](absl::string_view text) {
             if (!absl::SimpleAtoi(text, &args->passes) || args->passes < 1 ||
                 args->passes > kMostPasses) {
               return absl::InvalidArgumentError(
                   absl::StrCat("found \"", text.substr(0, 64),
                                "\", want a whole number from 1 to 100"));
             }
             return absl::OkStatus();
           }},
      {.name = "fail-on-waiting",
       .help = "exit with 1 when a set waits",
       .set = IntoSwitch(&args->fail_on_waiting)},
      {.name = "check",
       .help = "judge each pass by the naive model and the invariants; faults "
               "go to stderr (slow beyond a few thousand claims)",
       .set = IntoSwitch(&args->check)}};
  std::vector<Flag> offline = OfflineFlags(&args->offline);
  std::move(offline.begin(), offline.end(), std::back_inserter(flags));
  return flags;
}

void PrintHelp(const std::vector<Flag>& flags, std::ostream& out) {
  out << "usage: gpubinder plan -f FILE... [flags]\n\n"
         "Decides what the binder would do with the objects of files, until a "
         "pass has nothing\nto do. There is no KubeVirt in it: a VM is started "
         "when its VMI and its gated launcher\npod are among the objects, as "
         "kubectl get vm,vmi,pods,... -o yaml prints them. Of a VM\nwithout a "
         "VMI only the claims that it names are placed, together.\n\n"
         "Of the table of nodes: BOOKED are units of claims, RAW those of pods "
         "without claims.\n\n"
         "Exit codes: 0 settled, 1 not settled or, with --fail-on-waiting, a "
         "set waits, 2 usage or\nbad input, 3 a file cannot be read, 4 with "
         "--check, a pass is not what the naive model\nsays: a fault of "
         "gpubinder, please report it.\n\n"
         "flags:\n"
      << FlagsHelp(flags);
}

// VMs with claims that KubeVirt would start: there is none in here, so what
// they order from templates is not in the plan.
std::vector<std::string> UnstartedVms(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const auto& [key, row] : snapshot.vms().by_name()) {
    const VirtualMachine& vm = snapshot.vms()[row];
    const bool starts = vm.run_strategy == "Always" ||
                        vm.run_strategy == "RerunOnFailure" ||
                        vm.run_strategy == "Once";
    if (starts && vm.claims.present &&
        snapshot.vmis().Find(vm.meta.name_space, vm.meta.name) == nullptr) {
      names.push_back(absl::StrCat(vm.meta.name_space, "/", vm.meta.name));
    }
  }
  return names;
}

void SayUnstartedVms(const PlanRun& run, const Console& console) {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> names = UnstartedVms(run.snapshot);
  if (names.empty()) return;
  const size_t left_out =
      names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - left_out);
  console.err << "gpubinder plan: no VMI among the objects, so not started "
                 "here: "
              << absl::StrJoin(names, ", ");
  if (left_out > 0) console.err << " and " << left_out << " more";
  console.err << "\n";
}

// What --check has against each pass, as sentences.
std::function<void(int, const Snapshot&, const PassResult&)> CheckInto(
    std::vector<std::string>* faults, absl::Time now) {
  return [faults, now](int pass, const Snapshot& snapshot,
                       const PassResult& result) {
    for (const std::string& broken : BrokenInvariants(snapshot, result)) {
      faults->push_back(absl::StrCat("pass ", pass, ": ", broken));
    }
    for (const std::string& fault : JudgePass(snapshot, now, result)) {
      faults->push_back(absl::StrCat("pass ", pass, ": ", fault));
    }
  };
}

int PrintPlan(const PlanRun& run, const PlanArgs& args,
              const Console& console) {
  const PlanDocument document(run);
  if (args.offline.output == "json") {
    document.WriteJson(console.out);
  } else if (args.offline.output == "yaml") {
    document.WriteYaml(console.out);
  } else {
    console.out << PlanTable(
        run, document, console.colour ? TextStyle::kColour : TextStyle::kPlain);
  }
  SayUnstartedVms(run, console);
  for (const std::string& refusal : run.refusals) {
    console.err << "gpubinder plan: not taken: " << refusal << "\n";
  }
  if (!run.settled) {
    console.err << "gpubinder plan: not settled after " << run.passes
                << (run.passes == 1 ? " pass\n" : " passes\n");
    return kExitNo;
  }
  return args.fail_on_waiting && document.AnySetWaits() ? kExitNo : kExitDone;
}

void Say(const PlanProgress& progress, size_t objects, ProgressLine& line) {
  if (progress.pass == 0) {
    line.Say(absl::StrCat("looking at ", objects, " objects"));
  } else if (progress.of == 0) {
    line.Say(absl::StrCat("pass ", progress.pass, " decides"));
  } else {
    line.Say(absl::StrCat("pass ", progress.pass, ": change ", progress.sent,
                          " of ", progress.of));
  }
}

// With --check what the naive model says of the passes goes to `faults`.
absl::StatusOr<PlanRun> ReadAndRun(const PlanArgs& args, const Config& config,
                                   const Console& console,
                                   std::vector<std::string>* faults) {
  ProgressLine line(console);
  const std::vector<std::string>& files = args.offline.files;
  line.Say(absl::StrCat("reading ", absl::StrJoin(files, ", ")));
  const absl::StatusOr<std::vector<InputText>> texts =
      ReadTextFiles(files, console.in);
  if (!texts.ok()) return texts.status();
  line.Say(absl::StrCat("reading the objects of ", texts->size(),
                        texts->size() == 1 ? " document" : " documents"));
  const absl::StatusOr<Input> input =
      ObjectsOf(*texts, args.offline.name_space);
  if (!input.ok()) return input.status();
  const std::string skipped = SkippedText(*input);
  if (!skipped.empty()) {
    line.Wipe();
    console.err << "gpubinder plan: " << skipped << "\n";
  }
  PlanOptions options{.now = args.offline.now.value_or(absl::Now()),
                      .config = config,
                      .most_passes = args.passes,
                      .on_progress = [&](const PlanProgress& progress) {
                        Say(progress, input->objects.size(), line);
                      }};
  if (args.check) options.on_pass = CheckInto(faults, options.now);
  return RunPlanPasses(*input, options);
}

}  // namespace

int RunPlan(Args args, const Console& console) {
  PlanArgs plan;
  const std::vector<Flag> flags = PlanFlags(&plan);
  absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, flags);
  if (!parsed.ok()) return Fail("plan", parsed.status(), console);
  if (parsed->help) {
    PrintHelp(flags, console.out);
    return kExitDone;
  }
  // What a shell makes of -f *.yaml.
  std::vector<std::string>& files = plan.offline.files;
  std::move(parsed->operands.begin(), parsed->operands.end(),
            std::back_inserter(files));
  if (files.empty()) {
    return Fail("plan",
                absl::InvalidArgumentError("no objects: want -f FILE, or -f - "
                                           "for stdin"),
                console);
  }
  const absl::StatusOr<Config> config = OfflineConfig(plan.offline, console);
  if (!config.ok()) return Fail("plan", config.status(), console);
  std::vector<std::string> faults;
  const absl::StatusOr<PlanRun> run =
      ReadAndRun(plan, *config, console, &faults);
  if (!run.ok()) return Fail("plan", run.status(), console);
  const int code = PrintPlan(*run, plan, console);
  if (!plan.check) return code;
  for (const std::string& fault : faults) {
    console.err << "gpubinder plan: check: " << fault << "\n";
  }
  if (!faults.empty()) return kExitDisagrees;
  console.err << "gpubinder plan: check: " << run->passes
              << (run->passes == 1 ? " pass" : " passes")
              << " judged, no disagreement\n";
  return code;
}

}  // namespace gpubinder
