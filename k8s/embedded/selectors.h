// Label and field selectors of list and watch requests.

#ifndef K8S_EMBEDDED_SELECTORS_H_
#define K8S_EMBEDDED_SELECTORS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "k8s/embedded/resource_table.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct LabelRequirement {
  enum class Op { kIn, kNotIn, kExists, kMissing };
  std::string key;
  Op op = Op::kExists;
  std::vector<std::string> values;
};
struct FieldRequirement {
  std::string path, value;
  bool equal = true;
};

struct Selector {
  std::vector<LabelRequirement> labels;
  std::vector<FieldRequirement> fields;
  bool empty() const { return labels.empty() && fields.empty(); }
  bool Matches(const nlohmann::json& object) const;
};

// kInvalidArgument with the API server's text for a bad selector.
// Fields: metadata.name and metadata.namespace of every kind, more of pods,
// nodes, namespaces and events.
absl::StatusOr<Selector> ParseSelector(const Resource& resource,
                                       absl::string_view labels,
                                       absl::string_view fields);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_SELECTORS_H_
