// The kinds that the embedded server serves, and how each behaves.
//
// Our own kinds come from their CRDs (crd_resources.h); the others are a table
// in code. KubeVirt's kinds are open: whatever they hold is kept.

#ifndef K8S_EMBEDDED_RESOURCE_TABLE_H_
#define K8S_EMBEDDED_RESOURCE_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct PrinterColumn {
  std::string name;
  std::string type;  // string, integer, date
  // A JSON path (".spec.count"), or "@..." for one that is computed.
  std::string path;
  int priority = 0;  // above 0: only in -o wide
};

struct Resource {
  std::string group, version, plural, singular, kind;
  std::vector<std::string> short_names, categories;
  bool namespaced = true;
  bool has_status = false;             // a status subresource
  bool is_custom = false;              // follows the rules of custom resources
  bool has_generation = false;         // metadata.generation is kept
  bool needs_version = false;          // PUT without resourceVersion is refused
  std::vector<PrinterColumn> columns;  // after Name
  std::shared_ptr<const nlohmann::json> schema;  // null: open

  std::string GroupVersion() const;     // "v1", "gpu.cozystack.io/v1alpha1"
  std::string QualifiedPlural() const;  // "pods", "leases.coordination.k8s.io"
  std::string QualifiedKind() const;    // "Pod", "Lease.coordination.k8s.io"
};

// Built once, never destroyed.
const std::vector<Resource>& AllResources();
// Null when it is not served.
const Resource* FindResource(absl::string_view group, absl::string_view version,
                             absl::string_view plural);
const Resource* FindResourceByKind(absl::string_view api_version,
                                   absl::string_view kind);
// One that is served; a check fails otherwise. `qualified`: "pods",
// "gpuclaims.gpu.cozystack.io".
const Resource& ResourceNamed(absl::string_view qualified);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_RESOURCE_TABLE_H_
