#include "k8s/manifests/crd_manifests.h"

namespace gpubinder {

absl::Span<const absl::string_view> CrdManifests() {
  static constexpr absl::string_view kManifests[] = {
#include "k8s/manifests/crd_manifests_data.inc"
  };
  return kManifests;
}

}  // namespace gpubinder
