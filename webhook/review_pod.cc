#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/object_codec.h"
#include "reconciler/model/config.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/taint.h"
#include "webhook/claim_lookup.h"
#include "webhook/refusal.h"
#include "webhook/review.h"

namespace gpubinder {
namespace {

constexpr char kLauncherLabel[] = "kubevirt.io";
constexpr char kLauncher[] = "virt-launcher";
constexpr size_t kMostWarningBytes = 256;

bool IsLauncher(const Pod& pod) {
  auto label = pod.meta.labels.find(kLauncherLabel);
  return label != pod.meta.labels.end() && label->second == kLauncher;
}

// KubeVirt refuses this label from others in VMs and VMIs, but not in pods.
// An annotation says nothing: any of them can stand in a VM template.
bool IsMigrationTarget(const AdmissionRequest& request, const Pod& pod,
                       const Config& config) {
  return pod.meta.labels.contains(kMigrationLabel) &&
         request.user == config.kubevirt_controller_user;
}

// The classes that the annotation names, by itself or through a held claim.
// What is not there gives no tolerations: the pin adds them later.
std::vector<Toleration> WantedTolerations(
    const std::vector<ClaimEntry>& entries, const ClaimLookup& lookup) {
  std::vector<Toleration> wanted;
  for (const ClaimEntry& entry : entries) {
    std::string name = entry.class_name;
    if (!entry.claim_name.empty()) {
      const GpuClaim* claim = lookup.Claim(entry.claim_name);
      if (claim == nullptr) continue;
      name = claim->class_name;
    }
    const GpuClass* found = lookup.Class(name);
    if (found == nullptr || !found->meta.problems.empty()) continue;
    wanted.insert(wanted.end(), found->tolerations.begin(),
                  found->tolerations.end());
  }
  return wanted;
}

FlatObject TolerationFields(const Toleration& toleration) {
  FlatObject fields;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) fields.push_back({name, value});
  };
  add("key", toleration.key);
  add("operator", toleration.op);
  add("value", toleration.value);
  add("effect", toleration.effect);
  if (toleration.seconds.has_value()) {
    fields.push_back({"tolerationSeconds", *toleration.seconds});
  }
  return fields;
}

}  // namespace

ReviewAnswer ReviewPod(const AdmissionRequest& request, const LiveReads& live,
                       const Snapshot& snapshot) {
  const Pod& pod = std::get<Pod>(request.object);
  const Config& config = snapshot.config;
  auto text = pod.meta.annotations.find(kClaimsKey);
  if (!IsLauncher(pod) || text == pod.meta.annotations.end()) return {};
  if (!config.enabled || config.observe) return {};
  if (IsMigrationTarget(request, pod, config)) return {};
  // The API server has read the pod as one, so this is a fault of its or ours;
  // an ungated launcher would start anywhere.
  if (!pod.meta.problems.empty()) {
    const FieldProblem& problem = pod.meta.problems[0];
    return Refuse({{v1::MALFORMED_OBJECT,
                    absl::StrCat(problem.field, ": ", problem.message)}});
  }
  const ClaimsAnnotation claims = ParseClaimsAnnotation(text->second);
  JsonPatch patch;
  if (!HasGate(pod)) patch.Append(request.gates, {{{"name", kGate}}});
  const ClaimLookup lookup(request.name_space, live, snapshot);
  std::vector<FlatObject> missing;
  for (const Toleration& toleration : MissingTolerations(
           pod.tolerations, WantedTolerations(claims.entries, lookup))) {
    missing.push_back(TolerationFields(toleration));
  }
  patch.Append(request.tolerations, missing);
  ReviewAnswer answer{.patch = patch.Text()};
  if (!claims.error.empty()) {
    answer.warnings.push_back(
        CutTo(absl::StrCat("InvalidClaims: annotation ", kClaimsKey, ": ",
                           claims.error, "; the pod stays gated"),
              kMostWarningBytes));
  }
  return answer;
}

}  // namespace gpubinder
