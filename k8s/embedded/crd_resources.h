// Our own kinds as the embedded server serves them, read from their CRDs.

#ifndef K8S_EMBEDDED_CRD_RESOURCES_H_
#define K8S_EMBEDDED_CRD_RESOURCES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "k8s/embedded/resource_table.h"

namespace gpubinder::embedded {

// One for each CRD of k8s/manifests: names, scope, subresources, printer
// columns and schema. The CRDs are part of the binary: one that cannot be
// read fails a check.
std::vector<Resource> ResourcesOfOurCrds();

// The same of one CRD, a YAML document.
Resource ResourceOfCrd(absl::string_view yaml);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_CRD_RESOURCES_H_
