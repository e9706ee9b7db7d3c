// What of an object enters the journal. Everything that may hold a secret of
// a tenant, and that the binder never reads, is removed before the first byte
// is written: managedFields and the last-applied-configuration annotation,
// cloud-init and sysprep sources, access credentials and HTTP headers of
// image sources, and of containers the values of environment variables,
// command, args, probes and lifecycle hooks.

#ifndef K8S_OBJECT_FILTER_H_
#define K8S_OBJECT_FILTER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "reconciler/model/kind.h"

namespace gpubinder {

// Raised with every change of what is removed; each record carries it.
inline constexpr uint32_t kFilterVersion = 1;

// The object as compact JSON, less what is removed: it decodes to the same
// struct as `json` does. Nothing for a pod that is of no concern (no
// launcher, and no extended resource but devices.kubevirt.io/* asked for), for
// a Workload and a ConfigMap that by their names are not the binder's, and for
// text that is no JSON object. A pod may lose its concern by an update:
// whoever has journaled it before has to say that it is gone. Thread-safe,
// O(size of the text).
std::optional<std::string> FilterForJournal(Kind kind, absl::string_view json);

}  // namespace gpubinder

#endif  // K8S_OBJECT_FILTER_H_
