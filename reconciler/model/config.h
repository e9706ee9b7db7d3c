// The binder's configuration as the pass sees it. Defaults are those of the
// documentation; the loader in tools/ fills in what a file says and refuses a
// file whole. A change is a journal record.

#ifndef RECONCILER_MODEL_CONFIG_H_
#define RECONCILER_MODEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/journal.pb.h"

namespace gpubinder {

// Keys of annotations, labels, gates and finalizers.
inline constexpr char kClaimsKey[] = "gpu.cozystack.io/claims";
inline constexpr char kGate[] = "gpu.cozystack.io/claims";
inline constexpr char kTemplateClaimLabel[] = "gpu.cozystack.io/template-claim";
inline constexpr char kClaimFinalizer[] = "gpu.cozystack.io/claim-protection";
inline constexpr char kClassFinalizer[] = "gpu.cozystack.io/class-in-use";
inline constexpr char kVgpuLabel[] = "gpu.cozystack.io/vgpu";
inline constexpr char kDeviceNamePrefix[] = "gpuclaim-";
inline constexpr char kUsageRecordPrefix[] = "gpu-";
inline constexpr char kSettingsName[] = "gpu-settings";
// Cozystack's own records have it, ours must not.
inline constexpr char kMonitorLabel[] = "workloads.cozystack.io/monitor";
inline constexpr char kMigrationLabel[] = "kubevirt.io/migrationJobUID";
// KubeVirt's word on a node whose agent is silent, and when it last spoke.
inline constexpr char kKubeVirtSchedulable[] = "kubevirt.io/schedulable";
inline constexpr char kKubeVirtHeartbeat[] = "kubevirt.io/heartbeat";
inline constexpr char kProvisioningAnnotation[] =
    "kubevirt.io/ephemeral-provisioning";
inline constexpr char kSchedulingClassAnnotation[] =
    "scheduler.cozystack.io/scheduling-class";

struct Config {
  bool enabled = true;
  absl::Duration attachment_grace = absl::Minutes(2);
  absl::Duration node_gone_grace = absl::Minutes(2);
  bool end_running = false;
  int64_t max_endings_per_node = 1;
  int64_t max_endings = 5;
  int64_t mass_loss_threshold = 30;  // per cent; 100: off
  absl::Duration rejection_ttl = absl::Minutes(10);
  absl::Duration refusal_grace = absl::Seconds(10);
  absl::Duration capacity_grace = absl::Minutes(10);
  absl::Duration not_ready_grace = absl::Minutes(5);
  bool raw_resource_names_allowed = true;
  std::vector<std::string> extra_resource_names;
  std::string tenant_prefix = "tenant-";
  std::string name_space = "cozy-system";
  std::string kubevirt_controller_user =
      "system:serviceaccount:cozy-kubevirt:kubevirt-controller";
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  absl::Duration request_timeout = absl::Seconds(5);
  absl::Duration journal_max_age = absl::Hours(30 * 24);
  int64_t journal_max_bytes = int64_t{20} << 30;
  bool observe = false;

  bool operator==(const Config&) const = default;
};

v1::ConfigLoaded ConfigRecord(const Config& config);
Config ConfigOfRecord(const v1::ConfigLoaded& record);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_CONFIG_H_
