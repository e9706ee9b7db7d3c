// Objects as the Tables that kubectl prints.

#ifndef K8S_EMBEDDED_TABLE_PRINT_H_
#define K8S_EMBEDDED_TABLE_PRINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/embedded/resource_table.h"
#include "k8s/embedded/store.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct TableOptions {
  absl::Time now;
  std::string include_object;  // None, Metadata or Object; empty: Metadata
};

// A meta.k8s.io/v1 Table of the rows; metadata is left to the caller.
nlohmann::json TableOf(const Resource& resource,
                       const std::vector<JsonPtr>& objects,
                       const TableOptions& options);

// "5s", "3m10s", "12d": as kubectl writes an age.
std::string AgeText(absl::Duration age);
// What a JSON path of a printer column finds: dotted members and
// [?(@.type=="X")]. Null when there is nothing.
const nlohmann::json& FindByPath(const nlohmann::json& object,
                                 absl::string_view path);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_TABLE_PRINT_H_
