#include "tools/stories/server_invariants.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/sha256.h"

namespace gpubinder {
using embedded::At;
using embedded::Json;
using embedded::Member;
using embedded::NumberAt;
using embedded::ParseJson;
using embedded::TextAt;

namespace {

constexpr char kClaims[] = "gpuclaims.gpu.cozystack.io";
constexpr char kClasses[] = "gpuclasses.gpu.cozystack.io";
constexpr char kSets[] = "gpuclaimsets.gpu.cozystack.io";
constexpr char kVmis[] = "virtualmachineinstances.kubevirt.io";
constexpr char kOurGate[] = "gpu.cozystack.io/claims";
constexpr char kAnnotation[] = "gpu.cozystack.io/claims";
constexpr char kTemplateLabel[] = "gpu.cozystack.io/template-claim";

const Json& Nothing() {
  static const Json nothing;
  return nothing;
}

std::string Uid(const Json& object) {
  return TextAt(object, {"metadata", "uid"});
}
std::string NameOf(const Json& object) {
  return absl::StrCat(TextAt(object, {"metadata", "namespace"}), "/",
                      TextAt(object, {"metadata", "name"}));
}
bool IsDeleting(const Json& object) {
  return !At(object, {"metadata", "deletionTimestamp"}).is_null();
}

bool IsLauncher(const Json& pod) {
  return TextAt(pod, {"metadata", "labels", "kubevirt.io"}) ==
             "virt-launcher" &&
         At(pod, {"metadata", "annotations", kAnnotation}).is_string();
}

std::vector<std::string> GatesOf(const Json& pod) {
  std::vector<std::string> gates;
  for (const Json& gate : At(pod, {"spec", "schedulingGates"})) {
    gates.push_back(TextAt(gate, {"name"}));
  }
  return gates;
}
int64_t CountOurs(const std::vector<std::string>& gates) {
  return std::count(gates.begin(), gates.end(), kOurGate);
}
std::vector<std::string> Foreign(std::vector<std::string> gates) {
  gates.erase(std::remove(gates.begin(), gates.end(), kOurGate), gates.end());
  return gates;
}
bool IsSubsequence(const std::vector<std::string>& part,
                   const std::vector<std::string>& whole) {
  auto next = part.begin();
  for (const std::string& one : whole) {
    if (next != part.end() && *next == one) ++next;
  }
  return next == part.end();
}

// The node that every non-empty required term is pinned to; nothing when
// there is none, or not one for all.
std::optional<std::string> PinOf(const Json& pod) {
  std::optional<std::string> node;
  for (const Json& term :
       At(pod, {"spec", "affinity", "nodeAffinity",
                "requiredDuringSchedulingIgnoredDuringExecution",
                "nodeSelectorTerms"})) {
    if (Member(term, "matchExpressions").empty() &&
        Member(term, "matchFields").empty()) {
      continue;
    }
    std::string pinned;
    for (const Json& field : Member(term, "matchFields")) {
      const Json& values = Member(field, "values");
      if (TextAt(field, {"key"}) == "metadata.name" &&
          TextAt(field, {"operator"}) == "In" && values.size() == 1) {
        pinned = values[0].get<std::string>();
      }
    }
    if (pinned.empty() || (node.has_value() && *node != pinned)) {
      return std::nullopt;
    }
    node = pinned;
  }
  return node;
}

bool SchedulerRefuses(const Json& pod) {
  for (const Json& one : At(pod, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) == "PodScheduled") {
      return TextAt(one, {"reason"}) == "Unschedulable";
    }
  }
  return false;
}

bool HasRejectionOf(const Json& object, const std::string& pod_uid) {
  for (const Json& entry : At(object, {"status", "rejectedNodes"})) {
    if (TextAt(entry, {"podUID"}) == pod_uid) return true;
  }
  return false;
}

std::string ControllerUid(const Json& object) {
  for (const Json& owner : At(object, {"metadata", "ownerReferences"})) {
    if (Member(owner, "controller") == true) return TextAt(owner, {"uid"});
  }
  return "";
}

bool IsSuccess(const std::string& reason) { return reason == "Placed"; }

}  // namespace

void ServerInvariants::Say(absl::string_view breach) {
  broken_.push_back(absl::StrCat(breach, " (revision ", revision_, ")"));
}

std::vector<std::string> ServerInvariants::Broken() const {
  absl::MutexLock lock(&mutex_);
  return broken_;
}

std::vector<std::string> ServerInvariants::BrokenAtTheEnd() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> lines;
  for (const auto& [uid, said] : said_) {
    if (said.warnings != said.reasons) {
      lines.push_back(absl::StrCat("E1: VMI ", uid, " has the Warnings ",
                                   absl::StrJoin(said.warnings, ", "),
                                   " for the changes ",
                                   absl::StrJoin(said.reasons, ", ")));
    }
  }
  for (const auto& [key, object] : objects_) {
    if (key.resource != kSets) continue;
    const std::string reason = TextAt(*object, {"status", "reason"});
    const auto said = said_.find(TextAt(*object, {"status", "vmiUID"}));
    if (IsSuccess(reason) || said == said_.end()) continue;
    if (said->second.warnings.empty() ||
        said->second.warnings.back() != reason) {
      lines.push_back(absl::StrCat("E2: set ", NameOf(*object), " stands at ",
                                   reason, ", its last Warning does not"));
    }
  }
  return lines;
}

void ServerInvariants::See(const embedded::StoreEvent& event) {
  absl::MutexLock lock(&mutex_);
  revision_ = event.revision;
  const std::string& resource = event.key.resource;
  if (event.type == embedded::StoreEventType::kDeleted) {
    objects_.erase(event.key);
  } else {
    objects_[event.key] = event.object;
  }
  if (resource == kClaims) SeeClaim(event);
  if (resource == "pods") SeePod(event);
  if (resource == kSets) SeeSet(event);
  if (resource == "events") SeeWarning(event);
}

const Json& ServerInvariants::Find(absl::string_view resource,
                                   absl::string_view name_space,
                                   absl::string_view name) const {
  const auto it = objects_.find(
      {std::string(resource), std::string(name_space), std::string(name)});
  return it == objects_.end() ? Nothing() : *it->second;
}

bool ServerInvariants::Lives(absl::string_view vmi_uid) const {
  for (auto it = objects_.lower_bound({kVmis, "", ""});
       it != objects_.end() && it->first.resource == kVmis; ++it) {
    if (Uid(*it->second) != vmi_uid) continue;
    const std::string phase = TextAt(*it->second, {"status", "phase"});
    return phase != "Succeeded" && phase != "Failed";
  }
  return false;
}

int64_t ServerInvariants::Allocatable(const Place& place) const {
  const std::string text = TextAt(Find("nodes", "", place.first),
                                  {"status", "allocatable", place.second});
  int64_t units = 0;
  // Test clusters write whole numbers.
  return absl::SimpleAtoi(text, &units) ? units : 0;
}

ServerInvariants::Place ServerInvariants::PlaceOf(const Json& claim) const {
  if (TextAt(claim, {"status", "phase"}) != "Bound") return {};
  std::string resource = TextAt(claim, {"status", "resourceName"});
  if (resource.empty()) {
    resource = TextAt(Find(kClasses, "", TextAt(claim, {"spec", "className"})),
                      {"spec", "resourceName"});
  }
  return {TextAt(claim, {"status", "nodeName"}), resource};
}

void ServerInvariants::SeeClaim(const embedded::StoreEvent& event) {
  const Json& before = event.previous == nullptr ? Nothing() : *event.previous;
  const Json& after = event.type == embedded::StoreEventType::kDeleted
                          ? Nothing()
                          : *event.object;
  const Place from = PlaceOf(before), to = PlaceOf(after);
  booked_[from] -= NumberAt(before, {"spec", "count"}, 1);
  booked_[to] += NumberAt(after, {"spec", "count"}, 1);
  if (!to.first.empty() && to != from && booked_[to] > Allocatable(to)) {
    Say(absl::StrCat("C1: binding ", NameOf(after), " makes ", booked_[to],
                     " units of ", to.second, " on ", to.first,
                     " booked, allocatable are ", Allocatable(to)));
  }
  CheckAttachment(before, after);
  if (event.type == embedded::StoreEventType::kAdded &&
      At(after, {"metadata", "labels", kTemplateLabel}).is_string()) {
    const Json& owner = At(after, {"metadata", "ownerReferences"});
    const std::string uid = owner.empty() ? "" : TextAt(owner[0], {"uid"});
    const std::string vmi =
        TextAt(after, {"metadata", "labels", kTemplateLabel});
    const std::string tail = absl::StrCat("-", Sha256Hex(uid).substr(0, 8));
    const std::string name = TextAt(after, {"metadata", "name"});
    if (!Lives(uid) || !absl::StartsWith(name, vmi + "-") ||
        !absl::EndsWith(name, tail)) {
      Say(absl::StrCat("L3: template claim ", NameOf(after), " of VMI ", vmi,
                       " with the owner '", uid, "'"));
    }
  }
}

void ServerInvariants::CheckAttachment(const Json& before, const Json& after) {
  const std::string was = TextAt(before, {"status", "attachedTo", "uid"});
  const std::string is = TextAt(after, {"status", "attachedTo", "uid"});
  if (was.empty() || was == is || after.is_null() || !Lives(was)) return;
  Say(absl::StrCat("G5: claim ", NameOf(after), " went from VMI ", was,
                   ", which lives, to '", is, "'"));
}

std::vector<embedded::JsonPtr> ServerInvariants::MembersOf(
    const Json& pod) const {
  std::vector<embedded::JsonPtr> members;
  const std::string space = TextAt(pod, {"metadata", "namespace"});
  const absl::StatusOr<Json> entries =
      ParseJson(TextAt(pod, {"metadata", "annotations", kAnnotation}));
  size_t templates = 0;
  if (entries.ok()) {
    for (const Json& entry : *entries) {
      const std::string name = TextAt(entry, {"claimName"});
      if (name.empty()) {
        ++templates;
        continue;
      }
      const auto it = objects_.find({kClaims, space, name});
      members.push_back(it == objects_.end() ? nullptr : it->second);
    }
  }
  const std::string vmi = ControllerUid(pod);
  for (auto it = objects_.lower_bound({kClaims, space, ""});
       it != objects_.end() && it->first.resource == kClaims; ++it) {
    const Json& owners = At(*it->second, {"metadata", "ownerReferences"});
    if (!owners.empty() && TextAt(owners[0], {"uid"}) == vmi) {
      members.push_back(it->second);
      if (templates > 0) --templates;
    }
  }
  for (; templates > 0; --templates) members.push_back(nullptr);
  return members;
}

void ServerInvariants::SeePod(const embedded::StoreEvent& event) {
  const Json& pod = *event.object;
  if (!IsLauncher(pod)) return;
  const Json& before = event.previous == nullptr ? Nothing() : *event.previous;
  const bool gone = event.type == embedded::StoreEventType::kDeleted;
  if ((gone || IsDeleting(pod)) && !IsDeleting(before)) {
    CheckDeletedLauncher(pod);
  }
  if (gone) return;
  const std::vector<std::string> gates = GatesOf(pod);
  const std::vector<std::string> old_gates = GatesOf(before);
  if (CountOurs(gates) > 1) {
    Say(absl::StrCat("P4: pod ", NameOf(pod), " has our gate twice"));
  }
  const bool ungated_now = CountOurs(old_gates) > 0 && CountOurs(gates) == 0;
  if (event.type == embedded::StoreEventType::kModified &&
      (!IsSubsequence(Foreign(gates), Foreign(old_gates)) ||
       (ungated_now && Foreign(gates) != Foreign(old_gates)))) {
    Say(absl::StrCat("P4: pod ", NameOf(pod), " had the gates ",
                     absl::StrJoin(old_gates, ", "), ", now ",
                     absl::StrJoin(gates, ", ")));
  }
  if (CountOurs(gates) > 0) return;
  const std::optional<std::string> node = PinOf(pod);
  if (!node.has_value()) {
    Say(absl::StrCat("P1: pod ", NameOf(pod), " is ungated without a pin"));
  } else if (ungated_now) {
    CheckUngated(pod, *node);
  }
}

void ServerInvariants::CheckUngated(const Json& pod, const std::string& node) {
  for (const embedded::JsonPtr& member : MembersOf(pod)) {
    if (member == nullptr) {
      Say(absl::StrCat("P2: pod ", NameOf(pod),
                       " is ungated before a claim of its set is there"));
      continue;
    }
    if (TextAt(*member, {"status", "phase"}) != "Bound" ||
        TextAt(*member, {"status", "nodeName"}) != node) {
      Say(absl::StrCat("P2: pod ", NameOf(pod), " is ungated for ", node,
                       ", claim ", NameOf(*member), " is not Bound there"));
    }
    const std::string holder = TextAt(*member, {"status", "attachedTo", "uid"});
    if (!holder.empty() && holder != ControllerUid(pod)) {
      Say(absl::StrCat("G5: pod ", NameOf(pod), " is ungated with claim ",
                       NameOf(*member), " of another VMI"));
    }
  }
}

// KubeVirt's controller ends launchers of VMIs that are being deleted only,
// and the collector those of VMIs that are gone: what is left is the binder's.
void ServerInvariants::CheckDeletedLauncher(const Json& pod) {
  const std::string space = TextAt(pod, {"metadata", "namespace"});
  const std::string uid = Uid(pod);
  const Json& vmi = Find(
      kVmis, space, TextAt(pod, {"metadata", "labels", "vm.kubevirt.io/name"}));
  if (vmi.is_null() || IsDeleting(vmi) || Uid(vmi) != ControllerUid(pod) ||
      !TextAt(pod, {"spec", "nodeName"}).empty()) {
    return;
  }
  if (!SchedulerRefuses(pod) || !PinOf(pod).has_value()) {
    Say(absl::StrCat("P6: pod ", NameOf(pod),
                     " is deleted, and no scheduler refused it"));
  }
  const Json& set = Find(kSets, space, TextAt(vmi, {"metadata", "name"}));
  if (!HasRejectionOf(set, uid)) {
    Say(absl::StrCat("R1: pod ", NameOf(pod),
                     " is deleted before its set has the refusal"));
  }
  for (const embedded::JsonPtr& member : MembersOf(pod)) {
    if (member == nullptr || !HasRejectionOf(*member, uid)) {
      Say(absl::StrCat("R1: pod ", NameOf(pod),
                       " is deleted before each claim has the refusal"));
    }
  }
}

void ServerInvariants::SeeSet(const embedded::StoreEvent& event) {
  if (event.type == embedded::StoreEventType::kDeleted) return;
  const Json& after = *event.object;
  const Json& before = event.previous == nullptr ? Nothing() : *event.previous;
  const std::string vmi = TextAt(after, {"status", "vmiUID"});
  const std::string reason = TextAt(after, {"status", "reason"});
  if (NumberAt(after, {"status", "transitions"}, 0) ==
          NumberAt(before, {"status", "transitions"}, 0) ||
      vmi.empty() || IsSuccess(reason)) {
    return;
  }
  // A stopped VM keeps the uid of its last VMI, and nobody is warned.
  if (Lives(vmi)) said_[vmi].reasons.push_back(reason);
}

void ServerInvariants::SeeWarning(const embedded::StoreEvent& event) {
  const Json& warning = *event.object;
  if (event.type != embedded::StoreEventType::kAdded ||
      TextAt(warning, {"source", "component"}) != "gpubinder") {
    return;
  }
  said_[TextAt(warning, {"involvedObject", "uid"})].warnings.push_back(
      TextAt(warning, {"reason"}));
}

}  // namespace gpubinder
