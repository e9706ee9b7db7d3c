// What a pod asks for of a resource, as Kubernetes counts: containers and
// sidecars add up, a plain init container counts beside the sidecars before
// it, overhead comes on top.

#ifndef RECONCILER_MODEL_POD_REQUEST_H_
#define RECONCILER_MODEL_POD_REQUEST_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "reconciler/model/object_parts.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// A request that cannot be read, or is negative, counts as 0 beside the
// others and is named in `problems`.
struct PodRequest {
  int64_t units = 0;
  std::vector<FieldProblem> problems;
};

// The effective request in whole units; each container's fraction counts up,
// so for cpu this is an upper bound. Sums saturate. Pod-level requests replace
// the containers' for cpu, memory and hugepages-*, and nothing else.
PodRequest EffectiveRequest(const Pod& pod, absl::string_view resource);

// Whether it is the name of an extended resource: has a '/', no
// "kubernetes.io/", no prefix "requests.", and is a legal quota key after one.
bool IsExtendedResource(absl::string_view name);

// The effective requests of all extended resources the pod names, sorted by
// name; those of 0 are left out. devices.kubevirt.io/... are among them.
struct ExtendedPodRequests {
  std::vector<std::pair<std::string, int64_t>> units;
  std::vector<FieldProblem> problems;
};
ExtendedPodRequests ExtendedRequests(const Pod& pod);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_POD_REQUEST_H_
