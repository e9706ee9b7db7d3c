// The tree of tenants: it is encoded in the names of namespaces.

#ifndef RECONCILER_MODEL_TENANT_H_
#define RECONCILER_MODEL_TENANT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// The parent of tenant-a-b is tenant-a, of tenant-a it is tenant-root, and
// tenant-root has none; nor has a namespace without the prefix. Empty: none.
std::string ParentTenant(absl::string_view name_space,
                         absl::string_view prefix);

// What the namespace itself says of vGPUs; nothing: its ancestors decide.
std::optional<std::string> EntitlementLabel(const Namespace* tenant);

// Whether the tenant may order vGPUs: by the label of the nearest ancestor
// (itself included) that carries it.
bool IsEntitledToVgpu(absl::string_view name_space, const Snapshot& snapshot);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TENANT_H_
