// The CustomResourceDefinitions of gpu.cozystack.io, built into the binary
// from the files in crds/.

#ifndef K8S_MANIFESTS_CRD_MANIFESTS_H_
#define K8S_MANIFESTS_CRD_MANIFESTS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gpubinder {

// One YAML document each: GPUClass, GPUClaim, GPUClaimSet. They live as long
// as the program.
absl::Span<const absl::string_view> CrdManifests();

}  // namespace gpubinder

#endif  // K8S_MANIFESTS_CRD_MANIFESTS_H_
