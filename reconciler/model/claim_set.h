// Which claims belong together (rules S1 and S4).
//
// A set is what one VM names: placed, moved, lost and rebound as one. A claim
// in no VM's set is a set of its own. Sets are a function of the snapshot, and
// of their namespace alone but for classes and what a tenant may order.

#ifndef RECONCILER_MODEL_CLAIM_SET_H_
#define RECONCILER_MODEL_CLAIM_SET_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/gpu_objects.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/table.h"

namespace gpubinder {

struct Snapshot;

// A template entry of the annotation whose claim does not exist yet.
struct MissingTemplate {
  std::string name;  // computed
  std::string class_name;
  int64_t units = 1;
};

struct ClaimSet {
  std::string name_space;
  std::string name;  // the VM's, or the claim's when it is in no VM's set
  bool of_vm = false;
  std::optional<Row> vm;   // VirtualMachine, when there is one
  std::optional<Row> vmi;  // a live one
  Launcher launcher;
  // In annotation order. Members that are being deleted are `leaving`: they
  // keep their units but are placed no more.
  std::vector<Row> members, leaving;
  std::vector<MissingTemplate> missing;
  // Misconfigurations: `problems` stop everything (of the VMI, and of members
  // that hold a place or have lost it), `start_problems` stop starts and
  // orders, not what keeps a set whole, and `order_problems` stop orders and
  // new template claims, not the start of a booked set (G10).
  std::vector<v1::ReasonDetail> problems, start_problems, order_problems;
  // Of the oldest member; with a gated launcher the pod's.
  absl::Time age = absl::InfiniteFuture();

  // "namespace/name" of a VM's set, "namespace/claim:name" of a claim in none.
  std::string key() const;
  bool waits_at_gate() const { return launcher.state == LauncherState::kGated; }
};

// By age, then namespace, then name: the order of all steps.
bool ComesBefore(const ClaimSet& a, const ClaimSet& b);

struct ClaimSets {
  std::vector<ClaimSet> sets;  // in order
  // A template claim whose VMI has ended or gone belongs to no set and is only
  // kept. By name.
  std::vector<Row> loose;
};

// Those of one namespace. O((its claims + VMs + VMIs) x log objects).
ClaimSets BuildClaimSets(absl::string_view name_space,
                         const Snapshot& snapshot);

// The VMI that holds the claim by its attachment: by uid, or, without one, by
// name. Nothing for a VMI that has ended or gone.
std::optional<Row> HoldingVmi(const GpuClaim& claim, const Snapshot& snapshot);

// The VirtualMachine that a VMI is of: its owner, not another of that name. One
// without any owner is its VM's by name, which adopts it.
std::optional<Row> OwningVm(const VirtualMachineInstance& vmi,
                            const Snapshot& snapshot);

// The uid of the VMI a template claim was made for, or null: a claim with our
// label that a VMI owns, and that was never attached.
const std::string* TemplateOwner(const GpuClaim& claim);

// The key of the set of a VM of that name.
std::string KeyOfVmSet(absl::string_view name_space, absl::string_view name);

// MalformedObject: which object, which field, what is wrong with it.
v1::ReasonDetail MalformedDetail(Kind kind, const ObjectMeta& meta);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_CLAIM_SET_H_
