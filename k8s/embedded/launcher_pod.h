// The launcher pod as KubeVirt renders it from a VMI.

#ifndef K8S_EMBEDDED_LAUNCHER_POD_H_
#define K8S_EMBEDDED_LAUNCHER_POD_H_

#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Labels, annotations, owner, requests, selectors, affinity, tolerations and
// volumes as the real one has them; what only matters inside the guest is
// left out.
nlohmann::json LauncherPodFor(const nlohmann::json& vmi);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_LAUNCHER_POD_H_
