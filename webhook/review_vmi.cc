#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/config.h"
#include "reconciler/model/demand.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/names.h"
#include "reconciler/model/tenant.h"
#include "webhook/claim_lookup.h"
#include "webhook/held_claim.h"
#include "webhook/refusal.h"
#include "webhook/review.h"

namespace gpubinder {
namespace {

// As the CRDs have it; an object from elsewhere may not.
constexpr int64_t kMostUnits = 64;

using Device = VirtualMachineInstance::Device;

// One review; one use.
class VmiReview {
 public:
  VmiReview(const AdmissionRequest& request, const LiveReads& live,
            const Snapshot& snapshot, absl::Time now)
      : request_(request),
        vmi_(std::get<VirtualMachineInstance>(request.object)),
        live_(live),
        snapshot_(snapshot),
        lookup_(request.name_space, live, snapshot),
        now_(now) {}

  ReviewAnswer Answer() {
    if (!vmi_.claims.present) return {};
    if (!snapshot_.config.enabled) {
      return Refuse({{v1::FEATURE_DISABLED,
                      absl::StrCat("annotation ", kClaimsKey,
                                   ": GPU claims are switched off; remove it "
                                   "or switch them on (enabled: true)")}});
    }
    CheckObject();
    CheckEntries();
    CheckResources();
    CheckDevices();
    if (!problems_.empty()) {
      ReviewAnswer answer = Refuse(problems_);
      answer.doubtful_claims = std::move(doubtful_);
      return answer;
    }
    return Accept();
  }

 private:
  void Say(v1::Reason reason, std::string text) {
    problems_.push_back({reason, std::move(text)});
  }
  void SayOfEntry(int index, v1::Reason reason, absl::string_view text) {
    Say(reason,
        absl::StrCat("annotation ", kClaimsKey, " entry ", index, ": ", text));
  }

  void CheckObject() {
    for (const FieldProblem& problem : vmi_.meta.problems) {
      Say(v1::MALFORMED_OBJECT,
          absl::StrCat(problem.field, ": ", problem.message));
    }
    if (!vmi_.claims.error.empty()) {
      Say(v1::INVALID_CLAIMS,
          absl::StrCat("annotation ", kClaimsKey, ": ", vmi_.claims.error));
    }
  }

  void CheckEntries() {
    for (size_t i = 0; i < vmi_.claims.entries.size(); ++i) {
      const ClaimEntry& entry = vmi_.claims.entries[i];
      if (entry.claim_name.empty()) {
        CheckTemplate(static_cast<int>(i), entry);
      } else {
        CheckHeld(static_cast<int>(i), entry.claim_name);
      }
    }
  }

  // Null, once the problem is said.
  const GpuClass* ClassOf(int index, const std::string& name,
                          absl::string_view whose) {
    const GpuClass* found = lookup_.Class(name);
    if (found == nullptr) {
      SayOfEntry(index, v1::CLASS_NOT_FOUND,
                 absl::StrCat("there is no GPUClass ", Quoted(name), whose));
      return nullptr;
    }
    if (!found->meta.problems.empty()) {
      const FieldProblem& problem = found->meta.problems[0];
      SayOfEntry(index, v1::MALFORMED_OBJECT,
                 absl::StrCat("GPUClass ", Quoted(name), " is malformed: ",
                              problem.field, ": ", problem.message));
      return nullptr;
    }
    return found;
  }

  void CheckTemplate(int index, const ClaimEntry& entry) {
    const GpuClass* found = ClassOf(index, entry.class_name, "");
    if (found == nullptr) return;
    const std::string name = Quoted(entry.class_name);
    const size_t problems = problems_.size();
    if (found->meta.deleting.has_value()) {
      SayOfEntry(index, v1::CLASS_BEING_DELETED,
                 absl::StrCat("GPUClass ", name, " is being deleted"));
    }
    const int64_t most = std::min(found->max_count, kMostUnits);
    if (entry.units > most) {
      SayOfEntry(index, v1::COUNT_ABOVE_MAXIMUM,
                 absl::StrCat("found count ", entry.units, ", GPUClass ", name,
                              " allows at most ", most));
    }
    if (found->type == "VGPU" &&
        !IsEntitledToVgpu(request_.name_space, snapshot_)) {
      SayOfEntry(index, v1::NOT_ENTITLED,
                 absl::StrCat("GPUClass ", name,
                              " is of type VGPU, and neither "
                              "namespace ",
                              Quoted(request_.name_space),
                              " nor its tenant above has the label ",
                              kVgpuLabel, ": \"true\""));
    }
    if (problems_.size() == problems) Want(index, entry.units, *found);
  }

  void CheckHeld(int index, const std::string& name) {
    const GpuClaim* claim = lookup_.Claim(name);
    const std::string shown = absl::StrCat("GPUClaim ", Quoted(name));
    if (claim == nullptr) {
      SayOfEntry(index, v1::CLAIM_NOT_FOUND,
                 absl::StrCat("there is no ", shown, " in namespace ",
                              Quoted(request_.name_space)));
      doubtful_.push_back(name);
      return;
    }
    if (claim->meta.deleting.has_value()) {
      SayOfEntry(index, v1::CLAIM_BEING_DELETED,
                 absl::StrCat(shown, " is being deleted"));
      doubtful_.push_back(name);
      return;
    }
    if (TemplateOwner(*claim) != nullptr) {
      SayOfEntry(index, v1::CLAIM_ATTACHED_ELSEWHERE,
                 absl::StrCat(shown,
                              " was made from a claimTemplate and "
                              "belongs to its VirtualMachineInstance"));
      return;
    }
    if (!claim->meta.problems.empty()) {
      const FieldProblem& problem = claim->meta.problems[0];
      SayOfEntry(index, v1::MALFORMED_OBJECT,
                 absl::StrCat(shown, " is malformed: ", problem.field, ": ",
                              problem.message));
      return;
    }
    CheckHold(index, shown, *claim);
    const GpuClass* found = ClassOf(index, claim->class_name,
                                    absl::StrCat(", the class of ", shown));
    if (found != nullptr) {
      Want(index, std::min(claim->units, kMostUnits), *found);
    }
  }

  void CheckHold(int index, const std::string& shown, const GpuClaim& claim) {
    HoldVerdict hold = JudgeHold(claim, vmi_.meta.name, live_, snapshot_, now_);
    if (!hold.elsewhere.empty()) {
      SayOfEntry(index, v1::CLAIM_ATTACHED_ELSEWHERE,
                 absl::StrCat(shown, " ", hold.elsewhere));
      doubtful_.push_back(claim.meta.name);
      return;
    }
    held_.push_back(&claim);
    if (hold.unseen_holder.has_value()) {
      unseen_.push_back(*std::move(hold.unseen_holder));
    }
  }

  void Want(int index, int64_t units, const GpuClass& found) {
    for (int unit = 0; unit < units; ++unit) {
      wanted_.push_back({.name = VmiGpuName(index, unit),
                         .device_name = found.resource_name});
    }
  }

  // KubeVirt would take such a number instead of the one it computes from the
  // gpus entries, 0 included.
  void CheckResources() {
    for (const std::string& resource : GovernedResources(snapshot_)) {
      if (resource.empty()) continue;
      CheckResource("requests", vmi_.resource_requests, resource);
      CheckResource("limits", vmi_.resource_limits, resource);
    }
  }
  void CheckResource(absl::string_view list, const ResourceList& resources,
                     const std::string& resource) {
    if (!resources.contains(resource)) return;
    Say(v1::REASON_UNSPECIFIED,
        absl::StrCat("spec.domain.resources.", list, ": found ",
                     Quoted(resource),
                     ", want no GPU resource there: annotation ", kClaimsKey,
                     " says how many are wanted"));
  }

  void CheckDevices() {
    for (size_t i = 0; i < vmi_.host_devices.size(); ++i) {
      if (!HasOurPrefix(vmi_.host_devices[i])) continue;
      SayForeign("hostDevices", i, vmi_.host_devices[i]);
    }
    // With an entry at fault, what ours are is not known.
    if (!problems_.empty()) return;
    absl::btree_map<std::string, const Device*> ours;
    for (const Device& device : wanted_) ours.emplace(device.name, &device);
    for (size_t i = 0; i < vmi_.gpus.size(); ++i) {
      const Device& device = vmi_.gpus[i];
      if (!HasOurPrefix(device)) continue;
      auto found = ours.find(device.name);
      if (found != ours.end() &&
          found->second->device_name == device.device_name) {
        ours.erase(found);
      } else {
        SayForeign("gpus", i, device);
      }
    }
    for (const Device& device : wanted_) {
      if (!ours.contains(device.name)) continue;
      missing_.push_back(
          {{"name", device.name}, {"deviceName", device.device_name}});
    }
  }
  static bool HasOurPrefix(const Device& device) {
    return absl::StartsWith(device.name, kDeviceNamePrefix);
  }
  void SayForeign(absl::string_view list, size_t index, const Device& device) {
    Say(v1::REASON_UNSPECIFIED,
        absl::StrCat("spec.domain.devices.", list, "[", index, "]: found name ",
                     Quoted(device.name), " with deviceName ",
                     Quoted(device.device_name), "; names that begin with ",
                     kDeviceNamePrefix, " are given by annotation ", kClaimsKey,
                     " only"));
  }

  ReviewAnswer Accept() {
    JsonPatch patch;
    patch.Append(request_.gpus, missing_);
    ReviewAnswer answer{.patch = patch.Text()};
    if (request_.dry_run || snapshot_.config.observe) return answer;
    // Without a name (generateName) there is nothing to write: the binder
    // attaches a free claim that a VMI names. With a living VMI of that name
    // the create will fail, and what is written would be that VMI's.
    if (vmi_.meta.name.empty() || NameLives()) return answer;
    for (const GpuClaim* claim : held_) Attach(*claim, answer);
    answer.unseen_holders = std::move(unseen_);
    return answer;
  }

  bool NameLives() const {
    const VirtualMachineInstance* vmi =
        snapshot_.vmis().Find(request_.name_space, vmi_.meta.name);
    return vmi != nullptr && !HasEnded(*vmi);
  }

  void Attach(const GpuClaim& claim, ReviewAnswer& answer) {
    const absl::Time since = absl::FromUnixSeconds(absl::ToUnixSeconds(now_));
    if (claim.attached_to ==
        Attachment{.name = vmi_.meta.name, .since = since}) {
      return;
    }
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    effect.set_set_key(KeyOfVmSet(request_.name_space, vmi_.meta.name));
    v1::AttachClaim& attach = *effect.mutable_attach_claim();
    attach.set_name(vmi_.meta.name);
    attach.set_since_unix_seconds(absl::ToUnixSeconds(now_));
    answer.effects.push_back(std::move(effect));
  }

  const AdmissionRequest& request_;
  const VirtualMachineInstance& vmi_;
  const LiveReads& live_;
  const Snapshot& snapshot_;
  const ClaimLookup lookup_;
  const absl::Time now_;

  std::vector<Problem> problems_;
  std::vector<std::string> doubtful_;
  std::vector<const GpuClaim*> held_;
  std::vector<ReviewAnswer::Holder> unseen_;
  std::vector<Device> wanted_;
  std::vector<FlatObject> missing_;
};

}  // namespace

ReviewAnswer ReviewVmi(const AdmissionRequest& request, const LiveReads& live,
                       const Snapshot& snapshot, absl::Time now) {
  return VmiReview(request, live, snapshot, now).Answer();
}

}  // namespace gpubinder
