// The cluster as of one sequence number of the journal.
//
// Only the fold (fold.h) changes a Snapshot, record by record; a pass reads
// it, and keeps `index` up to date. Objects stand in tables by kind; what a
// pass walks over for every claim and node stands beside them in dense columns
// of interned names. Whatever a record says about time (since when a node is
// gone, since when a scheduler refuses a pod) is kept here too: a pass has no
// other memory.
//
// Not thread-safe: one thread folds; readers hold the loop's lock.

#ifndef RECONCILER_MODEL_SNAPSHOT_H_
#define RECONCILER_MODEL_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/index.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/name_table.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot_parts.h"
#include "reconciler/model/table.h"

namespace gpubinder {

struct Snapshot {
  NameTable names;

  std::tuple<Table<Node>, Table<GpuClass>, Table<GpuClaim>, Table<GpuClaimSet>,
             Table<VirtualMachine>, Table<VirtualMachineInstance>, Table<Pod>,
             Table<Namespace>, Table<ResourceQuota>,
             Table<PersistentVolumeClaim>, Table<PersistentVolume>,
             Table<SchedulingClass>, Table<Workload>, Table<ConfigMap>>
      tables;
  template <typename T>
  const Table<T>& Of() const {
    return std::get<Table<T>>(tables);
  }

  const Table<Node>& nodes() const { return Of<Node>(); }
  const Table<GpuClass>& classes() const { return Of<GpuClass>(); }
  const Table<GpuClaim>& claims() const { return Of<GpuClaim>(); }
  const Table<GpuClaimSet>& claim_sets() const { return Of<GpuClaimSet>(); }
  const Table<VirtualMachine>& vms() const { return Of<VirtualMachine>(); }
  const Table<VirtualMachineInstance>& vmis() const {
    return Of<VirtualMachineInstance>();
  }
  const Table<Pod>& pods() const { return Of<Pod>(); }
  const Table<Namespace>& namespaces() const { return Of<Namespace>(); }
  const Table<Workload>& usage_records() const { return Of<Workload>(); }

  bool Serves(Kind kind) const {
    return kinds[static_cast<size_t>(kind)].served;
  }
  // Whether a complete list of the kind was folded.
  bool IsListed(Kind kind) const {
    return kinds[static_cast<size_t>(kind)].listed;
  }
  // Whether all objects of the kind are known, and more can be made.
  bool MayWrite(Kind kind) const {
    const KindState& state = kinds[static_cast<size_t>(kind)];
    return state.listed && !state.gone;
  }

  // Whether nothing can be made in the namespace any more.
  bool IsTerminating(absl::string_view name_space) const {
    const Namespace* found = namespaces().Find("", name_space);
    return found != nullptr &&
           (found->terminating || found->meta.deleting.has_value());
  }

  ClaimColumns claim_columns;
  NodeColumns node_columns;
  std::array<KindState, kKinds> kinds;
  // Units of Bound claims by node and resource; no zeros.
  absl::btree_map<std::pair<NameId, NameId>, int64_t> booked;
  absl::btree_map<NameId, NameId> class_resources;
  // How many claims name the class; no zeros.
  absl::btree_map<NameId, int64_t> class_claims;

  // Sent, or about to be, and not yet answered (rule C10).
  absl::btree_map<EffectId, v1::Effect> in_flight;
  // By the key of the set, and by uid for objects of no set.
  absl::btree_map<std::string, WriteRate> write_rates;
  // When a usage record was last written, by NameKey, if that is less than a
  // minute ago or nothing was decided since.
  absl::btree_map<std::string, absl::Time> usage_writes;
  // By uid, write and condition type, of objects that are there.
  absl::btree_map<std::string, AppliedWrite> applied_writes;
  // Of pods that their VMI has listed (rule C5), by pod uid; and of those that
  // it may still list, by the VMI's uid and the pod's.
  absl::btree_map<std::string, KubeletRefusal> kubelet_refusals;
  absl::btree_map<std::pair<std::string, std::string>, KubeletRefusal>
      unlisted_refusals;
  // The uid of the VMI that has listed a pod in status.activePods, by the pod's
  // uid, until the pod goes: the VMI may be gone before its pod's refusal is
  // seen, since kinds are watched apart.
  absl::btree_map<std::string, std::string> listed_by;
  // By pod uid.
  absl::btree_map<std::string, RefusedPin> refused_pins;
  // Since when a scheduler's refusal stands, by pod uid.
  absl::btree_map<std::string, absl::Time> refused_since;
  // Since when an attachment without a uid is seen, by claim uid.
  absl::btree_map<std::string, absl::Time> attached_since;
  // Since when a node object is absent, by name.
  absl::btree_map<std::string, absl::Time> gone_since;
  // By node name.
  absl::btree_map<std::string, UnkeptNode> unkept_nodes;
  // When a VMI was asked to end, by its uid, whatever became of it and of its
  // set's memory, if that is less than kEndingWindow ago or nothing was decided
  // since.
  absl::btree_map<std::string, absl::Time> endings;
  // By names of node and resource.
  absl::btree_map<std::pair<std::string, std::string>, Shortage> shortages;
  // By node: Ready is not True; KubeVirt's agent is silent and has said since
  // when.
  absl::btree_map<std::string, Silence> not_ready, kubevirt_silent;

  // The latest explanation of each set, by its key.
  absl::btree_map<std::string, v1::Explanation> explanations;

  // The pass's own: what has changed since the last one, and what follows from
  // all of the above.
  IndexChanges changes;
  PassIndex index;

  Config config;
  std::string journal_uid;
  uint64_t epoch = 0;
  // The highest of status.decision.epoch that any object has shown.
  uint64_t highest_epoch = 0;
  uint64_t sequence = 0;  // of the last record folded
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_SNAPSHOT_H_
