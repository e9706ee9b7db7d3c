#include "reconciler/model/tenant.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gpubinder {

std::string ParentTenant(absl::string_view name_space,
                         absl::string_view prefix) {
  absl::string_view rest = name_space;
  if (!absl::ConsumePrefix(&rest, prefix) || rest == "root") return "";
  const size_t dash = rest.rfind('-');
  if (dash == absl::string_view::npos) return absl::StrCat(prefix, "root");
  return absl::StrCat(prefix, rest.substr(0, dash));
}

std::optional<std::string> EntitlementLabel(const Namespace* tenant) {
  if (tenant == nullptr) return std::nullopt;
  auto label = tenant->meta.labels.find(kVgpuLabel);
  if (label == tenant->meta.labels.end()) return std::nullopt;
  return label->second;
}

bool IsEntitledToVgpu(absl::string_view name_space, const Snapshot& snapshot) {
  for (std::string tenant(name_space); !tenant.empty();
       tenant = ParentTenant(tenant, snapshot.config.tenant_prefix)) {
    const std::optional<std::string> label =
        EntitlementLabel(snapshot.namespaces().Find("", tenant));
    if (label.has_value()) return *label == "true";
  }
  return false;
}

}  // namespace gpubinder
