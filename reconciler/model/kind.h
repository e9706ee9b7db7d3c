// The kinds the binder models, by number and by name.

#ifndef RECONCILER_MODEL_KIND_H_
#define RECONCILER_MODEL_KIND_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace gpubinder {

enum class Kind : uint8_t {
  kNode,
  kGpuClass,
  kGpuClaim,
  kGpuClaimSet,
  kVirtualMachine,
  kVirtualMachineInstance,
  kPod,
  kNamespace,
  kResourceQuota,
  kPersistentVolumeClaim,
  kPersistentVolume,
  kSchedulingClass,
  kWorkload,   // the usage records
  kConfigMap,  // the settings, that one alone
};
inline constexpr int kKinds = 14;

inline constexpr std::array<absl::string_view, kKinds> kKindNames = {
    "Node",
    "GPUClass",
    "GPUClaim",
    "GPUClaimSet",
    "VirtualMachine",
    "VirtualMachineInstance",
    "Pod",
    "Namespace",
    "ResourceQuota",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "SchedulingClass",
    "Workload",
    "ConfigMap",
};

inline absl::string_view KindName(Kind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

// The kind of that name, or nothing for one that is not modelled.
inline std::optional<Kind> KindByName(absl::string_view name) {
  for (int i = 0; i < kKinds; ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_KIND_H_
