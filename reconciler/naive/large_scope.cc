#include "reconciler/naive/large_scope.h"

#include <algorithm>
#include <array>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gpubinder::naive {
namespace {

constexpr int kMostNodes = 50, kMostClaims = 300, kMostVms = 80;
constexpr std::array kTenants = {"tenant-root", "tenant-a", "tenant-a-b",
                                 "tenant-c", "t"};
constexpr std::array kClasses = {"h100",  "h100", "h100",  "l40s",
                                 "small", "stay", "picky", "nowhere"};
constexpr std::array kKeys = {
    "requests.gpu.cozystack.io/h100", "requests.gpu.cozystack.io/l40s",
    "requests.nvidia.com/H100", "requests.nvidia.com/L40S"};

}  // namespace

LargeScope::LargeScope(Dice dice) : dice_(dice), runner_(Replays::kAtTheEnd) {
  // Small ones are the most, since they are quicker.
  const int nodes = 1 + dice_.Below(1 + dice_.Below(kMostNodes));
  const int claims = dice_.Below(1 + dice_.Below(kMostClaims));
  const int vms = dice_.Below(1 + dice_.Below(kMostVms));
  MakeClasses();
  MakeTenants();
  for (int i = 0; i < nodes; ++i) MakeNode(absl::StrCat("n", i));
  auto tenant = [&] {
    return std::string(kTenants[static_cast<size_t>(
        dice_.Below(static_cast<int>(kTenants.size())))]);
  };
  for (int i = 0; i < claims; ++i) MakeClaim(tenant(), absl::StrCat("c", i));
  for (int i = 0; i < vms; ++i) MakeVm(tenant(), absl::StrCat("v", i));
  Pass();
}

void LargeScope::MakeClasses() {
  Do("class h100");
  Do(absl::StrCat("class l40s type=VGPU max=", 1 + dice_.Below(8)));
  Do("class small resource=L40S max=2 tolerate=k:NoSchedule");
  Do("class stay resource=H100 oncordon=Stay");
  Do("class picky resource=H100 selector=zone=x");
  if (dice_.OneIn(8)) Do("class bare bare");
  for (const char* zone : {"x", "y"}) {
    Do(absl::StrCat("pv pv-", zone, " claim=tenant-a/disk-", zone,
                    " terms=zone=", zone));
    Do(absl::StrCat("pvc tenant-a/disk-", zone, " volume=pv-", zone));
  }
  Do("schedulingclass inx selector=zone=x");
}

void LargeScope::MakeTenants() {
  for (const char* tenant : kTenants) {
    Do(absl::StrCat(
        "namespace ", tenant,
        dice_.OneIn(2) ? " labels=gpu.cozystack.io/vgpu=true" : ""));
    if (dice_.OneIn(2)) {
      Do(absl::StrCat("quota ", tenant,
                      "/q hard=", kKeys[static_cast<size_t>(dice_.Below(4))],
                      "=", dice_.Below(40), ",",
                      kKeys[static_cast<size_t>(dice_.Below(4))], "=",
                      dice_.Below(40)));
    }
  }
}

void LargeScope::MakeNode(const std::string& name) {
  Do(absl::StrCat("node ", name, " H100=", 2 * dice_.Below(5), " L40S=",
                  dice_.Below(5), " labels=zone=", dice_.OneIn(2) ? "x" : "y"));
}

void LargeScope::MakeClaim(const std::string& name_space,
                           const std::string& name) {
  const size_t of =
      static_cast<size_t>(dice_.Below(static_cast<int>(kClasses.size()) - 1));
  Do(absl::StrCat(
      "claim ", name_space, "/", name,
      " class=", dice_.OneIn(40) ? "nowhere" : kClasses[of],
      " count=", dice_.OneIn(12) ? 9 : 1 + dice_.Below(1 + dice_.Below(4)),
      dice_.OneIn(10) ? " bare" : ""));
  if (dice_.OneIn(4)) Do("advance 1s");
}

// Up to three entries, each a claim of the tenant's or a template.
std::string LargeScope::Entries(const std::string& name_space) {
  std::string text;
  const int entries = 1 + dice_.Below(3);
  for (int i = 0; i < entries; ++i) {
    std::string entry;
    const std::string claim = Any(Kind::kGpuClaim);
    if (!dice_.OneIn(3) && absl::StartsWith(claim, name_space + "/")) {
      entry = claim.substr(name_space.size() + 1);
    } else if (dice_.OneIn(20)) {
      entry = "absent";
    } else {
      entry = absl::StrCat(dice_.OneIn(3) ? "l40s" : "h100", "*",
                           1 + dice_.Below(3));
    }
    if (absl::StrContains(absl::StrCat(",", text),
                          absl::StrCat(",", entry, ",")) &&
        !absl::StrContains(entry, "*")) {
      continue;
    }
    absl::StrAppend(&text, entry, ",");
  }
  text.pop_back();
  return text;
}

void LargeScope::MakeVm(const std::string& name_space,
                        const std::string& name) {
  static constexpr std::array kStrategies = {
      "Always", "Always", "RerunOnFailure", "Once", "Manual", "Halted"};
  const std::string volume =
      name_space == "tenant-a" && dice_.OneIn(3)
          ? absl::StrCat(" volumes=disk-", dice_.OneIn(2) ? "x" : "y")
          : "";
  Do(absl::StrCat(
      "vm ", name_space, "/", name, " claims=", Entries(name_space),
      " strategy=", kStrategies[static_cast<size_t>(dice_.Below(6))], volume));
  if (dice_.OneIn(2)) NewLauncher(absl::StrCat(name_space, "/", name), "gated");
}

void LargeScope::Do(const std::string& command) {
  commands_.push_back(command);
  runner_.Run(command);
}

std::string LargeScope::Any(Kind kind) {
  const auto& objects = runner_.server().objects();
  std::vector<std::string> names;
  for (auto next = objects.lower_bound({kind, "", ""});
       next != objects.end() && std::get<Kind>(next->first) == kind; ++next) {
    const auto& [of, name_space, name] = next->first;
    names.push_back(name_space.empty() ? name
                                       : absl::StrCat(name_space, "/", name));
  }
  if (names.empty()) return "";
  return names[static_cast<size_t>(
      dice_.Below(static_cast<int>(names.size())))];
}

void LargeScope::Pass() {
  Do("pass");
  ++passes_;
  const int effects = runner_.effects();
  if (effects == 0 || !dice_.OneIn(4)) return Do("apply");
  if (dice_.OneIn(5)) {
    return Do(absl::StrCat("crash-after ", dice_.Below(effects + 1)));
  }
  static constexpr std::array kFates = {" refused 409", " refused 422",
                                        " refused 500", " unknown", " lost"};
  std::string apply = "apply";
  for (int i = 1 + dice_.Below(2); i > 0; --i) {
    absl::StrAppend(&apply, " ", 1 + dice_.Below(effects),
                    kFates[static_cast<size_t>(dice_.Below(5))]);
  }
  Do(apply);
}

void LargeScope::Happen() {
  int total = 0;
  for (const Weighted& each : Events()) total += each.weight;
  for (;;) {
    int left = dice_.Below(total);
    for (const Weighted& each : Events()) {
      if ((left -= each.weight) >= 0) continue;
      if (!(this->*each.event)()) break;
      return Pass();
    }
  }
}

void LargeScope::Settle() {
  Do("readback");
  // What conflicts left waiting is tried again after its pause.
  Do("advance 1m");
  Do("settle");
  ++passes_;
  runner_.ReplayJournal();
}

bool LargeScope::ClaimIsDeleted() {
  const std::string claim = Any(Kind::kGpuClaim);
  if (claim.empty()) return false;
  Do("delete claim " + claim);
  return true;
}

bool LargeScope::ClaimComes() {
  MakeClaim(kTenants[static_cast<size_t>(dice_.Below(5))],
            absl::StrCat("d", ++names_));
  return true;
}

bool LargeScope::ClaimIsMalformed() {
  const std::string claim = Any(Kind::kGpuClaim);
  if (claim.empty()) return false;
  Do(absl::StrCat("claim ", claim,
                  " malformed=", dice_.OneIn(2) ? "spec.count" : ""));
  return true;
}

bool LargeScope::BudgetChanges() {
  const std::string quota = Any(Kind::kResourceQuota);
  if (quota.empty()) return false;
  if (dice_.OneIn(6)) {
    Do("gone quota " + quota);
    return true;
  }
  Do(absl::StrCat("quota ", quota,
                  " hard=", kKeys[static_cast<size_t>(dice_.Below(4))], "=",
                  dice_.OneIn(10) ? std::string("nonsense")
                                  : absl::StrCat(dice_.Below(30))));
  return true;
}

bool LargeScope::ClassChanges() {
  const std::string of = Any(Kind::kGpuClass);
  if (of.empty()) return false;
  static constexpr std::array kChanges = {
      " oncordon=Stay", " oncordon=Move",   " max=1",
      " max=8",         " selector=zone=y", " tolerate=k:NoSchedule"};
  Do(dice_.OneIn(10)
         ? "delete class " + of
         : absl::StrCat("class ", of,
                        kChanges[static_cast<size_t>(dice_.Below(6))]));
  return true;
}

bool LargeScope::TenantChanges() {
  const std::string tenant = kTenants[static_cast<size_t>(dice_.Below(5))];
  Do(dice_.OneIn(12)
         ? absl::StrCat("namespace ", tenant, " terminating")
         : absl::StrCat("namespace ", tenant, " labels=gpu.cozystack.io/vgpu=",
                        dice_.OneIn(2) ? "true" : "false"));
  return true;
}

bool LargeScope::RawPod() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  const std::string name = absl::StrCat("t/raw-", dice_.Below(6));
  if (Find<Pod>(name) != nullptr) {
    Do("gone pod " + name);
  } else {
    Do(absl::StrCat("pod ", name, " H100=", 1 + dice_.Below(2),
                    " node=", node));
  }
  return true;
}

bool LargeScope::TimePasses() {
  static constexpr std::array kSteps = {"1s", "10s", "15s", "1m",
                                        "3m", "6m",  "11m"};
  Do(absl::StrCat("advance ", kSteps[static_cast<size_t>(dice_.Below(7))]));
  return true;
}

bool LargeScope::Unseen() {
  const std::string node = AnyNode();
  if (node.empty()) return false;
  static constexpr std::array kChanges = {" H100=1", " cordoned",
                                          " ready=False", " L40S=none"};
  Do(absl::StrCat("unseen node ", node,
                  kChanges[static_cast<size_t>(dice_.Below(4))]));
  return true;
}

bool LargeScope::ListsAgain() {
  static constexpr std::array kKinds = {"node", "claim", "vmi", "pod",
                                        "claimset"};
  if (dice_.OneIn(2)) {
    Do("readback");
  } else {
    Do(absl::StrCat("relist ", kKinds[static_cast<size_t>(dice_.Below(5))]));
  }
  return true;
}

bool LargeScope::ConfigChanges() {
  static constexpr std::array kChanges = {
      "endRunning=true",   "endRunning=false", "capacityGrace=0s",
      "capacityGrace=10m", "maxEndings=50",    "massLossThreshold=100",
      "enabled=false",     "enabled=true",     "enabled=true"};
  Do(absl::StrCat("config ", kChanges[static_cast<size_t>(dice_.Below(9))]));
  return true;
}

bool LargeScope::Nothing() { return true; }

const std::vector<LargeScope::Weighted>& LargeScope::Events() {
  static const auto& events = *new std::vector<Weighted>{
      {4, &LargeScope::NodeUnits},        {3, &LargeScope::NodeTaint},
      {4, &LargeScope::NodeCordon},       {4, &LargeScope::NodeReady},
      {2, &LargeScope::NodeAgent},        {3, &LargeScope::NodeGone},
      {4, &LargeScope::NodeBack},         {1, &LargeScope::NodeLabels},
      {18, &LargeScope::VmStarts},        {5, &LargeScope::VmStartsOddly},
      {16, &LargeScope::PodIsScheduled},  {5, &LargeScope::SchedulerRefuses},
      {4, &LargeScope::KubeletRefuses},   {4, &LargeScope::VmiEnds},
      {5, &LargeScope::VmStops},          {4, &LargeScope::PodGoes},
      {3, &LargeScope::VmiIsDeleted},     {4, &LargeScope::VmMigrates},
      {1, &LargeScope::VmIsGone},         {2, &LargeScope::AnnotationIsEdited},
      {4, &LargeScope::ClaimIsDeleted},   {5, &LargeScope::ClaimComes},
      {1, &LargeScope::ClaimIsMalformed}, {3, &LargeScope::BudgetChanges},
      {2, &LargeScope::ClassChanges},     {1, &LargeScope::TenantChanges},
      {2, &LargeScope::RawPod},           {12, &LargeScope::TimePasses},
      {2, &LargeScope::Unseen},           {3, &LargeScope::ListsAgain},
      {1, &LargeScope::ConfigChanges},    {2, &LargeScope::Nothing}};
  return events;
}

}  // namespace gpubinder::naive
