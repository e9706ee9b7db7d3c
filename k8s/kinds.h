// Where each modelled kind lives in the Kubernetes API.
//
//   client.List(ResourcePathOf(Kind::kPod), options);  // of all namespaces
//
// The table is in the order of Kind. Versions are the ones the binder reads
// and writes; a kind whose group is not installed answers 404.

#ifndef K8S_KINDS_H_
#define K8S_KINDS_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "k8s/api_client.h"
#include "reconciler/model/kind.h"

namespace gpubinder {

struct KindPlace {
  absl::string_view group;  // empty: the core group
  absl::string_view version;
  absl::string_view plural;
  bool namespaced = false;
};

inline constexpr std::array<KindPlace, kKinds> kKindPlaces = {{
    {"", "v1", "nodes", false},
    {"gpu.cozystack.io", "v1alpha1", "gpuclasses", false},
    {"gpu.cozystack.io", "v1alpha1", "gpuclaims", true},
    {"gpu.cozystack.io", "v1alpha1", "gpuclaimsets", true},
    {"kubevirt.io", "v1", "virtualmachines", true},
    {"kubevirt.io", "v1", "virtualmachineinstances", true},
    {"", "v1", "pods", true},
    {"", "v1", "namespaces", false},
    {"", "v1", "resourcequotas", true},
    {"", "v1", "persistentvolumeclaims", true},
    {"", "v1", "persistentvolumes", false},
    {"cozystack.io", "v1alpha1", "schedulingclasses", false},
    {"cozystack.io", "v1alpha1", "workloads", true},
    {"", "v1", "configmaps", true},
}};

inline const KindPlace& PlaceOf(Kind kind) {
  return kKindPlaces[static_cast<size_t>(kind)];
}

// The collection of `kind` in all namespaces; set name_space and name for one
// object.
inline ResourcePath ResourcePathOf(Kind kind) {
  const KindPlace& place = PlaceOf(kind);
  return {.group = std::string(place.group),
          .version = std::string(place.version),
          .plural = std::string(place.plural)};
}

}  // namespace gpubinder

#endif  // K8S_KINDS_H_
